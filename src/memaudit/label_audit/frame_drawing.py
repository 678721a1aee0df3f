"""How many uncovered cells each stratum gives to a frame."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeVar

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.cells import DrawnFrom, Frame, FrameCell, KeyedCell, stratum_name
from memaudit.label_audit.package_passes import judged_cells
from memaudit.label_audit.population import Pair, Stratum, pairs, quote_of, word_for_word_kinds
from memaudit.natural.coverage_rules import is_exact

Name = TypeVar("Name")


def allocated(
    sizes: Mapping[Name, int], rate: Fraction, most: int | None = None
) -> dict[Name, int]:
    """The rate times a stratum's size, rounded up: so at least one of each, unless the rate is 0.

    Where that makes more than `most`, every stratum gives one, and the rest is shared out in
    proportion to what is left of each, by largest remainders; ties go to the earlier stratum.
    """
    wanted = {name: ceil(rate * size) for name, size in sizes.items()}
    if most is None or sum(wanted.values()) <= most:
        return wanted
    filled = [name for name, number in wanted.items() if number]
    if len(filled) > most:
        raise MemAuditError(
            f"there is room for {max(most, 0):,} uncovered cells, but they fall into "
            f"{len(filled):,} strata (allow more cells, or choose fewer kinds)"
        )
    spare = most - len(filled)
    left = {name: sizes[name] - 1 for name in filled}
    total = sum(left.values())
    shares = {name: Fraction(spare * left[name], total) for name in filled}
    given = {name: int(share) for name, share in shares.items()}
    order = sorted(filled, key=lambda name: given[name] - shares[name])
    for name in order[: spare - sum(given.values())]:
        given[name] += 1
    return {name: 1 + given[name] if name in given else 0 for name in sizes}


ZERO_RATE = Fraction(1, 5)
"""The share of uncovered cells that the paper's audit took."""

OTHER_KIND, UNJUDGED = "of other kinds", "judged by no pass"
EXACT_COVERED, EXACT_UNCOVERED = "exact, covered", "exact, uncovered"
"""Why cells are left out."""


@dataclass(frozen=True, slots=True)
class Design:
    """What to draw: `kinds` keeps these candidate kinds only; None keeps all.

    With `skip_exact`, covered cells that follow from the texts alone are left out, and so are
    the uncovered cells of the candidate kinds that have such cells. With `judged_only`, only
    cells are drawn that the packages' own label passes judged.
    """

    seed: int = 0
    zero_rate: Fraction = ZERO_RATE
    kinds: frozenset[str] | None = None
    skip_exact: bool = False
    max_cells: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.zero_rate <= 1:
            raise MemAuditError(f"the zero rate {self.zero_rate} is not between 0 and 1")


@dataclass(frozen=True, slots=True)
class StratumCount:
    """Cells of a stratum in the packages, and how many of the uncovered ones were drawn."""

    name: str
    covered: int
    uncovered: int
    drawn: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """A frame, and how it came about."""

    frame: Frame
    design: Design
    packages: tuple[tuple[str, str], ...]
    """Names and digests."""
    strata: tuple[StratumCount, ...]
    left_out: Mapping[str, int]
    """Cells that the frame was not drawn from, by reason."""


def draw(packages: Sequence[Package], design: Design) -> Drawing:
    """The frame of some packages."""
    _check(packages, design)
    left_out: Counter[str] = Counter()
    covered: list[Pair] = []
    uncovered: defaultdict[Stratum, list[Pair]] = defaultdict(list)
    for pair in _population(packages, design, left_out):
        if pair.value:
            covered.append(pair)
        else:
            uncovered[pair.stratum].append(pair)
    room = None if design.max_cells is None else design.max_cells - len(covered)
    if room is not None and room < 0:
        raise MemAuditError(
            f"{len(covered):,} cells are covered, and all of them belong into a frame: "
            f"{design.max_cells:,} are too few (allow more, skip exact cells or choose kinds)"
        )
    sizes = {stratum: len(uncovered[stratum]) for stratum in sorted(uncovered, key=_order)}
    numbers = allocated(sizes, design.zero_rate, room)
    drawn = [
        pair
        for stratum, number in numbers.items()
        for pair in _ranked("draw", design.seed, uncovered[stratum])[:number]
    ]
    origin = DrawnFrom(frozenset(one.name for one in packages), design.judged_only)
    frame = _frame(covered, drawn, sizes, numbers, design.seed, origin)
    return Drawing(
        frame,
        design,
        tuple(sorted((package.name, digest(package)) for package in packages)),
        _counts(covered, sizes, numbers),
        {why: left_out[why] for why in sorted(left_out) if left_out[why]},
    )


def _population(
    packages: Sequence[Package], design: Design, left_out: Counter[str]
) -> Iterator[Pair]:
    """The cells that a frame is drawn from; the others are counted."""
    exact_kinds = word_for_word_kinds(packages) if design.skip_exact else frozenset()
    for package in packages:
        judged = judged_cells(package) if design.judged_only else None
        left_out[OTHER_KIND] += len(package.candidates) * len(package.units)
        for pair in pairs(package, design.kinds):
            left_out[OTHER_KIND] -= 1
            if judged is not None and (pair.candidate.id, pair.unit.id) not in judged:
                left_out[UNJUDGED] += 1
            elif design.skip_exact and pair.value and is_exact(pair.provenance):
                left_out[EXACT_COVERED] += 1
            elif not pair.value and pair.candidate.kind in exact_kinds:
                left_out[EXACT_UNCOVERED] += 1
            else:
                yield pair


def _check(packages: Sequence[Package], design: Design) -> None:
    names = Counter(package.name for package in packages)
    if twice := sorted(name for name, number in names.items() if number > 1):
        raise MemAuditError(f"two packages are called {twice[0]!r}; a frame tells them by name")
    known = {one.kind for package in packages for one in package.candidates}
    if unknown := sorted((design.kinds or frozenset()) - known):
        kinds = ", ".join(sorted(known))
        raise MemAuditError(f"no candidate is of the kind {unknown[0]!r}; kinds: {kinds}")


def _ranked(what: str, seed: int, cells: Iterable[Pair]) -> list[Pair]:
    """Cells in an order that the seed and their ids give, another for each purpose."""

    def place(pair: Pair) -> bytes:
        name = f"{what}\0{seed}\0{pair.package}\0{pair.candidate.id}\0{pair.unit.id}"
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()

    return sorted(cells, key=place)


def _order(stratum: Stratum) -> tuple[str, str, str]:
    return stratum[0], stratum[1], str(stratum[2])


def _frame(
    covered: Sequence[Pair], drawn: Sequence[Pair], sizes: Mapping[Stratum, int],
    numbers: Mapping[Stratum, int], seed: int, origin: DrawnFrom,
) -> Frame:  # fmt: skip
    cells: list[FrameCell] = []
    key: dict[str, KeyedCell] = {}
    shown = _ranked("order", seed, [*covered, *drawn])
    if not shown:
        raise MemAuditError("no cell is left to label (choose other kinds, or a higher zero rate)")
    digits = max(4, len(str(len(shown))))
    for number, pair in enumerate(shown, start=1):
        cell = FrameCell(
            f"c{number:0{digits}}", pair.package, pair.candidate.id, pair.unit.id,
            pair.candidate.kind, pair.unit.kind, pair.same_session, pair.candidate.text,
            pair.unit.text, quote_of(pair.unit),
        )  # fmt: skip
        weight = Fraction(1)
        if not pair.value:
            weight = Fraction(sizes[pair.stratum], numbers[pair.stratum])
        cells.append(cell)
        key[cell.id] = KeyedCell(pair.value, pair.provenance, weight)
    return Frame(tuple(cells), key, origin)


def _counts(
    covered: Iterable[Pair], sizes: Mapping[Stratum, int], numbers: Mapping[Stratum, int]
) -> tuple[StratumCount, ...]:
    positive = Counter(pair.stratum for pair in covered)
    return tuple(
        StratumCount(stratum_name(*one), positive[one], sizes.get(one, 0), numbers.get(one, 0))
        for one in sorted(positive.keys() | sizes.keys(), key=_order)
    )
