"""What stores keep against the tokens that writing them took, where providers reported them."""

from pathlib import Path

from matplotlib.figure import Figure

from memaudit.core.errors import MemAuditError
from memaudit.report.encoding import looks
from memaudit.report.figures.style import (
    LARGE,
    PAPER,
    PRINT_WIDTH,
    check_image,
    house_style,
    image_of,
    write_image,
)
from memaudit.report.figures.text_layout import fitted_name, inches, note, shown
from memaudit.scoring.result import ScoreResult
from memaudit.scoring.writing_cost import writing_cost

LEFT, BOTTOM, HEAD, HEIGHT = 0.75, 0.95, 0.36, 4.0


@house_style()
def tokens_figure(result: ScoreResult) -> Figure:
    """A line per store from budget to budget, at the tokens it took; the value is what is kept."""
    spent = {
        store.name: cost.tokens
        for store in result.exported
        if (cost := writing_cost(store, result.package.name)) is not None and cost.tokens
    }
    if not spent:
        raise MemAuditError(
            "no store says how many tokens its writing took; capture it with a provider that "
            "reports them"
        )
    figure = Figure(figsize=(PRINT_WIDTH, HEIGHT))
    axes = figure.add_axes(
        (
            LEFT / PRINT_WIDTH,
            BOTTOM / HEIGHT,
            1 - (LEFT + 0.3) / PRINT_WIDTH,
            1 - (HEAD + BOTTOM) / HEIGHT,
        )
    )
    styles, highest = looks(spent), 0.0
    for name, tokens in spent.items():
        style = styles[name]
        budgets: dict[float, list[str]] = {}
        for row in (row for row in result.rows if row.store == name):
            budgets.setdefault(float(row.numbers.kept.worth.value), []).append(row.at)
        highest = max(highest, *budgets)
        for value, at in budgets.items():
            axes.plot(
                [tokens],
                [value],
                linestyle="none",
                marker=style.marker,
                color=style.colour,
                markeredgecolor=PAPER,
                markersize=7,
                clip_on=False,
                zorder=3,
                gid=f"{name}/{' '.join(at)}",
            )
            axes.annotate(
                f"{shown(name)}, at {' and '.join(at)}",
                (tokens, value),
                xytext=(6, 3),
                textcoords="offset points",
                fontsize=7,
            )
    axes.set_xlim(0, 1.25 * max(spent.values()))
    axes.set_ylim(0, 1.15 * highest or 1)
    axes.set_xlabel("tokens that writing took, in and out, as reported")
    axes.set_ylabel("value kept within the budget")
    axes.grid()
    axes.set_axisbelow(True)
    before = "Value kept and tokens spent: "
    room = PRINT_WIDTH - LEFT - 0.15 - inches(before, LARGE)
    axes.set_title(
        before + fitted_name(result.package.name, room, LARGE), fontsize=LARGE, loc="left"
    )
    without = sorted({store.name for store in result.exported} - spent.keys())
    missing = f" Not reported: {', '.join(map(shown, without))}." if without else ""
    note(figure, f"A mark for each store and budget. Embeddings are not counted.{missing}")
    return figure


def write_tokens_figure(result: ScoreResult, path: Path) -> None:
    check_image(path)
    write_image(image_of(tokens_figure(result), path.suffix.lower().removeprefix(".")), path)
