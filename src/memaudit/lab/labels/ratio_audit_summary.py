"""The numbers of the tables: changes of ratios, rankings, and every mean ratio with its doubts.

Bootstrap intervals draw packages with replacement. Label intervals hold the middle 95 % of the
draws of labels, or all of them if they are few; `both` draws labels and packages. With fewer than
two packages no packages are drawn.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from memaudit.kernel.stats.bootstrap import (
    Floats,
    Interval,
    mean_intervals,
    outer_percentiles,
    resample_counts,
)
from memaudit.kernel.words.text import counted
from memaudit.lab.labels.frame import PACKAGE
from memaudit.lab.labels.label_sources import LabelSource
from memaudit.lab.labels.ratio_audit import RatioAudit
from memaudit.lab.studies.rank_correlation import (
    Correlation,
    exact_kendall,
    exact_spearman,
    row_correlations,
    sign,
)

NO_STORE, WRITER_FAILED = "no store", "writer failed"
FEWEST = 40
"""The number of draws from which a 2.5 % tail holds one of them; with fewer the range is given."""


@dataclass(frozen=True, slots=True)
class RankingChange:
    """`ranked` stores have a mean under both label sets.

    `swapped` pairs are ordered the other way round, `tied` ones are tied under one set only.
    `preserved`: there are neither. `stays` is the share of draws of packages where that holds.
    """

    ranked: int
    preserved: bool
    swapped: tuple[tuple[str, str], ...]
    tied: tuple[tuple[str, str], ...]
    tau: Correlation
    rho: Correlation
    stays: float | None


@dataclass(frozen=True, slots=True)
class LabelShift:
    """One label set against the package's own labels at one budget, or at all (None).

    `change` is the mean over packages of the mean absolute change of ratios over stores: the
    paper's ratio MAD. `undefined` counts packages without a ratio under the label set, by reason.
    """

    budget: Fraction | None
    change: Interval
    pairs: int
    ranking: RankingChange
    undefined: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class DrawSpread:
    """A mean ratio over draws of labels; `undefined` counts undefined ratios in them."""

    draws: int
    mean: float
    low: float
    high: float
    undefined: int

    @property
    def is_range(self) -> bool:
        """Whether the ends are those of all draws, as there are too few for a middle 95 %."""
        return self.draws < FEWEST


@dataclass(frozen=True, slots=True)
class RatioSummaryRow:
    """One store at one budget. `missing` counts packages without its ratio, by reason."""

    store: str
    budget: Fraction
    ratios: Mapping[str, Interval]
    missing: Mapping[str, int]
    labels: DrawSpread | None
    both: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class RatioAuditSummary:
    """The shifts of every label set, and the rows of every store."""

    shifts: Mapping[str, tuple[LabelShift, ...]]
    rows: tuple[RatioSummaryRow, ...]
    uncertified: int
    solved: int


def summarise(audit: RatioAudit) -> RatioAuditSummary:
    """All numbers, from exact ratios."""
    budgets = audit.spec.budgets
    counts = resample_counts(len(audit.spec.packages), audit.spec.seed)
    groups = [(budget,) for budget in budgets] + ([budgets] if len(budgets) > 1 else [])
    shifts = {
        source.name: tuple(_shift(audit, source.name, group, counts) for group in groups)
        for source in audit.sources
    }
    rows = tuple(
        _row(audit, store, budget, counts) for budget in budgets for store in audit.store_names
    )
    runs = [*audit.scores.values(), *audit.drawn_scores]
    optima = [best for run in runs for scores in run for best in scores.optima.values()]
    uncertified = sum(not best.certified for best in optima)
    return RatioAuditSummary(shifts, rows, uncertified, len(optima))


RatioColumn = Sequence[Fraction | None]
"""One store's ratio in every package."""


def _column(audit: RatioAudit, name: str, store: str, budgets: Sequence[Fraction]) -> RatioColumn:
    """The ratios of one store, package by package, budget by budget."""
    scores = audit.scores[name]
    return [package.ratios.get((store, budget)) for budget in budgets for package in scores]


def _shift(audit: RatioAudit, name: str, budgets: Sequence[Fraction], counts: Floats) -> LabelShift:
    first, second = (
        [_column(audit, side, store, budgets) for store in audit.store_names]
        for side in (PACKAGE, name)
    )
    packages = len(audit.spec.packages)
    gaps: list[list[Fraction]] = [[] for _ in range(packages)]
    for own, other in zip(first, second, strict=True):
        for place, (a, b) in enumerate(zip(own, other, strict=True)):
            if a is not None and b is not None:
                # Columns go budget by budget over the same packages. Gaps of a package count
                # together, so that packages with more defined budgets weigh no more.
                gaps[place % packages].append(abs(b - a))
    means = np.array([[_mean(of_package)] for of_package in gaps])
    undefined = Counter(
        reason
        for budget in budgets
        for scores in audit.scores[name]
        if (reason := scores.optima[budget].undefined)
    )
    return LabelShift(
        budget=budgets[0] if len(budgets) == 1 else None,
        change=mean_intervals(means, counts)[0],
        pairs=sum(len(of_package) for of_package in gaps),
        ranking=compare_rankings(
            audit.store_names,
            first,
            second,
            # A drawn package comes with all of its budgets.
            np.tile(counts, len(budgets)) if packages > 1 else None,
        ),
        undefined=dict(sorted(undefined.items())),
    )


def _mean(numbers: Sequence[Fraction]) -> float:
    return float(sum(numbers, Fraction(0)) / len(numbers)) if numbers else math.nan


PLACES = 9
"""Means of drawn packages that agree to so many places are tied: the rest is rounding."""


def compare_rankings(
    names: Sequence[str],
    first: Sequence[RatioColumn],
    second: Sequence[RatioColumn],
    counts: Floats | None,
) -> RankingChange:
    """Whether a ranking survives other labels: tau-b, rho, and the pairs that swap places.

    Stores are ranked by their mean ratio over packages. Both rankings use the packages where a
    store has a ratio under both label sets. Intervals come from resampled packages, the same for
    both rankings; a draw in which a store has no ratio, or all are tied, counts for neither.

    Columns are per store, packages in the same order. `counts` is how often each package is drawn;
    None if there are too few to draw from.
    """
    means: list[tuple[str, Fraction, Fraction]] = []
    columns: list[list[tuple[Fraction, Fraction] | None]] = []
    for name, own, other in zip(names, first, second, strict=True):
        both = [None if a is None or b is None else (a, b) for a, b in zip(own, other, strict=True)]
        defined = [pair for pair in both if pair is not None]
        if defined:
            sums = (sum(side, Fraction(0)) for side in zip(*defined, strict=True))
            own_mean, other_mean = (total / len(defined) for total in sums)
            # Exact means: a tie is a tie, whatever the rounding of floats.
            means.append((name, own_mean, other_mean))
            columns.append(both)
    own_means, other_means = [a for _, a, _ in means], [b for _, _, b in means]
    tau, rho = exact_kendall(own_means, other_means), exact_spearman(own_means, other_means)
    signs = {
        (a[0], b[0]): (sign(a[1] - b[1]), sign(a[2] - b[2])) for a, b in combinations(means, 2)
    }
    taus, rhos, stays = _resampled(columns, counts)
    return RankingChange(
        ranked=len(means),
        preserved=tau.same_order,
        swapped=tuple(pair for pair, (a, b) in signs.items() if a * b < 0),
        tied=tuple(pair for pair, (a, b) in signs.items() if a != b and not a * b),
        tau=_correlation(len(means), tau.value, taus),
        rho=_correlation(len(means), rho, rhos),
        stays=float(stays.mean()) if len(stays) else None,
    )


def _correlation(n: int, value: float | None, resampled: Floats) -> Correlation:
    low, high = outer_percentiles(resampled) if len(resampled) else (math.nan, math.nan)
    return Correlation(n, math.nan if value is None else value, low, high)


def _resampled(
    columns: Sequence[Sequence[tuple[Fraction, Fraction] | None]], counts: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Tau and rho of every draw, where defined, and whether the order is preserved."""
    nothing = np.zeros(0)
    if len(columns) < 2 or counts is None:
        return nothing, nothing, nothing
    defined = np.array([[pair is not None for pair in column] for column in columns]).T
    means = []
    for side in (0, 1):
        values = np.array(
            [[0.0 if pair is None else float(pair[side]) for pair in column] for column in columns]
        ).T
        # A draw may leave out every package that has the ratio: 0 / 0 is NaN and counts for nothing
        # below.
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn_means = (counts @ values) / (counts @ defined.astype(np.float64))
        means.append(np.round(drawn_means, PLACES))
    # A ranking without one of the stores is another ranking.
    complete = ~np.isnan(means[0]).any(axis=1)
    first, second = (side[complete] for side in means)
    rhos, taus = row_correlations(first, second)
    signs, others = (np.sign(side[:, :, None] - side[:, None, :]) for side in (first, second))
    same = (signs == others).all(axis=(1, 2)).astype(np.float64)
    return taus[~np.isnan(taus)], rhos[~np.isnan(rhos)], same


def _row(audit: RatioAudit, store: str, budget: Fraction, counts: Floats) -> RatioSummaryRow:
    columns = np.array(
        [
            [_number(ratio) for ratio in _column(audit, name, store, [budget])]
            for name in audit.scores
        ]
    ).T
    intervals = mean_intervals(columns, counts)
    missing: Counter[str] = Counter()
    for fixed, scores in zip(audit.fixed, audit.scores[PACKAGE], strict=True):
        if (store, budget) in fixed.failed:
            missing[WRITER_FAILED] += 1
        elif (store, budget) not in fixed.stores:
            missing[NO_STORE] += 1
        elif reason := scores.optima[budget].undefined:
            missing[reason] += 1
    labels, both = _drawn(audit, store, budget, counts)
    return RatioSummaryRow(
        store,
        budget,
        dict(zip(audit.scores, intervals, strict=True)),
        dict(sorted(missing.items())),
        labels,
        both,
    )


def _drawn(
    audit: RatioAudit, store: str, budget: Fraction, counts: Floats
) -> tuple[DrawSpread | None, tuple[float, float] | None]:
    """The spread over draws of labels, and over draws of labels and packages together."""
    values = np.array(
        [
            [_number(scores.ratios.get((store, budget))) for scores in run]
            for run in audit.drawn_scores
        ]
    )
    if not values.size or np.isnan(values).all():
        return None, None
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = filled.sum(axis=1) / defined.sum(axis=1)
        # Each draw of packages meets each draw of labels: both doubts at once.
        mixed = (counts @ filled.T) / (counts @ defined.T.astype(np.float64))
    # Percentiles of a few draws would interpolate between the extremes and look narrower.
    if len(values) < FEWEST:
        low, high = float(np.nanmin(means)), float(np.nanmax(means))
    else:
        low, high = outer_percentiles(means[~np.isnan(means)])
    undefined = int((~defined).sum())
    spread = DrawSpread(len(values), float(np.nanmean(means)), low, high, undefined)
    if values.shape[1] < 2:
        return spread, None
    return spread, outer_percentiles(mixed[~np.isnan(mixed)])


def _number(ratio: Fraction | None) -> float:
    return math.nan if ratio is None else float(ratio)


def changed_cells(audit: RatioAudit, source: LabelSource) -> int:
    """Cells that the label set itself labels otherwise than the package."""
    return sum(
        value != audit.own.labels[package].get(at, value)
        for package, labels in source.labels.items()
        for at, value in labels.items()
    )


def ratio_notes(audit: RatioAudit) -> list[str]:
    """What a reader must know about the numbers, one note per line without a full stop."""
    notes = [*_notes_on_binary_labels(audit)]
    if audit.drawn_scores:
        notes += [*_notes_on_draws(audit), *_notes_on_cells_not_drawn(audit)]
    return notes


def _notes_on_draws(audit: RatioAudit) -> Iterator[str]:
    number, draws = len(audit.drawn_scores), audit.label_samples
    what = "the range" if number < FEWEST else "the middle 95 %"
    asked = sum(map(len, audit.own.labels.values()))
    cells = f"the {asked:,} cells asked about"
    if draws.represented.number:
        cells += f" and the {draws.represented.number:,} uncovered cells they represent"
    yield (
        f"labels drawn: {what} of {counted(number, 'draw')} of {cells}; about "
        f"{draws.expected_changes:,.1f} labels change in a draw"
    )
    yield (
        f"odds: how {', '.join(draws.sources)} labelled cells, given the package's label, by "
        "candidate kind, session and unit kind, small groups smoothed with wider ones; each cell "
        "is drawn independently; draws add doubt to the package's labels, so the ratio under these "
        "may lie outside"
    )


def _notes_on_cells_not_drawn(audit: RatioAudit) -> Iterator[str]:
    frame, represented = audit.spec.frame, audit.label_samples.represented
    if frame is not None and not frame.key:
        yield (
            "the frame has no key, so it is unknown which cells its cells represent: only the "
            "frame's own cells are drawn, and doubt is understated if it is a sample"
        )
    elif frame is not None and all(keyed.weight == 1 for keyed in frame.key.values()):
        yield (
            "by the key every cell represents only itself: only the frame's own cells are drawn, "
            "and doubt is understated if the frame is a sample and the key lacks weights"
        )
    if represented.expected is not None and represented.expected != represented.available:
        yield (
            f"the key represents {float(represented.expected):,g} uncovered cells outside the "
            f"frame, but these packages have {represented.available:,}: they changed after it was "
            "drawn"
        )
    if represented.untouched:
        yield (
            f"{represented.untouched:,} uncovered cells keep the package's label in all draws: "
            "nobody was asked about cells like them"
        )


def _notes_on_binary_labels(audit: RatioAudit) -> Iterator[str]:
    for source in audit.spec.sources:
        raised = _raised(source, audit.own)
        if raised:
            yield (
                f"{source.name} answers full or none, never partial: cells that the package calls "
                f"partial and {source.name} covered count as changed to full: {raised:,}; "
                "--two-labels compares covered or not"
            )


def _raised(source: LabelSource, own: LabelSource) -> int:
    """Cells called full that the package calls partial, by a source that never uses partial."""
    given = {value for labels in source.labels.values() for value in labels.values()}
    if any(0 < value < 1 for value in given):
        return 0
    return sum(
        value == 1 and 0 < own.labels[package][at] < 1
        for package, labels in source.labels.items()
        for at, value in labels.items()
    )
