"""Two raters on one scale: coefficients with intervals, overall and by group of cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from memaudit.kernel.number_text import DIGITS, rounded
from memaudit.kernel.stats.agreement_coefficients import (
    Table,
    coefficients,
    kappa,
    table_of,
    vectorised_coefficients,
)
from memaudit.kernel.stats.bootstrap import (
    Indices,
    PercentileInterval,
    pool_of_cells,
    pool_of_packages,
    table_intervals,
)
from memaudit.lab.labels.agreement_file import (
    Coefficients,
    Ends,
    Estimate,
    Group,
    ScaleAgreement,
)
from memaudit.lab.labels.cell_tables import UNKNOWN_KIND
from memaudit.lab.labels.coded_labels import (
    AS_DRAWN,
    NATURAL,
    CodedLabels,
    Rater,
    Scale,
    confusion_places,
)
from memaudit.lab.labels.frame import SESSIONS, STRATUM, Frame, FrameCell

PACKAGE_LABEL = "package label"


@dataclass(frozen=True, slots=True)
class PairPlaces:
    """The place of each cell in the pair's confusion table, -1 where it is left out."""

    first: Rater
    second: Rater
    scale: Scale
    places: Indices
    left_out: Mapping[str, int]


def pair_places(first: Rater, second: Rater, scale: Scale, coded: CodedLabels) -> PairPlaces:
    """The pair's cells."""
    codes = coded.scaled[scale.name]
    places, left_out = confusion_places(codes[first.name], codes[second.name], scale)
    return PairPlaces(first, second, scale, places, left_out)


def measured_pairs(
    pairs: Sequence[PairPlaces], coded: CodedLabels, draws: int, seed: int
) -> list[ScaleAgreement]:
    """Every pair in every balance, with bootstrap intervals that share their draws.

    Whole packages are drawn if there are several, else cells.
    """
    packages = [cell.package for cell in coded.frame.cells]
    several = len(set(packages)) > 1
    # Cells that are equal in all profiles are interchangeable, and drawn as one class.
    pool = pool_of_packages(packages) if several else pool_of_cells(coded.profiles)
    keys = [(place, name) for place in range(len(pairs)) for name in coded.balances]
    tables = [
        (
            pool.tables(pair.places, coded.balances[name].floats, pair.scale.size**2),
            vectorised_coefficients(pair.scale.size),
        )
        for place, name in keys
        for pair in (pairs[place],)
    ]
    dice = np.random.default_rng([seed, int(several)])
    intervals = dict(zip(keys, table_intervals(pool, tables, draws, dice), strict=True))
    ways = groupings(coded.frame)

    def measured(place: int, name: str) -> Coefficients:
        pair = pairs[place]
        table = coded.balances[name].table(pair.places, pair.scale.size)
        kappa_estimate, raw = (
            _estimate(value, interval, several)
            for value, interval in zip(coefficients(table), intervals[place, name], strict=True)
        )
        return Coefficients(
            kappa=kappa_estimate,
            raw_agreement=raw,
            categories=list(pair.scale.categories),
            confusion=_confusion(table),
        )

    return [
        ScaleAgreement(
            cells=int((pair.places >= 0).sum()),
            left_out=dict(pair.left_out),
            as_drawn=measured(place, AS_DRAWN),
            natural=measured(place, NATURAL) if NATURAL in coded.balances else None,
            groups=[
                group
                for way in ways
                for group in groups(way, pair, coded.is_own(pair.first, pair.second))
            ],
        )
        for place, pair in enumerate(pairs)
    ]


def _estimate(
    value: Fraction | None, interval: PercentileInterval | None, over_packages: bool
) -> Estimate:
    """An undefined value has no interval."""
    if value is None or interval is None:
        return Estimate(value=rounded(value))
    ends = Ends(low=round(interval.low, DIGITS), high=round(interval.high, DIGITS))
    if over_packages:
        return Estimate(value=rounded(value), over_packages=ends)
    return Estimate(value=rounded(value), over_cells=ends)


def _confusion(table: Table) -> list[list[float | int]]:
    """Counts of cells are whole numbers, sums of weights need not be."""
    return [
        [entry.numerator if entry.denominator == 1 else rounded(entry) for entry in row]
        for row in table
    ]


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way to divide the frame's cells: the group of every cell, -1 where it has none."""

    by: str
    names: tuple[str, ...]
    places: Indices


def groupings(frame: Frame) -> list[Grouping]:
    """Every grouping that the frame allows; a kind that no cell names is left out."""
    result = []
    if frame.key:
        zero = {id: not keyed.value for id, keyed in frame.key.items()}
        words = {True: "package-zero", False: "package-positive", None: ""}
        result.append(_grouping(PACKAGE_LABEL, [words[zero.get(cell.id)] for cell in frame.cells]))
    result += [
        _grouping("candidate kind", [_known(cell.candidate_kind) for cell in frame.cells]),
        _grouping("unit kind", [_known(cell.unit_kind) for cell in frame.cells]),
    ]
    sessions = [SESSIONS[cell.same_session] for cell in frame.cells]
    if set(sessions) != {SESSIONS[None]}:
        result.append(_grouping("session", sessions))
    if any(_has_stratum(cell) for cell in frame.cells):
        result.append(_grouping(STRATUM, [cell.stratum for cell in frame.cells]))
    return [grouping for grouping in result if grouping.names]


def _known(kind: str) -> str:
    return "" if kind == UNKNOWN_KIND else kind


def _has_stratum(cell: FrameCell) -> bool:
    kinds = {cell.candidate_kind, cell.unit_kind}
    return cell.same_session is not None or kinds != {UNKNOWN_KIND}


def _grouping(by: str, names: list[str]) -> Grouping:
    distinct = sorted({name for name in names if name})
    place = {name: at for at, name in enumerate(distinct)}
    places = np.array([place.get(name, -1) for name in names], np.int64)
    return Grouping(by, tuple(distinct), places)


def groups(grouping: Grouping, pair: PairPlaces, is_package: bool) -> Iterator[Group]:
    """The groups with compared cells.

    `is_package`: the labels of one of the two raters are the package's own.
    """
    size, places = pair.scale.size, pair.places
    width = size**2
    used = (places >= 0) & (grouping.places >= 0)
    at = grouping.places[used] * width + places[used]
    counts = np.bincount(at, minlength=len(grouping.names) * width).reshape(-1, width)
    apart = ~np.eye(size, dtype=bool).ravel()
    all_disagreements = int(np.bincount(places[places >= 0], minlength=width)[apart].sum())
    for name, row in zip(grouping.names, counts, strict=True):
        cells, disagreements = int(row.sum()), int(row[apart].sum())
        if not cells:
            continue
        own = kappa(table_of([Fraction(int(count)) for count in row], size))
        hidden = is_package and grouping.by == PACKAGE_LABEL
        share = disagreements / all_disagreements if all_disagreements else None
        yield Group(
            by=grouping.by,
            group=name,
            cells=cells,
            kappa=None if hidden else Estimate(value=rounded(own)),
            disagreements=disagreements,
            share_of_disagreements=rounded(share),
            rate=round(disagreements / cells, DIGITS),
        )
