"""What a run draws its packages from: a distribution with seeds, a shipped set, or a path."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memaudit.building.named_packages import SHIPPED, ShippedPlace, shipped_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import PackagePlace, package_places
from memaudit.kernel.package.package import Package
from memaudit.lab.generators.registry import DISTRIBUTIONS, Distribution, named_distribution
from memaudit.lab.runs.seeds import parse_seeds

SEEDS = "seeds="
DEFAULT_SEEDS = "10"


@dataclass(frozen=True, slots=True)
class GeneratedPlace:
    """The seed of a package of a distribution."""

    distribution: str
    seed: int

    def read(self) -> Package:
        return named_distribution(self.distribution).package(self.seed)


DrawnPlace = ShippedPlace | GeneratedPlace | PackagePlace


def named_places(name: str) -> Sequence[DrawnPlace]:
    """The packages of one name, which may be a distribution: event_graph:seeds=0-9."""
    if name.split(":")[0] in DISTRIBUTIONS:
        return _generated(name)
    if name in SHIPPED:
        return [ShippedPlace(name, number) for number in range(len(shipped_set(name)))]
    if not Path(name).exists():
        raise MemAuditError(
            f"no packages at {name!r}; give a path, {' or '.join(SHIPPED)}, or a distribution: "
            f"{', '.join(DISTRIBUTIONS)}"
        )
    return package_places(Path(name), of_build=True)


@dataclass(frozen=True, slots=True)
class PackageSet:
    """Packages by name as a distribution: the seed is a package's place among them."""

    name: str
    draws = True

    @property
    def about(self) -> str:
        return f"packages of {self.name}"

    def package(self, seed: int) -> Package:
        return _places(self.name)[seed].read()


@cache
def _places(name: str) -> Sequence[DrawnPlace]:
    return named_places(name)


def named_source(name: str) -> Distribution:
    """What a run draws its packages from: a distribution, a shipped set, or a path."""
    return named_distribution(name) if is_distribution(name) else PackageSet(name)


def is_distribution(name: str) -> bool:
    return name.split(":")[0] in DISTRIBUTIONS or not (name in SHIPPED or Path(name).exists())


def named_packages(name: str) -> list[Package]:
    """The same packages, read."""
    return [place.read() for place in named_places(name)]


def _generated(name: str) -> list[GeneratedPlace]:
    parts = name.split(":")
    given = [part.removeprefix(SEEDS) for part in parts if part.startswith(SEEDS)]
    if len(given) > 1:
        raise MemAuditError(f"{name!r} gives seeds twice")
    own = ":".join(part for part in parts if not part.startswith(SEEDS))
    distribution = named_distribution(own)
    seeds = parse_seeds(given[0] if given else DEFAULT_SEEDS)
    if not seeds:
        raise MemAuditError(f"{name!r} names no seed; write seeds=0-9")
    return [GeneratedPlace(own, seed) for seed in (seeds if distribution.draws else seeds[:1])]
