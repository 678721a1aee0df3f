"""What `audit ratios --json` writes, and its tables in the terminal and on pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memaudit.kernel.io.file_model import ExactText, FileModel
from memaudit.kernel.number_text import fixed, ratio, with_interval
from memaudit.lab.labels.frame import PACKAGE
from memaudit.show.columns import Column, column

RATIOS: Literal["memaudit-label-ratios"] = "memaudit-label-ratios"


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
    column("label set", lambda row: row.label_set.title, words=True),
    column("cells", lambda row: row.label_set.judged_cells, show="{:,}".format),
    column(
        "cells changed",
        lambda row: row.label_set.changed_cells,
        short="changed",
        show="{:,}".format,
    ),
    column("budget", lambda row: budget_text(row.shift.budget)),
    column("ratio MAD", lambda row: row.shift.ratio_mad, show=mad_text),
    column("ranking", lambda row: row.shift.ranking.text, words=True),
    column("Kendall's tau", lambda row: row.shift.ranking.tau_b.value, short="tau", show=ratio),
    column(
        "Spearman's rho",
        lambda row: row.shift.ranking.spearman_rho.value,
        short="rho",
        show=ratio,
    ),
]


def mean_columns(label_sets: Sequence[str]) -> list[Column[MeanRatios]]:
    """The table of mean ratios under each label set, for the page."""

    def of_label_set(name: str) -> Column[MeanRatios]:
        return column(
            "package's labels" if name == PACKAGE else name,
            lambda row: row.ratios.get(name),
            show=lambda mean: with_interval(mean.mean, mean.low, mean.high),
        )

    return [
        column("store", lambda row: row.store, words=True),
        column("budget", lambda row: row.budget),
        *map(of_label_set, (PACKAGE, *label_sets)),
    ]
