"""Writers and exported stores across budgets, and what selection costs: the form of figure 4.

A writer chooses among the package's candidates, so its ratio is over OPT of the package. A store
has memories of its own, so its ratio is over OPT of the package with this store. The two are shown
together and never ranked together.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memaudit.board.denominators import WHOLE
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score import BEST
from memaudit.lab.figures.style import (
    LARGE,
    PAPER,
    PRINT_WIDTH,
    SMALL,
    axes_in,
    draw_line,
    fitted_name,
    head,
    head_height,
    house_style,
    line_handle,
    note,
    shown,
)
from memaudit.show import encoding
from memaudit.show.encoding import INK, looks

WRITERS = ("gvt", "estimated_gvt", "recency_raw")
"""The paper's lines, and a baseline."""

SELECTED = ("salience", "recency", "top")
"""The policy that is shown for a store: the first that it allows, as in the paper."""


@dataclass(frozen=True, slots=True)
class SideRow:
    """One writer or store at one budget: mean ratio with its interval, NaN where undefined."""

    name: str
    label: str
    kept_by: str
    is_store: bool
    budget: str
    n: int
    mean: float
    low: float
    high: float


def writer_rows(summary: Mapping[str, Any], writers: Sequence[str] = WRITERS) -> list[SideRow]:
    """The rows of a run's summary; the run is over one set of packages."""
    rows = summary["rows"]
    if len({row["distribution"] for row in rows}) > 1:
        raise MemAuditError(
            "the run is over several distributions; run memaudit run --packages PATH on the "
            "packages that were scored"
        )
    return [
        SideRow(
            row["writer"],
            _label(row["writer"]),
            "",
            False,
            str(row["budget"]),
            row["n"],
            *(_number(row[name]) for name in ("mean_ratio", "ci_low", "ci_high")),
        )
        for row in rows
        if row["writer"] in writers
    ]


def store_rows(denominators: Iterable[Mapping[str, Any]]) -> list[SideRow]:
    """Rows of stores by every way of keeping, over OPT of the package with the store."""
    return [
        SideRow(
            row["store"],
            row["store"],
            row["kept_by"],
            True,
            row["budget"],
            row["union_ratio"]["n"],
            *(_number(row["union_ratio"][name]) for name in ("mean", "ci_low", "ci_high")),
        )
        for row in denominators
        if row["kept_by"] != WHOLE
    ]


def selected(rows: Sequence[SideRow]) -> list[SideRow]:
    """Of every store the rows of one policy, and all rows of writers."""
    policy: dict[str, str] = {}
    for row in rows:
        if row.is_store and row.kept_by in SELECTED:
            known = policy.get(row.name, row.kept_by)
            policy[row.name] = min(known, row.kept_by, key=SELECTED.index)
    return [row for row in rows if not row.is_store or row.kept_by == policy.get(row.name)]


def best(rows: Sequence[SideRow]) -> list[SideRow]:
    """The best subset of every store."""
    return [row for row in rows if row.kept_by == BEST]


def budgets_of(rows: Sequence[SideRow]) -> list[str]:
    """Budgets that are costs, the smallest first; shares mean other costs for every package."""
    plain = {row.budget for row in rows if row.budget.replace(".", "", 1).isdecimal()}
    return sorted(plain, key=float)


LEFT, TITLE, FOOT, TALL, BETWEEN = 0.55, 0.28, 0.87, 2.6, 0.35
BARS = 1.9
"""Inches for the panel of bars."""

TEXT = (
    "Left: writers over OPT of the package, stores, cut by {policy}, over OPT of the package with "
    "the store; bands are 95% intervals. Right: the best subset of each store (hatched) shows what "
    "it wrote, the cut store (filled) what is kept."
)


@house_style()
def systems(rows: Sequence[SideRow]) -> Figure:
    """A line per writer and store, and two bars per store at the largest budget."""
    shown_rows, budgets = selected(rows), budgets_of(rows)
    if len(budgets) < 2:
        raise MemAuditError("writers and stores side by side need two budgets or more")
    labels = {row.name: row.label for row in shown_rows}
    styles = looks(labels)
    handles = [line_handle(label, styles[name]) for name, label in labels.items()]
    above = head_height(handles) + TITLE
    height = above + TALL + FOOT
    figure = Figure(figsize=(PRINT_WIDTH, height))
    wide = PRINT_WIDTH - LEFT - BETWEEN - BARS
    axes = axes_in(figure, LEFT, FOOT, wide, TALL)
    for name in labels:
        at = {row.budget: row for row in shown_rows if row.name == name}
        own = [at.get(budget) for budget in budgets]
        means, low, high = (
            [math.nan if row is None else getattr(row, part) for row in own]
            for part in ("mean", "low", "high")
        )
        places = list(range(len(budgets)))
        axes.fill_between(places, low, high, color=styles[name].colour, alpha=0.14, lw=0)
        draw_line(axes, places, means, styles[name], f"line/{name}")
    _frame(axes, budgets)
    _bars(
        axes_in(figure, PRINT_WIDTH - BARS, FOOT, BARS - 0.1, TALL), rows, shown_rows, budgets[-1]
    )
    head(figure, "Writers and exported stores against OPT", handles)
    note(figure, TEXT.format(policy=_cut_by(shown_rows)))
    return figure


def _bars(axes: Axes, rows: Sequence[SideRow], cut: Sequence[SideRow], budget: str) -> None:
    """Two bars per store, below its name."""
    upper = {row.name: row.mean for row in best(rows) if row.budget == budget}
    kept = {row.name: row.mean for row in cut if row.is_store and row.budget == budget}
    stores = sorted(upper, key=lambda name: -upper[name])
    styles = looks(dict.fromkeys(row.name for row in cut))
    for place, name in enumerate(stores):
        axes.text(0, place - 0.27, fitted_name(name, BARS, SMALL), fontsize=SMALL, va="bottom")
        for shift, found, is_best in ((-0.08, upper, True), (0.2, kept, False)):
            mean = found.get(name, math.nan)
            if math.isnan(mean):
                continue
            colour = styles[name].colour
            axes.barh(
                place + shift,
                mean,
                0.24,
                color=PAPER if is_best else colour,
                edgecolor=colour if is_best else INK,
                hatch="////" if is_best else "",
                linewidth=0.7,
                gid=shown(f"bar/{name}/{'best' if is_best else 'kept'}"),
            )
            axes.annotate(
                f"{mean:.2f}",
                (mean, place + shift),
                (3, 0),
                textcoords="offset points",
                va="center_baseline",
                fontsize=SMALL,
            )
    axes.set_ylim(len(stores) - 0.4, -0.65)
    axes.set_yticks([])
    axes.set_xlim(0, 1.1)
    axes.set_xticks([0, 0.5, 1.0])
    axes.set_xlabel("mean ratio to OPT")
    axes.grid(axis="x")
    axes.set_axisbelow(True)
    axes.set_title(f"Stores at budget {budget}", fontsize=LARGE, loc="left", pad=6)


def _cut_by(rows: Sequence[SideRow]) -> str:
    policies = dict.fromkeys(row.kept_by for row in rows if row.is_store)
    return " or ".join(policies) or "no policy"


def _frame(axes: Axes, budgets: Sequence[str]) -> None:
    axes.set_ylim(0, 1.06)
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    axes.set_xticks(range(len(budgets)), budgets)
    axes.set_xlim(-0.15, len(budgets) - 0.85)
    axes.set_xlabel("budget")
    axes.set_ylabel("mean ratio to OPT")
    axes.set_title("Across budgets", fontsize=LARGE, loc="left", pad=6)


def _label(writer: str) -> str:
    return {"opt": "OPT", **encoding.REFERENCES, **encoding.WRITERS}.get(writer, writer)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
