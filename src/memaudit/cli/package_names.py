"""Packages as they are named on the command line: a path, a set that is shipped, or seeds."""

from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.core.package import Package

NATURAL = "natural"
SEEDS = "seeds="
DEFAULT_SEEDS = "10"


def packages_named(text: str) -> list["Package"]:
    """`natural`, a distribution with seeds, event_graph:experiences=30:seeds=0-9, or a path."""
    from memaudit.generators.registry import DISTRIBUTIONS

    if text == NATURAL:
        from memaudit.natural.named_packages import natural_set

        return list(natural_set())
    if text.split(":")[0] in DISTRIBUTIONS:
        return _generated(text)
    from memaudit.natural.build_folder import packages_at

    if not Path(text).exists():
        raise MemAuditError(
            f"there are no packages at {text!r}; give a path, {NATURAL}, or a distribution: "
            f"{', '.join(DISTRIBUTIONS)}"
        )
    return packages_at(Path(text))


def _generated(text: str) -> list["Package"]:
    from memaudit.experiments.spec import parse_seeds
    from memaudit.generators.registry import named_distribution

    parts = text.split(":")
    given = [part.removeprefix(SEEDS) for part in parts if part.startswith(SEEDS)]
    if len(given) > 1:
        raise MemAuditError(f"{text!r} gives seeds twice")
    name = ":".join(part for part in parts if not part.startswith(SEEDS))
    distribution = named_distribution(name)
    seeds = parse_seeds(given[0] if given else DEFAULT_SEEDS)
    if not seeds:
        raise MemAuditError(f"{text!r} names no seed; write seeds=0-9")
    return [distribution.package(seed) for seed in (seeds if distribution.draws else seeds[:1])]
