"""What a figure really draws: its texts and where they stand, with matplotlib's own renderer."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from memaudit.lab.figures.style import PRINT_WIDTH, SMALL, house_style

Corners = NDArray[np.float64]


def drawn_texts(figure: Figure) -> list[tuple[Text, Corners]]:
    """Every text that is drawn, with the corners of its box in pixels, turned as it is."""
    seen: list[Text] = []
    draw = Text.draw

    def spy(text: Text, renderer: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            seen.append(text)
        draw(text, renderer)

    with house_style(), patch.object(Text, "draw", spy):
        canvas: Any = FigureCanvasAgg(figure)  # matplotlib has no types for its methods
        canvas.draw()
        return [(text, _corners(text, canvas.get_renderer())) for text in seen]


def _corners(text: Text, renderer: Any) -> Corners:
    box = text.get_window_extent(renderer)
    turn = text.get_rotation()
    text.set_rotation(0)
    flat = text.get_window_extent(renderer)
    text.set_rotation(turn)
    across = np.array([np.cos(np.radians(turn)), np.sin(np.radians(turn))]) * flat.width / 2
    up = np.array([-np.sin(np.radians(turn)), np.cos(np.radians(turn))]) * flat.height / 2
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    corners: Corners = middle + np.array([across + up, across - up, -across - up, up - across])
    return corners


def overlap(first: Corners, second: Corners, slack: float = 0.75) -> bool:
    """Whether two turned boxes overlap by more than a hair: no line separates them."""
    for box in (first, second):
        for edge in (box[0] - box[1], box[1] - box[2]):
            length = float(np.hypot(*edge))
            if not length:
                continue
            axis = edge / length
            a, b = first @ axis, second @ axis
            if a.max() - slack <= b.min() or b.max() - slack <= a.min():
                return False
    return True


def assert_readable(figure: Figure) -> list[str]:
    """No text on another, none outside, none too small for print; what is written."""
    found = drawn_texts(figure)
    width, height = figure.get_size_inches() * figure.dpi
    assert figure.get_size_inches()[0] <= PRINT_WIDTH + 1e-9
    for text, box in found:
        inside = (
            box.min() >= -0.5 and box[:, 0].max() <= width + 0.5 and box[:, 1].max() <= height + 0.5
        )
        assert inside, f"outside the figure: {text.get_text()!r}"
        assert float(text.get_fontsize()) >= SMALL, f"too small: {text.get_text()!r}"
    for (one, box), (other, other_box) in combinations(found, 2):
        assert not overlap(box, other_box), f"{one.get_text()!r} on {other.get_text()!r}"
    return [text.get_text() for text, _ in found]


def summary_of(
    writers: Sequence[str],
    distributions: Sequence[str],
    budgets: Sequence[int | float | str],
    **changes: Any,
) -> dict[str, Any]:
    """A summary in the form runs have; ratios fall from writer to writer and rise with budgets."""
    rows = [
        {
            "distribution": name,
            "budget": budget,
            "writer": writer,
            "n": 9,
            "mean_ratio": round(ratio := (b + 1) / len(budgets) / (1 + w / 4 + d / 50), 6),
            "ci_low": round(ratio * 0.9, 6),
            "ci_high": round(min(1, ratio * 1.05), 6),
            "mean_value": round(10 * ratio, 6),
            "zero_optimum": 0,
            "uncertified": 0,
            "failed": 0,
            **changes,
        }
        for d, name in enumerate(distributions)
        for b, budget in enumerate(budgets)
        for w, writer in enumerate(writers)
    ]
    return {
        "format": "memaudit-summary",
        "version": 1,
        "bootstrap": {"resamples": 2000, "level": 0.95, "over": "packages"},
        "rows": rows,
    }
