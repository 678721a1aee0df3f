"""How results show themselves in a notebook: data frames, HTML tables, small pictures as SVG.

All texts are escaped: those of memories and conversations are anybody's.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from memaudit.kernel.errors import MissingTool
from memaudit.kernel.losses import KEPT, LOSS_STEPS

Frame = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""The names of columns, and rows."""

MOST_ROWS = 100
"""Rows that an HTML table shows; the others are counted."""

WIDTH, HEIGHT = 640, 200
LEFT, BOTTOM, MARGIN = 56, 32, 10
INK, LINE = "currentColor", "#0b6fb8"


def to_frame(frame: Frame) -> Any:
    """A pandas data frame, where pandas is installed."""
    try:
        import pandas
    except ImportError:
        raise MissingTool("to_frame needs pandas: pip install pandas") from None
    names, rows = frame
    return pandas.DataFrame([list(row) for row in rows], columns=list(names))


def html_text(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def html_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = html_text(f"and {len(rows) - MOST_ROWS:,} more rows") if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) > 1 else f"{value:.3f}"
    return str(value)


def waterfall(kept: Fraction, losses: Mapping[str, Fraction]) -> str:
    """From 1, which is OPT, down to what is kept: a bar per loss."""
    parts = [*((LOSS_STEPS[name], share) for name, share in losses.items()), (KEPT, kept)]
    row, left = 26, 110
    # Room on the right for the percentage beside the longest bar.
    full = WIDTH - left - 70
    bars, start = [], 1.0
    for place, (step, share) in enumerate(parts):
        wide = float(share)
        # A loss hangs below the one before it; what is kept stands on the ground again.
        x = 0.0 if step is KEPT else start - wide
        start = x
        y = place * row + 6
        bars.append(
            f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(step.name)}</text>'
            f'<rect x="{left + x * full:.1f}" y="{y}" width="{max(wide * full, 1):.1f}" '
            f'height="{row - 8}" fill="{step.colour}"/>'
            f'<text x="{left + (x + wide) * full + 6:.1f}" y="{y + 13}">{wide:.1%}</text>'
        )
    return _svg(row * len(parts) + 10, bars, "losses from OPT down to what is kept")


def step_line(points: Sequence[tuple[float, float]], across: str, up: str) -> str:
    """A curve that rises in steps, with its axes named."""
    if not points:
        return ""
    most_x = max(points[-1][0], 1.0)
    most_y = max(max(y for _, y in points), 1e-9)
    wide, high = WIDTH - LEFT - MARGIN, HEIGHT - BOTTOM - MARGIN

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + x / most_x * wide, MARGIN + (1 - y / most_y) * high

    path = []
    for at, (x, y) in enumerate(points):
        left, top = place(x, y)
        path.append(f"M{left:.1f} {top:.1f}" if at == 0 else f"H{left:.1f}V{top:.1f}")
    base = HEIGHT - BOTTOM
    drawn = [
        f'<path d="{"".join(path)}" fill="none" stroke="{LINE}" stroke-width="2"/>',
        f'<path d="M{LEFT} {MARGIN}V{base}H{WIDTH - MARGIN}" fill="none" stroke="{INK}"/>',
        f'<text x="{LEFT - 6}" y="{MARGIN + 10}" text-anchor="end">{most_y:.4g}</text>',
        f'<text x="{LEFT - 6}" y="{base}" text-anchor="end">0</text>',
        f'<text x="{WIDTH - MARGIN}" y="{base + 16}" text-anchor="end">{most_x:,.0f}</text>',
        f'<text x="{LEFT}" y="{base + 16}">{escape(across)}</text>',
        f'<text x="{LEFT + 8}" y="{MARGIN + 10}">{escape(up)}</text>',
    ]
    return _svg(HEIGHT, drawn, f"{up} by {across}")


def _svg(height: int, parts: Iterable[str], label: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(label)}" '
        f'font-family="sans-serif" font-size="13" fill="{INK}">{"".join(parts)}</svg>'
    )
