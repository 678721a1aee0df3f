"""What `audit ratios --json` writes: changes of ratios, rankings, and mean ratios by label set.

Bootstrap intervals draw packages with replacement; with fewer than two packages there are none.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np

from memaudit.kernel.exact import plain
from memaudit.kernel.io.file_model import ExactText, FileModel
from memaudit.kernel.number_text import fixed, ratio, rounded, with_interval
from memaudit.kernel.package.provenance import assumed_text
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals, resample_counts
from memaudit.kernel.words.text import counted
from memaudit.lab.labels.frame import PACKAGE
from memaudit.lab.labels.label_sources import LabelSource
from memaudit.lab.labels.ratio_audit import PackageScores, RatioAudit
from memaudit.lab.labels.relabelling import NOT_COVERED, CellLabels, own_values
from memaudit.lab.studies.rank_correlation import exact_kendall, exact_spearman, sign
from memaudit.show.columns import Column

RATIOS: Literal["memaudit-label-ratios"] = "memaudit-label-ratios"
WRITER_FAILED = "writer failed"
NO_CONSENSUS = {
    "missing": "fewer than two annotators labelled them",
    "cannot_tell": "an annotator answered cannot_tell",
    "disagreed": "annotators disagree",
}
"""Why there is no consensus."""


class Mean(FileModel):
    """A mean over packages; without an interval if fewer than two of them have a value."""

    packages: int
    mean: float | None
    low: float | None = None
    high: float | None = None


class Correlation(FileModel):
    """A rank correlation, None where a ranking orders nothing."""

    value: float | None


class Ranking(FileModel):
    """Stores with a mean under both label sets, by their means.

    `swapped` pairs are ordered the other way round, `tied_under_one` are tied under one set only.
    `preserved`: there are neither; None with fewer than two stores.
    """

    ranked: int
    preserved: bool | None
    swapped: list[tuple[str, str]]
    tied_under_one: list[tuple[str, str]]
    tau_b: Correlation
    spearman_rho: Correlation

    @property
    def text(self) -> str | None:
        """Preserved, or how many pairs swap places or are tied under only one label set."""
        if self.preserved is None:
            return None
        counts = ((len(self.swapped), "swap"), (len(self.tied_under_one), "tie"))
        return ", ".join(f"{count} {what}" for count, what in counts if count) or "preserved"


class Shift(FileModel):
    """One label set against the package's own labels at one budget, or at all (None).

    `ratio_mad` is the mean over packages of the mean absolute change of ratios over `pairs`, the
    paper's ratio MAD. `undefined` counts packages without a ratio under the label set, by reason.
    """

    budget: ExactText | None
    ratio_mad: Mean
    pairs: int
    ranking: Ranking
    undefined: dict[str, int]


class LabelSetShifts(FileModel):
    """A label set, its cells, and what it does to ratios."""

    name: str
    role: str
    judged_cells: int
    changed_cells: int
    cannot_tell: int
    cells_of_other_packages: int
    without_consensus: dict[str, int]
    shifts: list[Shift]

    @property
    def title(self) -> str:
        """The name, marked if it is a model's."""
        return f"{self.name} (model)" if self.role == "model" else self.name


class MeanRatios(FileModel):
    """One store at one budget, by label set. `missing` counts packages without its ratio."""

    store: str
    budget: ExactText
    ratios: dict[str, Mean]
    missing: dict[str, int]


class RatioAuditFile(FileModel):
    """The content of `audit ratios --json`."""

    format: Literal["memaudit-label-ratios"] = RATIOS
    version: Literal[1] = 1
    budgets: list[ExactText]
    stores: list[str]
    packages: int
    seed: int
    solved_optima: int
    uncertified_optima: int
    notes: tuple[str, ...] = ()
    label_sets: list[LabelSetShifts]
    ratios: list[MeanRatios]
    per_package: list[dict[str, Any]]

    @property
    def rows(self) -> list["ShiftRow"]:
        """The table of changes."""
        return [ShiftRow(own, shift) for own in self.label_sets for shift in own.shifts]


@dataclass(frozen=True, slots=True)
class ShiftRow:
    """A row of the table of changes."""

    label_set: LabelSetShifts
    shift: Shift


def budget_text(budget: int | float | str | None) -> str:
    """A budget in a table; None is all of them."""
    return "all" if budget is None else str(budget)


def mad_text(change: Mean) -> str:
    """Small changes need a place more."""
    text = fixed(change.mean, 4)
    return text if change.low is None else f"{text} [{ratio(change.low)}, {ratio(change.high)}]"


SHIFT_COLUMNS: list[Column[ShiftRow]] = [
    Column(
        key="label_set",
        value=lambda row: row.label_set.title,
        header="label set",
        short="label set",
        words=True,
    ),
    Column(
        key="cells",
        value=lambda row: row.label_set.judged_cells,
        header="cells",
        short="cells",
        show="{:,}".format,
    ),
    Column(
        key="changed",
        value=lambda row: row.label_set.changed_cells,
        header="cells changed",
        short="changed",
        show="{:,}".format,
    ),
    Column(
        key="budget",
        value=lambda row: budget_text(row.shift.budget),
        header="budget",
        short="budget",
    ),
    Column(
        key="ratio_mad",
        value=lambda row: row.shift.ratio_mad,
        header="ratio MAD",
        short="ratio MAD",
        show=mad_text,
    ),
    Column(
        key="ranking",
        value=lambda row: row.shift.ranking.text,
        header="ranking",
        short="ranking",
        words=True,
    ),
    Column(
        key="tau_b",
        value=lambda row: row.shift.ranking.tau_b.value,
        header="Kendall's tau",
        short="tau",
        show=ratio,
    ),
    Column(
        key="spearman_rho",
        value=lambda row: row.shift.ranking.spearman_rho.value,
        header="Spearman's rho",
        short="rho",
        show=ratio,
    ),
]


def mean_columns(label_sets: Sequence[str]) -> list[Column[MeanRatios]]:
    """The table of mean ratios under each label set, for the page."""

    def column(name: str) -> Column[MeanRatios]:
        return Column(
            key=name,
            value=lambda row: row.ratios.get(name),
            header="package's labels" if name == PACKAGE else name,
            show=lambda mean: with_interval(mean.mean, mean.low, mean.high),
        )

    return [
        Column(key="store", value=lambda row: row.store, header="store", words=True),
        Column(key="budget", value=lambda row: row.budget, header="budget"),
        *map(column, (PACKAGE, *label_sets)),
    ]


def ratio_audit_file(audit: RatioAudit) -> RatioAuditFile:
    """All numbers, from exact ratios."""
    spec, budgets = audit.spec, audit.spec.budgets
    counts = resample_counts(len(spec.packages), spec.seed)
    groups = [(budget,) for budget in budgets] + ([budgets] if len(budgets) > 1 else [])
    own = {package.name: own_values(package) for package in spec.packages}
    optima = [
        best
        for package in audit.packages
        for scores in package.scores.values()
        for best in scores.optima.values()
    ]
    label_sets = [
        LabelSetShifts(
            name=source.name,
            role=source.role,
            judged_cells=source.labelled_cells,
            changed_cells=sum(
                value != own[package].get(at, NOT_COVERED)
                for package, labels in source.labels.items()
                for at, value in labels.items()
            ),
            cannot_tell=source.undecided_cells,
            cells_of_other_packages=source.elsewhere,
            without_consensus=dict(source.unsettled),
            shifts=[_shift(audit, source.name, group, counts) for group in groups],
        )
        for source in audit.sources
    ]
    rows = [_means(audit, store, budget, counts) for budget in budgets for store in spec.writers]
    notes = [*_counts(label_sets, rows), *_notes_on_binary_labels(spec.sources, own)]
    if assumed := assumed_text(max((best.assumed for best in optima), default=Fraction(0))):
        notes.append(f"of the optimum where it is most, {assumed}")
    return RatioAuditFile(
        budgets=[plain(budget) for budget in budgets],
        stores=list(spec.writers),
        packages=len(spec.packages),
        seed=spec.seed,
        solved_optima=len(optima),
        uncertified_optima=sum(not best.certified for best in optima),
        notes=tuple(notes),
        label_sets=label_sets,
        ratios=rows,
        per_package=[
            {"package": package.name, **_package_data(scores)}
            for package, scores in zip(spec.packages, audit.packages, strict=True)
        ],
    )


RatioColumn = Sequence[Fraction | None]
"""One store's ratio in every package."""


def _column(audit: RatioAudit, name: str, store: str, budgets: Sequence[Fraction]) -> RatioColumn:
    """The ratios of one store, package by package, budget by budget."""
    return [
        package.scores[name].ratios.get((store, budget))
        for budget in budgets
        for package in audit.packages
    ]


def _shift(audit: RatioAudit, name: str, budgets: Sequence[Fraction], counts: Floats) -> Shift:
    first, second = (
        [_column(audit, side, store, budgets) for store in audit.spec.writers]
        for side in (PACKAGE, name)
    )
    packages = len(audit.packages)
    gaps: list[list[Fraction]] = [[] for _ in range(packages)]
    for own, other in zip(first, second, strict=True):
        for place, (a, b) in enumerate(zip(own, other, strict=True)):
            if a is not None and b is not None:
                # Columns go budget by budget over the same packages. Gaps of a package count
                # together, so that packages with more defined budgets weigh no more.
                gaps[place % packages].append(abs(b - a))
    means = [float(sum(own, Fraction(0)) / len(own)) if own else math.nan for own in gaps]
    undefined = Counter(
        reason
        for budget in budgets
        for package in audit.packages
        if (reason := package.scores[name].optima[budget].undefined)
    )
    return Shift(
        budget=plain(budgets[0]) if len(budgets) == 1 else None,
        ratio_mad=_mean(mean_intervals(np.array(means)[:, None], counts)[0]),
        pairs=sum(map(len, gaps)),
        ranking=compare_rankings(audit.spec.writers, first, second),
        undefined=dict(sorted(undefined.items())),
    )


def _mean(interval: Interval) -> Mean:
    own = interval.if_several
    return Mean(
        packages=own.n, mean=rounded(own.mean), low=rounded(own.low), high=rounded(own.high)
    )


def compare_rankings(
    names: Sequence[str], first: Sequence[RatioColumn], second: Sequence[RatioColumn]
) -> Ranking:
    """Whether a ranking survives other labels: tau-b, rho, and the pairs that swap places.

    Stores are ranked by their mean ratio over packages. Both rankings use the packages where a
    store has a ratio under both label sets. Columns are per store, packages in the same order.
    """
    means: list[tuple[str, Fraction, Fraction]] = []
    for name, own, other in zip(names, first, second, strict=True):
        defined = [
            (a, b) for a, b in zip(own, other, strict=True) if a is not None and b is not None
        ]
        if defined:
            # Exact means: a tie is a tie, whatever the rounding of floats.
            sums = (sum(side, Fraction(0)) for side in zip(*defined, strict=True))
            own_mean, other_mean = (total / len(defined) for total in sums)
            means.append((name, own_mean, other_mean))
    own_means, other_means = [a for _, a, _ in means], [b for _, _, b in means]
    tau = exact_kendall(own_means, other_means)
    signs = {
        (a[0], b[0]): (sign(a[1] - b[1]), sign(a[2] - b[2])) for a, b in combinations(means, 2)
    }
    return Ranking(
        ranked=len(means),
        preserved=tau.same_order if len(means) > 1 else None,
        swapped=[pair for pair, (a, b) in signs.items() if a * b < 0],
        tied_under_one=[pair for pair, (a, b) in signs.items() if a != b and not a * b],
        tau_b=Correlation(value=rounded(tau.value)),
        spearman_rho=Correlation(value=rounded(exact_spearman(own_means, other_means))),
    )


def _means(audit: RatioAudit, store: str, budget: Fraction, counts: Floats) -> MeanRatios:
    columns = np.array(
        [
            [
                math.nan if value is None else float(value)
                for value in _column(audit, name, store, [budget])
            ]
            for name in audit.label_sets
        ]
    ).T
    missing: Counter[str] = Counter()
    for package in audit.packages:
        if (store, budget) in package.failed:
            missing[WRITER_FAILED] += 1
        elif reason := package.scores[PACKAGE].optima[budget].undefined:
            missing[reason] += 1
    return MeanRatios(
        store=store,
        budget=plain(budget),
        ratios=dict(
            zip(audit.label_sets, map(_mean, mean_intervals(columns, counts)), strict=True)
        ),
        missing=dict(sorted(missing.items())),
    )


def _package_data(package: PackageScores) -> dict[str, Any]:
    return {
        "stores": [
            {"store": name, "budget": plain(budget), "kept": list(ids)}
            for (name, budget), ids in package.stores.items()
        ],
        "failed": [
            {"store": name, "budget": plain(budget), "why": why}
            for (name, budget), why in package.failed.items()
        ],
        "label_sets": [
            {
                "name": name,
                "digest": scores.digest,
                "optima": [
                    {
                        "budget": plain(budget),
                        "value": plain(best.value),
                        "certified": best.certified,
                        "undefined": best.undefined,
                        "assumed_share": rounded(best.assumed),
                    }
                    for budget, best in scores.optima.items()
                ],
                "ratios": [
                    {
                        "store": store,
                        "budget": plain(budget),
                        "value": plain(scores.values[store, budget]),
                        "ratio": rounded(value),
                    }
                    for (store, budget), value in scores.ratios.items()
                ],
            }
            for name, scores in package.scores.items()
        ],
    }


def _counts(label_sets: Sequence[LabelSetShifts], rows: Sequence[MeanRatios]) -> Iterator[str]:
    """Cells and ratios that the tables leave out."""
    for own in label_sets:
        counts = {
            "labelled cannot_tell": own.cannot_tell,
            "of other packages": own.cells_of_other_packages,
            **{
                f"without a consensus ({NO_CONSENSUS[why]})": count
                for why, count in own.without_consensus.items()
            },
        }
        text = "; ".join(
            f"{counted(count, 'cell')} {what}" for what, count in counts.items() if count
        )
        if text:
            yield f"{own.name}: {text}"
    lost = sum(sum(row.missing.values()) for row in rows)
    undefined = sum(
        sum(shift.undefined.values())
        for own in label_sets
        for shift in own.shifts
        if shift.budget is not None
    )
    if lost or undefined:
        yield (
            f"undefined ratios: {lost:,} under the package's labels, {undefined:,} pairs of "
            "package and budget under label sets"
        )


def _notes_on_binary_labels(
    sources: Sequence[LabelSource], own: Mapping[str, CellLabels]
) -> Iterator[str]:
    """Sources that never use partial, and call full what the package calls partial."""
    for source in sources:
        cells = [
            (value, own[package].get(at, NOT_COVERED))
            for package, labels in source.labels.items()
            for at, value in labels.items()
        ]
        raised = sum(value == 1 and 0 < before < 1 for value, before in cells)
        if raised and all(value in (0, 1) for value, _ in cells):
            yield (
                f"{source.name} answers full or none, never partial: cells that the package calls "
                f"partial and {source.name} covered count as changed to full: {raised:,}; "
                "--two-labels compares covered or not"
            )
