"""The score of every store over all budgets."""

from pathlib import Path

from matplotlib.figure import Figure

from memaudit.report.encoding import looks
from memaudit.report.figures.opt_frontiers import check_plot
from memaudit.report.figures.save import image_of, write_image
from memaudit.report.figures.style import (
    FAINT,
    LARGE,
    MUTED,
    PAPER,
    PRINT_WIDTH,
    house_style,
)
from memaudit.report.figures.text_layout import (
    ROW,
    LineEnd,
    fitted_name,
    inches,
    label_lines,
    label_room,
    note,
    shown,
)
from memaudit.scoring.result import ScoreResult
from memaudit.scoring.score_curve import Progress, ScoreCurve, score_curve

LEFT, BOTTOM, HEAD, NOTE = 0.75, 0.5, 0.36, 0.5

LEGEND = (
    "Lines: score; a store over budget is cut by {policy}.\n"
    "Thin lines: the best subset of each store. Markers: its own cost, where all of it fits.\n"
    "Grey: the share of OPT at the last budget that is possible at each budget."
)


@house_style()
def score_curve_figure(curve: ScoreCurve) -> Figure:
    """A line per store, labelled at its end."""
    names = [shown(one.store) for one in curve.stores]
    foot = BOTTOM + NOTE
    height = max(3.8, len(names) * ROW + HEAD + foot)
    right = label_room(names)
    figure = Figure(figsize=(PRINT_WIDTH, height))
    axes = figure.add_axes(
        (
            LEFT / PRINT_WIDTH,
            foot / height,
            (PRINT_WIDTH - LEFT - right) / PRINT_WIDTH,
            1 - (HEAD + foot) / height,
        )
    )
    axes.fill_between(curve.budgets, curve.optimum, color=FAINT, alpha=0.5, linewidth=0, gid="opt")
    ends = []
    styles = looks(one.store for one in curve.stores)
    for place, one in enumerate(curve.stores):
        style = styles[one.store]
        known = [
            (budget, score, best)
            for budget, score, best in zip(curve.budgets, one.scores, one.best, strict=True)
            if score is not None and best is not None
        ]
        budgets = [budget for budget, _, _ in known]
        axes.plot(
            budgets,
            [best for _, _, best in known],
            color=style.colour,
            linestyle=style.dash,
            linewidth=0.7,
            drawstyle="steps-post",
            gid=f"best/{one.store}",
        )
        axes.plot(
            budgets,
            [score for _, score, _ in known],
            color=style.colour,
            linestyle=style.dash,
            drawstyle="steps-post",
            gid=f"score/{one.store}",
        )
        own = [(budget, score) for budget, score, _ in known if budget >= one.cost][:1]
        axes.plot(
            [budget for budget, _ in own],
            [score for _, score in own],
            linestyle="none",
            marker=style.marker,
            color=style.colour,
            markeredgecolor=PAPER,
            markersize=6.5,
            clip_on=False,
            zorder=3,
            gid=f"own/{one.store}",
        )
        last = known[-1][1] if known else 0.0
        ends.append(LineEnd(names[place], last, style))
    axes.set_xlim(0, max(1, curve.budgets[-1]))
    axes.set_ylim(0, 1.04)
    axes.set_xlabel(f"budget ({curve.cost_rule})")
    axes.set_ylabel("score")
    axes.grid()
    axes.set_axisbelow(True)
    axes.axhline(1, color=MUTED, linewidth=0.8, gid="one")
    before = "Score over all budgets: "
    room = PRINT_WIDTH - LEFT - 0.15 - inches(before, LARGE)
    title = before + fitted_name(curve.package, room, LARGE)
    axes.set_title(title, fontsize=LARGE, loc="left")
    label_lines(figure, axes, ends)
    note(figure, LEGEND.format(policy=curve.policy))
    return figure


def write_score_curve(result: ScoreResult, path: Path, progress: Progress | None = None) -> None:
    """Draw a result's stores over all budgets, in the format of the file name."""
    check_plot(path)
    figure = score_curve_figure(score_curve(result, progress))
    write_image(image_of(figure, path.suffix.lower().removeprefix(".")), path)
