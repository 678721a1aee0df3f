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

from memaudit.building.label_passes import LABELLED_GENERATOR, label_passes
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import EvidenceUnit, Package
from memaudit.kernel.package.provenance import is_exact
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.lab.labels.frame import (
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

OTHER_KIND, EXACT = "of other kinds", "exact"
"""Why cells are left out."""


@dataclass(frozen=True, slots=True)
class Design:
    """What to draw: `kinds` limits the candidate kinds; None draws from all.

    With `skip_exact`, cells that follow from the texts alone are left out.
    """

    seed: int = 0
    zero_rate: Fraction = ZERO_RATE
    kinds: frozenset[str] | None = None
    skip_exact: bool = False

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
    _check_names(packages)
    _check_kinds(packages, design)
    left_out: Counter[str] = Counter()
    covered: list[StatementCell] = []
    uncovered: defaultdict[DrawnStratum, list[StatementCell]] = defaultdict(list)
    for cell in _population(packages, design, left_out):
        if cell.value:
            covered.append(cell)
        else:
            uncovered[_drawn_in(cell)].append(cell)
    sizes = {stratum: len(uncovered[stratum]) for stratum in sorted(uncovered, key=_order)}
    # Rounded up, so that every stratum gives at least one.
    numbers = {stratum: ceil(design.zero_rate * size) for stratum, size in sizes.items()}
    drawn = [
        cell
        for stratum, number in numbers.items()
        for cell in _ranked("draw", design.seed, uncovered[stratum])[:number]
    ]
    weights = {
        stratum: Fraction(sizes[stratum], numbers[stratum]) for stratum in sizes if numbers[stratum]
    }
    return Drawing(
        _frame(_ranked("order", design.seed, [*covered, *drawn]), weights),
        design,
        tuple(sorted((package.name, digest(package)) for package in packages)),
        _counts(covered, sizes, numbers),
        {why: left_out[why] for why in sorted(left_out) if left_out[why]},
    )


def _check_names(packages: Sequence[Package]) -> None:
    names = Counter(package.name for package in packages)
    if twice := sorted(name for name, number in names.items() if number > 1):
        raise MemAuditError(
            f"two packages are called {twice[0]!r}, and a frame identifies packages by name; give "
            "each once"
        )


def _check_kinds(packages: Sequence[Package], design: Design) -> None:
    kinds_there = {candidate.kind for package in packages for candidate in package.candidates}
    if unknown := sorted((design.kinds or frozenset()) - kinds_there):
        kinds = ", ".join(sorted(kinds_there))
        raise MemAuditError(f"no candidate is of the kind {unknown[0]!r}; kinds: {kinds}")


def _population(
    packages: Sequence[Package], design: Design, left_out: Counter[str]
) -> Iterator[StatementCell]:
    """The cells that a frame is drawn from; the others are counted."""
    for package in packages:
        # All cells first, then one less for each that is looked at: cells of other kinds are never
        # made.
        left_out[OTHER_KIND] += len(package.candidates) * len(whole_units(package.units))
        for cell in statement_cells(package, design.kinds):
            left_out[OTHER_KIND] -= 1
            if design.skip_exact and cell.value and is_exact(cell.provenance):
                left_out[EXACT] += 1
            else:
                yield cell


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


def _frame(shown: Sequence[StatementCell], weights: Mapping[DrawnStratum, Fraction]) -> Frame:
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
        weight = Fraction(1) if cell.value else weights.get(_drawn_in(cell), Fraction(1))
        key[id] = KeyedCell(cell.value, cell.provenance, weight, cell.kept)
    return Frame(tuple(cells), key)


def frame_of(package: Package, cells: Collection[tuple[str, str]]) -> Frame:
    """A frame of just these covered cells, in an order that says nothing about them."""
    wanted = set(cells)
    chosen = [
        cell
        for cell in statement_cells(package)
        if any((cell.candidate.id, unit.id) in wanted for unit in cell.whole.units)
    ]
    return _frame(_ranked("order", 0, chosen), {})


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
    _check_names(packages)
    judged = {package.name: judged_cells(package) for package in packages}
    cells = (cell for package in packages for cell in statement_cells(package))
    chosen = [cell for cell in cells if cell.at in judged[cell.package]]
    frame = _frame(_ranked("order", 0, chosen), {})
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
