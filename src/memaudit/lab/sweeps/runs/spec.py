"""What a sweep runs: packages by name, which is a distribution, a shipped set or a path; suites."""

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from memaudit.building.named_packages import SHIPPED, ShippedPlace, contents_of, shipped_set
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import PackagePlace, package_places
from memaudit.kernel.package.package import Package
from memaudit.lab.sweeps.generators.registry import (
    DISTRIBUTIONS,
    PUBLISHED,
    Distribution,
    named_distribution,
)

MAX_SEED = 100_000_000
_SEEDS = re.compile(r"([0-9]+)(?:-([0-9]+))?")


def seed_ranges(seeds: tuple[int, ...]) -> str:
    """Seeds as written on the command line: 0-499,900."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][1] + 1:
            parts[-1][1] = seed
        else:
            parts.append([seed, seed])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def parse_seeds(text: str) -> tuple[int, ...]:
    """`500` means the first 500 seeds, `7-9,12` those seeds, `7,` the one seed 7."""
    return tuple(chain.from_iterable(parse_seed_ranges(text)))


def parse_seed_ranges(text: str) -> list[range]:
    """The same as ranges, because a short text can name more seeds than fit into memory."""
    if _SEEDS.fullmatch(text) and "-" not in text:
        text = f"0-{_seed(text, text) - 1}" if _seed(text, text) else ""
    ranges: list[range] = []
    count = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _SEEDS.fullmatch(part)
        if match is None:
            raise MemAuditError(
                f"cannot read seeds {text[:60]!r}; write a number of seeds such as 500, or 7-9,12"
            )
        start, end = _seed(match[1], text), _seed(match[2] or match[1], text)
        ranges.append(range(start, end + 1))
        count += len(ranges[-1])
        if max(end, count - 1) >= MAX_SEED:
            raise _too_many(text)
    return ranges


def _seed(digits: str, text: str) -> int:
    if len(digits) > len(str(MAX_SEED)):
        raise _too_many(text)
    return int(digits)


def _too_many(text: str) -> MemAuditError:
    return MemAuditError(f"seeds {text[:60]!r} are too many or too large; stay below {MAX_SEED}")


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


def is_drawn(name: str) -> bool:
    """Whether a name is that of a distribution alone; one with seeds names packages."""
    return name.split(":")[0] in DISTRIBUTIONS and SEEDS not in name


def is_distribution(name: str) -> bool:
    return name.split(":")[0] in DISTRIBUTIONS or not (name in SHIPPED or Path(name).exists())


def named_packages(name: str) -> list[Package]:
    """The same packages, read."""
    return [place.read() for place in named_places(name)]


def _generated(name: str) -> list[GeneratedPlace]:
    # Parameters of a distribution stand between colons too; only the one of seeds is ours.
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


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Every package of every distribution and seed, at every budget, written by every writer.

    Rows come in this order: distribution, seed, budget, writer.
    """

    distributions: tuple[str, ...]
    seeds: tuple[int, ...]
    budgets: tuple[str, ...]
    writers: tuple[str, ...]
    seconds: float | None = None
    contents: str = ""
    """The SHA-256 of the packages, where they are files and not drawn."""

    def __post_init__(self) -> None:
        for name in ("distributions", "seeds", "budgets", "writers"):
            values = getattr(self, name)
            if not values:
                raise MemAuditError(f"the run has no {name}; give at least one")
            if len(set(values)) != len(values):
                raise MemAuditError(f"the run lists one of its {name} twice")
        if self.seconds is not None and not (math.isfinite(self.seconds) and self.seconds > 0):
            raise MemAuditError("seconds must be above 0")

    @property
    def packages(self) -> int:
        return len(self.distributions) * len(self.seeds)

    @property
    def rows_per_package(self) -> int:
        return len(self.budgets) * len(self.writers)

    @property
    def rows(self) -> int:
        return self.packages * self.rows_per_package

    def package_at(self, index: int) -> tuple[str, int]:
        """Distribution and seed of the package with this number."""
        return self.distributions[index // len(self.seeds)], self.seeds[index % len(self.seeds)]

    def to_json(self) -> dict[str, Any]:
        data = {**asdict(self), "seeds": seed_ranges(self.seeds)}
        if not self.contents:
            del data["contents"]
        return data

    @property
    def digest(self) -> str:
        """The SHA-256 that identifies the run."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()


REFERENCES = (
    "opt",
    "gvt",
    "greedy",
    "density_only",
    "fact_only",
    "summary_only",
    "no_tombstone_opt",
    "no_tombstone_gvt",
    "generic_opt",
    "random_feasible",
)
ESTIMATED = ("estimated_gvt", "estimated_greedy")
RAW = ("recency_raw", "reservoir_raw")
PROXIES = ("memgpt_style", "mem0_style")
"""They decide by texts, and the published distributions have placeholders for texts."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The defaults of a named kind of run."""

    about: str
    distributions: tuple[str, ...]
    seeds: str
    budgets: str
    writers: tuple[str, ...]


# Seeds of the event graph below 100 were used while writers were developed.
SUITES = {
    "controlled": Suite(
        about="the eight published distributions",
        distributions=PUBLISHED,
        seeds="100",
        budgets="2,4,6,8,16",
        writers=(*REFERENCES, *RAW, *ESTIMATED),
    ),
    "event_graph": Suite(
        about="English sessions from a hidden event graph",
        distributions=("event_graph",),
        seeds="100-119",
        budgets="0.02,0.05,0.10,0.15",
        writers=(*REFERENCES, *RAW, *ESTIMATED, *PROXIES),
    ),
    "packages": Suite(
        about="packages that are files: natural, built or converted ones",
        distributions=(),
        seeds="",
        budgets="30,60,100",
        writers=(*REFERENCES, *RAW, *ESTIMATED, *PROXIES),
    ),
    "demo": Suite(
        about="a short run over the event graph",
        distributions=("event_graph:experiences=14",),
        seeds="100-139",
        budgets="0.02,0.05,0.10",
        writers=(*REFERENCES, *RAW, *ESTIMATED, *PROXIES),
    ),
}


def packages_spec(
    name: str, budgets: tuple[str, ...], writers: tuple[str, ...], seconds: float | None = None
) -> RunSpec:
    """All packages of a shipped set, a file, a folder or a build. A seed is a package's place."""
    # The digest of contents is part of what identifies a run: files may change under a path.
    places = named_places(name)
    contents = hashlib.sha256("\n".join(contents_of(places)).encode()).hexdigest()
    return RunSpec((name,), tuple(range(len(places))), budgets, writers, seconds, contents)


def named_suite(name: str) -> Suite:
    """The suite of that name, or an error that lists them."""
    if name not in SUITES:
        raise MemAuditError(f"unknown suite {name!r}; known suites: {', '.join(SUITES)}")
    return SUITES[name]
