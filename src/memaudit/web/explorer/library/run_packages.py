"""The packages of a run: not on disk, but made again from distribution and seed."""

from itertools import chain, islice

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.experiments.finished import rows_there
from memaudit.experiments.spec import named_seeds
from memaudit.experiments.sweep import read_run
from memaudit.generators.registry import named_distribution
from memaudit.web.explorer.library.records import Found
from memaudit.web.explorer.library.run_rows import rows_with
from memaudit.web.explorer.slugs import slug

MOST = 100_000
IS_OF_RUN = "run"
"""The fact that tells such a package from one on disk: the run's name in addresses."""


def run_packages(run: Found) -> tuple[Found, ...]:
    """The packages of a run that its rows reach, in its order; rows stand in the same order."""
    manifest = read_run(run.path)
    spec = manifest["spec"]
    each = len(spec["budgets"]) * len(spec["writers"])
    reached = -(-rows_there(run.path) // each)
    packages = (
        (name, seed)
        for name in spec["distributions"]
        for seed in chain.from_iterable(named_seeds(f"{spec['seeds']},"))
    )
    return tuple(run_package(run, *one) for one in islice(packages, min(MOST, reached)))


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
