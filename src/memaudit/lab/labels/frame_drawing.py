"""Drawing a frame: every covered cell, and of the uncovered ones a share of each stratum.

Which uncovered cells are drawn, and in which order cells are shown, is determined by SHA-256 of the
seed and the cell's ids, under two different names: so neither depends on the other, on any label,
or on the order of packages or rows.

A statement with parts is one cell. Statements with more or fewer parts are drawn apart, so that
each cell stands for as many parts as it has.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeVar

from memaudit.building.label_passes import LABELLED_GENERATOR, label_passes
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.provenance import is_exact
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.lab.labels.frame import (
    DrawnFrom,
    Frame,
    FrameCell,
    KeyedCell,
    LabelSet,
    stratum_name,
)
from memaudit.lab.labels.package_cells import (
    StatementCell,
    Stratum,
    judged_cells,
    pass_label_sets,
    statement_cells,
)

ZERO_RATE = Fraction(1, 5)
"""The share of uncovered cells in the paper's audit."""

OTHER_KIND, UNJUDGED = "of other kinds", "judged by no pass"
EXACT = "exact"
"""Why cells are left out."""


@dataclass(frozen=True, slots=True)
class Design:
    """What to draw: `kinds` limits the candidate kinds; None draws from all.

    With `skip_exact`, cells that follow from the texts alone are left out. With `judged_only`,
    cells are drawn only if the packages' own label passes judged them.
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
    """A frame and how it was drawn; `packages` are names and digests.

    `left_out` counts, by reason, the cells that were not available for drawing.
    """

    frame: Frame
    design: Design
    packages: tuple[tuple[str, str], ...]
    strata: tuple[StratumCount, ...]
    left_out: Mapping[str, int]


def draw(packages: Sequence[Package], design: Design) -> Drawing:
    """Draw a frame from packages."""
    _check(packages, design)
    left_out: Counter[str] = Counter()
    covered: list[StatementCell] = []
    uncovered: defaultdict[DrawnStratum, list[StatementCell]] = defaultdict(list)
    for cell in _population(packages, design, left_out):
        if cell.value:
            covered.append(cell)
        else:
            uncovered[_drawn_in(cell)].append(cell)
    # All covered cells stay: they are few, and agreement on them is what an audit is about.
    room = None if design.max_cells is None else design.max_cells - len(covered)
    if room is not None and room < 0:
        raise MemAuditError(
            f"{len(covered):,} cells are covered, and all of them belong in the frame: "
            f"{design.max_cells:,} are too few (allow more, skip exact cells or choose kinds)"
        )
    sizes = {stratum: len(uncovered[stratum]) for stratum in sorted(uncovered, key=_order)}
    numbers = allocated(sizes, design.zero_rate, room)
    drawn = [
        cell
        for stratum, number in numbers.items()
        for cell in _ranked("draw", design.seed, uncovered[stratum])[:number]
    ]
    origin = DrawnFrom(frozenset(package.name for package in packages), design.judged_only)
    weights = {
        stratum: Fraction(sizes[stratum], numbers[stratum]) for stratum in sizes if numbers[stratum]
    }
    return Drawing(
        _frame(_ranked("order", design.seed, [*covered, *drawn]), weights, origin),
        design,
        tuple(sorted((package.name, digest(package)) for package in packages)),
        _counts(covered, sizes, numbers),
        {why: left_out[why] for why in sorted(left_out) if left_out[why]},
    )


def _check(packages: Sequence[Package], design: Design) -> None:
    names = Counter(package.name for package in packages)
    if twice := sorted(name for name, number in names.items() if number > 1):
        raise MemAuditError(
            f"two packages are called {twice[0]!r}, and a frame identifies packages by name; give "
            "each once"
        )
    kinds_there = {candidate.kind for package in packages for candidate in package.candidates}
    if unknown := sorted((design.kinds or frozenset()) - kinds_there):
        kinds = ", ".join(sorted(kinds_there))
        raise MemAuditError(f"no candidate is of the kind {unknown[0]!r}; kinds: {kinds}")


def _population(
    packages: Sequence[Package], design: Design, left_out: Counter[str]
) -> Iterator[StatementCell]:
    """The cells that a frame is drawn from; the others are counted."""
    for package in packages:
        judged = judged_cells(package) if design.judged_only else None
        # All cells first, then one less for each that is looked at: cells of other kinds are never
        # made.
        left_out[OTHER_KIND] += len(package.candidates) * len(whole_units(package.units))
        for cell in statement_cells(package, design.kinds):
            left_out[OTHER_KIND] -= 1
            if judged is not None and cell.at not in judged:
                left_out[UNJUDGED] += 1
            elif design.skip_exact and cell.value and is_exact(cell.provenance):
                left_out[EXACT] += 1
            else:
                yield cell


Name = TypeVar("Name")


def allocated(
    sizes: Mapping[Name, int], rate: Fraction, most: int | None = None
) -> dict[Name, int]:
    """Cells to draw per stratum: the rate times its size, rounded up, so at least one of each.

    If that makes more than `most`, every stratum gives one, and the rest is distributed in
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
    # Largest remainders: rounding down leaves at most one cell per stratum to give away.
    given = {name: int(share) for name, share in shares.items()}
    order = sorted(filled, key=lambda name: given[name] - shares[name])
    for name in order[: spare - sum(given.values())]:
        given[name] += 1
    return {name: 1 + given[name] if name in given else 0 for name in sizes}


def _ranked(purpose: str, seed: int, cells: Iterable[StatementCell]) -> list[StatementCell]:
    """Cells in an order given by the seed and their ids, a different one for each purpose."""

    def rank(cell: StatementCell) -> bytes:
        name = f"{purpose}\0{seed}\0{cell.package}\0{cell.candidate.id}\0{cell.whole.id}"
        return hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()

    return sorted(cells, key=rank)


DrawnStratum = tuple[Stratum, int]
"""A stratum, and how many parts the statements have; 0 for plain units."""


def _drawn_in(cell: StatementCell) -> DrawnStratum:
    return cell.stratum, len(cell.whole.parts)


def _order(stratum: DrawnStratum) -> tuple[str, str, str, int]:
    (kind, unit_kind, same_session), parts = stratum
    return kind, unit_kind, str(same_session), parts


def _frame(
    shown: Sequence[StatementCell], weights: Mapping[DrawnStratum, Fraction], origin: DrawnFrom
) -> Frame:
    # An empty frame would be a folder that nobody can label.
    if not shown:
        raise MemAuditError("no cell is left to label (choose other kinds, or a higher zero rate)")
    cells: list[FrameCell] = []
    key: dict[str, KeyedCell] = {}
    # Equal lengths, so that ids sort as the cells are shown.
    digits = max(4, len(str(len(shown))))
    for number, cell in enumerate(shown, start=1):
        id = f"c{number:0{digits}}"
        cells.append(
            FrameCell(
                id,
                cell.package,
                cell.candidate.id,
                cell.whole.id,
                cell.candidate.kind,
                cell.whole.core.kind,
                cell.same_session,
                cell.candidate.text,
                cell.whole.text,
                quote_of(cell.whole.core),
                cell.whole.parts,
            )
        )
        # A covered cell was certain to be drawn and stands for itself.
        weight = Fraction(1) if cell.value else weights[_drawn_in(cell)]
        key[id] = KeyedCell(cell.value, cell.provenance, weight, cell.kept)
    return Frame(tuple(cells), key, origin)


def frame_of(package: Package, cells: Collection[tuple[str, str]], origin: DrawnFrom) -> Frame:
    """A frame of just these covered cells, in an order that says nothing about them."""
    wanted = set(cells)
    chosen = [
        cell
        for cell in statement_cells(package)
        if any((cell.candidate.id, unit.id) in wanted for unit in cell.whole.units)
    ]
    return _frame(_ranked("order", 0, chosen), {}, origin)


def quote_of(unit: EvidenceUnit) -> str:
    """The quoted source texts, each once."""
    return "\n".join(dict.fromkeys(source.text for source in unit.sources if source.text))


def _counts(
    covered: Iterable[StatementCell],
    sizes: Mapping[DrawnStratum, int],
    numbers: Mapping[DrawnStratum, int],
) -> tuple[StratumCount, ...]:
    positive = Counter(map(_drawn_in, covered))
    return tuple(
        StratumCount(
            stratum_name(*stratum[0]) + (f" / {stratum[1]} parts" if stratum[1] else ""),
            positive[stratum],
            sizes.get(stratum, 0),
            numbers.get(stratum, 0),
        )
        for stratum in sorted(positive.keys() | sizes.keys(), key=_order)
    )


def judged_frame(
    packages: Sequence[Package], names: Sequence[str]
) -> tuple[Frame, dict[str, LabelSet]]:
    """All cells that the packages' label passes judged, and the passes of these names, `pass:NAME`.

    Every judged cell is in the frame once.
    """
    if not packages:
        raise MemAuditError("there are no packages, so no label passes; name a package")
    packages = [_judged_part(package) for package in packages]
    frame = draw(packages, Design(zero_rate=Fraction(1), judged_only=True)).frame
    passes = {label_set.annotator: label_set for label_set in pass_label_sets(frame, packages)}
    for name in names:
        if name not in passes:
            raise MemAuditError(
                f"{packages[0].name}: has no {name!r}; its passes: {', '.join(passes) or 'none'}"
            )
    return frame, {name: passes[name] for name in names}


def _judged_part(package: Package) -> Package:
    """The package without the candidates that no pass judged, which are many."""
    passes = label_passes(package)
    listed = {id for label_pass in (passes.passes if passes else ()) for id, _ in label_pass.cells}
    return package.only(
        {
            candidate.id
            for candidate in package.candidates
            if candidate.id in listed or (candidate.generator or "").startswith(LABELLED_GENERATOR)
        }
    )
