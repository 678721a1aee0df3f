"""The packages of a run: not on disk, but made again from distribution and seed."""

from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.experiments.spec import parse_seeds
from memaudit.experiments.sweep import read_run
from memaudit.generators.registry import named_distribution
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.run_rows import rows_with
from memaudit.web.explorer.slugs import slug

MOST = 100_000
IS_OF_RUN = "run"
"""The fact that tells such a package from one on disk: the run's name in addresses."""


def run_packages(run: Found) -> tuple[Found, ...]:
    """Every package of a run, in its order."""
    spec: Any = read_run(run.path).get("spec")
    try:
        names = [str(name) for name in spec["distributions"]]
        seeds = parse_seeds(str(spec["seeds"]) + ",")
    except (KeyError, TypeError):
        raise MemAuditError(f"{run.place}: its manifest names no distributions and seeds") from None
    if len(names) * len(seeds) > MOST:
        seeds = seeds[: max(1, MOST // len(names))]
    return tuple(run_package(run, name, seed) for name in names for seed in seeds)


def run_package(run: Found, distribution: str, seed: int) -> Found:
    """One package of a run, as if it had been found."""
    name, part = f"{distribution}, seed {seed}", f"{distribution} {seed}"
    facts: dict[str, int | str] = {
        IS_OF_RUN: run.slug, "distribution": distribution, "seed": seed,
    }  # fmt: skip
    key = slug(name, "package", run.place, part)
    return Found("package", key, name, run.place, run.path, part, 0, run.stamp, facts)


def remade(found: Found) -> Package:
    """The package of a run, made now; it must be the one that the rows are about."""
    name, seed = found.text("distribution"), found.count("seed") or 0
    distribution = named_distribution(name)
    package = distribution.package(seed if distribution.draws else 0)
    made = digest(package)
    if not any(row.get("distribution") == name for row in rows_with(found.path, made)):
        raise MemAuditError(
            f"{found.place}: no row is about the package that {name}, seed {seed} gives now "
            f"(digest {made[:12]}); it was run with another version, or has not come so far"
        )
    return package
