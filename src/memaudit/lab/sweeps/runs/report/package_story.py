"""One package of a run in full: its stream, its coverage, what OPT and each writer kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Candidate, EvidenceUnit, Experience, Package
from memaudit.lab.sweeps.runs.report.remade_packages import (
    CLOSE,
    RemadePackage,
    VerifiedProof,
    verify_proof,
)
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, RunRowData
from memaudit.show.page_charts import OPT, Member
from memaudit.show.store_comparison import (
    Cells,
    ComparableStore,
    StoreComparison,
    candidate_store,
    cells_by_candidate,
    compare,
)


@dataclass(frozen=True, slots=True)
class StoryChoice:
    """The package and budget that are shown, with the median ratio of the writers there."""

    distribution: str
    seed: int
    budget: Fraction
    median: float


def choose_story(run: FinishedRunData) -> StoryChoice | None:
    """The package with the lowest median ratio over writers other than OPT, at the middle budget.

    Of equals, the first is taken. If that budget has no ratio, the larger ones are tried,
    then the smaller ones.
    """
    # At small budgets hardly anything fits, at large ones everything: writers differ in between.
    order = sorted(range(len(run.amounts)), key=lambda place: run.amounts[place])
    middle = len(order) // 2
    others = [at for at, name in enumerate(run.members) if name != OPT]
    others = others or list(range(len(run.members)))
    for place in (*order[middle:], *reversed(order[:middle])):
        best: StoryChoice | None = None
        for grid in run.grids:
            ratios = grid.numbers["ratio"][:, place][:, others]
            for row, seed in enumerate(grid.seeds):
                defined = ratios[row][~np.isnan(ratios[row])]
                if not len(defined):
                    continue
                median = float(np.median(defined))
                if best is None or median < best.median:
                    best = StoryChoice(grid.distribution, seed, run.amounts[place], median)
        if best is not None:
            return best
    return None


MOST_ROWS, MOST_COLUMNS = 48, 20
SHADES = 5


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A unit with its weight."""

    unit: EvidenceUnit
    weight: Fraction


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """A coverage and its shade, from 0 (nothing) to 5."""

    value: Fraction

    @property
    def shade(self) -> int:
        return -(-SHADES * self.value.numerator // self.value.denominator)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A candidate and its cells."""

    candidate: Candidate
    by_opt: bool
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class CoverageMatrix:
    """The table, and how many rows and columns were left out."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]
    hidden_units: int
    hidden_candidates: int


def coverage_matrix(
    package: Package, best: Collection[str], others: Collection[str]
) -> CoverageMatrix:
    """If there are many, only the units with the largest weights and the candidates in stores."""
    rank = {e.id: e.index for e in package.experiences}
    candidates = sorted(package.candidates, key=lambda c: (rank[c.experience], c.id))
    if len(candidates) > MOST_ROWS:
        chosen = sorted(candidates, key=lambda c: (c.id not in best, c.id not in others))[
            :MOST_ROWS
        ]
        # Chosen by interest, shown in the order of the stream.
        ids = {candidate.id for candidate in chosen}
        candidates = [candidate for candidate in candidates if candidate.id in ids]
    units = list(package.units)
    if len(units) > MOST_COLUMNS:
        shown = {candidate.id for candidate in candidates}
        touched = {c.unit for c in package.coverage if c.candidate in shown and c.value}
        units.sort(key=lambda unit: (unit.id not in touched, -package.weights[unit.id], unit.id))
        units = units[:MOST_COLUMNS]
    values = {(cell.candidate, cell.unit): cell.value for cell in package.coverage}
    rows = tuple(
        MatrixRow(
            candidate,
            candidate.id in best,
            tuple(MatrixCell(values.get((candidate.id, unit.id), Fraction(0))) for unit in units),
        )
        for candidate in candidates
    )
    return CoverageMatrix(
        tuple(MatrixColumn(unit, package.weights[unit.id]) for unit in units),
        rows,
        len(package.units) - len(units),
        len(package.candidates) - len(rows),
    )


MOST_EXPERIENCES = 30


@dataclass(frozen=True, slots=True)
class StoryCandidate:
    """A candidate, whether OPT kept it, and how many writers did."""

    candidate: Candidate
    by_opt: bool
    keepers: int


@dataclass(frozen=True, slots=True)
class StreamStep:
    """An experience and what could be stored for it."""

    number: int
    experience: Experience
    offers: tuple[StoryCandidate, ...]


@dataclass(frozen=True, slots=True)
class WriterStore:
    """A writer's store compared with OPT's. No comparison if the writer failed."""

    member: Member
    ratio: float | None
    comparison: StoreComparison | None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class PackageStory:
    """Everything the page shows of the package."""

    choice: StoryChoice
    package: Package
    optimum: Optimum
    steps: tuple[StreamStep, ...]
    hidden_steps: int
    matrix: CoverageMatrix
    stores: tuple[WriterStore, ...]
    proof: VerifiedProof

    @property
    def total_cost(self) -> Fraction:
        return self.package.total_cost(self.package.candidate)

    @property
    def total_weight(self) -> Fraction:
        return sum(self.package.weights.values(), Fraction(0))


def build_story(
    remade: RemadePackage, choice: StoryChoice, order: Sequence[Member]
) -> PackageStory:
    """The story of a package at the chosen budget, with writers in the order given."""
    best = remade.optimum(choice.budget)
    rows = {row["writer"]: row for row in remade.at(choice.budget)}
    writers = [member for member in order if member.name != OPT]
    keepers: dict[str, int] = {}
    for member in writers:
        for id in rows[member.name]["store"]:
            keepers[id] = keepers.get(id, 0) + 1
    steps = _steps(remade.package, best.store, keepers)
    arrival = {c.id: n for n, c in enumerate(remade.subject.view.candidates)}
    cells = cells_by_candidate(remade.package)
    in_order = sorted(best.store, key=arrival.__getitem__)
    best_store = candidate_store(remade.package, cells, "OPT", in_order)
    return PackageStory(
        choice=choice,
        package=remade.package,
        optimum=best,
        steps=steps,
        hidden_steps=len(remade.package.experiences) - len(steps),
        matrix=coverage_matrix(remade.package, best.store, keepers),
        stores=tuple(
            _writer_store(remade, rows[member.name], member, best_store, cells)
            for member in writers
        ),
        proof=verify_proof(remade, choice.budget),
    )


def _writer_store(
    remade: RemadePackage, row: RunRowData, member: Member, best: ComparableStore, cells: Cells
) -> WriterStore:
    """The store of a row, scored again and compared with OPT's."""
    if row.get("failed"):
        return WriterStore(member, None, None, row["failed"])
    package = remade.package
    comparison = compare(package, best, candidate_store(package, cells, member.label, row["store"]))
    # The page shows the store of a row; it must be worth what the row says.
    if abs(float(comparison.value) - row["value"]) > CLOSE:
        raise MemAuditError(
            f"{package.name!r}, writer {member.name!r}: the row says its store is worth "
            f"{row['value']}, scoring it gives {float(comparison.value)}; run the sweep again"
        )
    return WriterStore(member, row["ratio"], comparison)


def _steps(
    package: Package, best: Collection[str], keepers: dict[str, int]
) -> tuple[StreamStep, ...]:
    """The stream in order. If it is long, the steps in OPT's store, then those of writers."""
    stream = sorted(package.experiences, key=lambda experience: experience.index)
    offered: dict[str, list[Candidate]] = {experience.id: [] for experience in stream}
    for candidate in sorted(package.candidates, key=lambda candidate: candidate.id):
        offered[candidate.experience].append(candidate)
    numbers = list(range(len(stream)))
    if len(stream) > MOST_EXPERIENCES:

        def interest(number: int) -> tuple[bool, bool, int]:
            ids = [candidate.id for candidate in offered[stream[number].id]]
            return not any(id in best for id in ids), not any(id in keepers for id in ids), number

        numbers = sorted(sorted(numbers, key=interest)[:MOST_EXPERIENCES])
    return tuple(
        StreamStep(
            number + 1,
            stream[number],
            tuple(
                StoryCandidate(candidate, candidate.id in best, keepers.get(candidate.id, 0))
                for candidate in offered[stream[number].id]
            ),
        )
        for number in numbers
    )
