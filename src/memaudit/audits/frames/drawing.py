"""Drawing a frame: every covered cell, and of the uncovered ones a share of each stratum.

Which uncovered cells are drawn, and in which order cells are shown, goes by SHA-256 of the seed
and the cell's ids, under two different names: so neither depends on the other, nor on any label,
nor on the order of packages or rows.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.audits.frames.allocation import allocated
from memaudit.audits.frames.cell import DrawnFrom, Frame, FrameCell, KeyedCell, stratum_name
from memaudit.audits.frames.pass_labels import judged_cells
from memaudit.audits.frames.population import Pair, Stratum, pairs, quote_of, word_for_word_kinds
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.natural.coverage_rules import is_exact

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
