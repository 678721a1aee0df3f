"""Two raters on one scale: coefficients with intervals, overall and by group of cells."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.label_audit.alpha import coincidence_rows
from memaudit.label_audit.cell_tables import UNKNOWN_KIND
from memaudit.label_audit.cells import SESSIONS, Frame, FrameCell
from memaudit.label_audit.coding import Codes, Scale, Weights, crossed
from memaudit.label_audit.coefficients import Table, coefficients, raw_agreement, table_of
from memaudit.label_audit.coefficients import kappa as kappa_of
from memaudit.label_audit.raters import Rater
from memaudit.label_audit.resampling import (
    Bounds,
    Measure,
    Pool,
    alpha_measure,
    bootstrap,
    pair_measure,
    pool_of_cells,
    pool_of_packages,
    within,
)
from memaudit.stats.intervals import Floats


@dataclass(frozen=True, slots=True)
class Estimate:
    """The exact value, None where it is not defined, and its bootstrap intervals.

    `over_packages` is None where there is one package only: nothing is known then about others.
    """

    value: Fraction | None
    over_cells: Bounds | None = None
    over_packages: Bounds | None = None

    @property
    def interval(self) -> Bounds | None:
        """Over packages where there are several: cells of one package share their texts."""
        return self.over_packages or self.over_cells


@dataclass(frozen=True, slots=True)
class Measured:
    """What a confusion table says; `specific` is each category's own agreement."""

    table: Table
    kappa: Estimate
    raw: Estimate
    specific: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """Bootstrap intervals of several coefficients; over packages None where there is only one."""

    over_cells: Sequence[Bounds | None]
    over_packages: Sequence[Bounds | None] | None


def estimates(values: Sequence[Fraction | None], answer: Answer) -> list[Estimate]:
    """Values with their intervals; what is not defined has none."""
    wider = [None] * len(values) if answer.over_packages is None else answer.over_packages
    return [
        Estimate(None) if value is None else Estimate(value, cells, packages)
        for value, cells, packages in zip(values, answer.over_cells, wider, strict=True)
    ]


PACKAGE_LABEL, STRATUM = "package label", "stratum"

MOST_DRAWS = 2_000
"""Groups are many and small: more draws would make their intervals no truer, only slower."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to part the frame's cells: the group of every cell, -1 where it has none."""

    by: str
    names: tuple[str, ...]
    places: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Group:
    """The compared cells of a group; `share` is its part of all the pair's disagreements.

    `kappa` is None where the group goes by one rater's own labels: it would be 0 or undefined
    whatever the other says.
    """

    by: str
    name: str
    cells: int
    disagreements: int
    share: Fraction | None
    rate: Fraction
    kappa: Estimate | None
    raw: Estimate


def groupings(frame: Frame) -> list[Grouping]:
    """Every way that the frame knows of; a kind that no cell names parts nothing."""
    found = []
    if frame.key:
        zero = {id: not keyed.value for id, keyed in frame.key.items()}
        words = {True: "package-zero", False: "package-positive", None: ""}
        found.append(_grouping(PACKAGE_LABEL, [words[zero.get(cell.id)] for cell in frame.cells]))
    found.append(_grouping("candidate kind", [_known(cell.candidate_kind) for cell in frame.cells]))
    found.append(_grouping("unit kind", [_known(cell.unit_kind) for cell in frame.cells]))
    sessions = [SESSIONS[cell.same_session] for cell in frame.cells]
    if set(sessions) != {SESSIONS[None]}:
        found.append(_grouping("session", sessions))
    if any(_is_placed(cell) for cell in frame.cells):
        found.append(_grouping(STRATUM, [cell.stratum for cell in frame.cells]))
    return [one for one in found if one.names]


def _known(kind: str) -> str:
    return "" if kind == UNKNOWN_KIND else kind


def _is_placed(cell: FrameCell) -> bool:
    kinds = {cell.candidate_kind, cell.unit_kind}
    return cell.same_session is not None or kinds != {UNKNOWN_KIND}


def _grouping(by: str, names: list[str]) -> Grouping:
    distinct = sorted({name for name in names if name})
    place = {name: at for at, name in enumerate(distinct)}
    return Grouping(by, tuple(distinct), np.array([place.get(one, -1) for one in names], np.int64))


def groups(
    grouping: Grouping,
    places: NDArray[np.int64],
    scale: Scale,
    by_own: bool,
    draws: int,
    dice: np.random.Generator,
) -> Iterator[Group]:
    """The groups with compared cells; strata are too small and too many for intervals.

    `by_own` says that one of the two raters is the package.
    """
    width = scale.size**2
    kept = (places >= 0) & (grouping.places >= 0)
    at = grouping.places[kept] * width + places[kept]
    counts = np.bincount(at, minlength=len(grouping.names) * width).reshape(-1, width)
    apart = ~np.eye(scale.size, dtype=bool).ravel()
    everywhere = int(np.bincount(places[places >= 0], minlength=width)[apart].sum())
    for name, row in zip(grouping.names, counts, strict=True):
        cells, disagreements = int(row.sum()), int(row[apart].sum())
        if not cells:
            continue
        table = table_of([Fraction(int(one)) for one in row], scale.size)
        values = kappa_of(table), raw_agreement(table)
        bounds = (
            [None, None]
            if grouping.by == STRATUM
            else within(row, pair_measure(scale), min(draws, MOST_DRAWS), dice)
        )
        kappa, raw = (
            Estimate(value, None if value is None else interval)
            for value, interval in zip(values, bounds, strict=True)
        )
        share = Fraction(disagreements, everywhere) if everywhere else None
        yield Group(
            grouping.by, name, cells, disagreements, share, Fraction(disagreements, cells),
            None if by_own and grouping.by == PACKAGE_LABEL else kappa, raw,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where each cell falls in the pair's confusion table, -1 where it is left out."""

    first: Rater
    second: Rater
    scale: Scale
    places: NDArray[np.int64]
    left_out: Mapping[str, int]

    @property
    def cells(self) -> int:
        """Cells compared."""
        return int((self.places >= 0).sum())


@dataclass(frozen=True, slots=True)
class Comparison:
    """The agreement of a pair on a scale; `natural` is None where cells all weigh the same."""

    first: Rater
    second: Rater
    scale: Scale
    cells: int
    left_out: Mapping[str, int]
    as_drawn: Measured
    natural: Measured | None
    groups: tuple[Group, ...]

    @property
    def title(self) -> str:
        """Both names."""
        return f"{self.first.title} - {self.second.title}"

    @property
    def kind(self) -> str:
        """Both roles."""
        return f"{self.first.role}-{self.second.role}"


def crossing(first: Rater, second: Rater, scale: Scale, codes: Mapping[str, Codes]) -> Crossing:
    """The pair's cells; `codes` are of this scale, by the raters' names."""
    places, left_out = crossed(codes[first.name], codes[second.name], scale)
    return Crossing(first, second, scale, places, left_out)


def measured(pair: Crossing, weights: Weights, answer: Answer) -> Measured:
    """The exact coefficients with their intervals."""
    table = weights.table(pair.places, pair.scale.size)
    kappa, raw, *specific = estimates(coefficients(table), answer)
    return Measured(table, kappa, raw, tuple(specific))


Key = tuple[int | str, str]
"""What is asked about, a pair by its place or a scale by its name; and in which balance."""


@dataclass(frozen=True, slots=True)
class Question:
    """A table that draws of a pool add up to, and what is measured in it."""

    table: Callable[[Pool], Floats]
    measure: Measure


def pair_question(pair: Crossing, weights: Weights) -> Question:
    """The coefficients of a pair."""
    floats, width = weights.floats, pair.scale.size**2
    return Question(
        lambda pool: pool.gathered(pair.places, floats, width), pair_measure(pair.scale)
    )


def alpha_question(
    codes: Codes, scale: Scale, levels: tuple[str, ...], weights: Weights
) -> Question:
    """Krippendorff's alpha of annotators (rows of `codes`) on each level."""
    rows = coincidence_rows(codes, scale) * weights.floats[:, None]
    return Question(lambda pool: pool.summed(rows), alpha_measure(scale, levels))


def answers(
    questions: Mapping[Key, Question],
    profiles: Sequence[NDArray[np.generic]],
    packages: Sequence[str],
    draws: int,
    seed: int,
) -> dict[Key, Answer]:
    """Cells alike in all `profiles` are drawn as one; packages only where there are several."""

    def asked(pool: Pool, stream: int) -> list[list[Bounds | None]]:
        tables = [(one.table(pool), one.measure) for one in questions.values()]
        return bootstrap(pool, tables, draws, np.random.default_rng([seed, stream]))

    over_cells = asked(pool_of_cells(profiles), 0)
    if len(set(packages)) < 2:
        return {key: Answer(one, None) for key, one in zip(questions, over_cells, strict=True)}
    over_packages = asked(pool_of_packages(packages), 1)
    both = zip(questions, over_cells, over_packages, strict=True)
    return {key: Answer(cells, wider) for key, cells, wider in both}
