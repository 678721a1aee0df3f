"""Where a pair disagrees: cells by the package's label, by kinds, by session and by stratum."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.coefficients import kappa as kappa_of
from memaudit.audits.agreement.coefficients import raw_agreement, table_of
from memaudit.audits.agreement.estimate import Estimate
from memaudit.audits.agreement.resampling import within
from memaudit.audits.agreement.scale import Scale
from memaudit.audits.agreement.vectors import pair_measure
from memaudit.audits.frames.cell import SESSIONS, Frame, FrameCell
from memaudit.audits.frames.cell_files import UNKNOWN_KIND

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
