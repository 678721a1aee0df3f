"""The numbers of an audit of ratios: changes, rankings, and mean ratios by label set.

Bootstrap intervals draw packages with replacement; with fewer than two packages there are none.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.provenance import assumed_text
from memaudit.kernel.stats.bootstrap import Floats, Interval, mean_intervals, resample_counts
from memaudit.kernel.words.text import counted
from memaudit.lab.labels.frame import PACKAGE
from memaudit.lab.labels.label_sources import LabelSource
from memaudit.lab.labels.ratio_audit import PackageScores, RatioAudit
from memaudit.lab.labels.ratio_file import (
    Correlation,
    LabelSetShifts,
    Mean,
    MeanRatios,
    Ranking,
    RatioAuditFile,
    Shift,
)
from memaudit.lab.labels.relabelling import NOT_COVERED, CellLabels, own_values
from memaudit.lab.studies.rank_correlation import exact_kendall, exact_spearman, sign

WRITER_FAILED = "writer failed"
NO_CONSENSUS = {
    "missing": "fewer than two annotators labelled them",
    "cannot_tell": "an annotator answered cannot_tell",
    "disagreed": "annotators disagree",
}
"""Why there is no consensus."""


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
