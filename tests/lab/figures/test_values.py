"""Figures show the numbers of their results, and say what is missing."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Package
from memaudit.lab.figures.budget_sweep import budget_sweep
from memaudit.lab.figures.frontier_gap import frontier_gap
from memaudit.lab.figures.stress_heatmap import ratio_text, stress_heatmap, text_on
from memaudit.lab.figures.validity_timeline import LARGEST, timeline_table, validity_timeline
from tests.lab.figures.drawing import summary_of

WRITERS = ["opt", "gvt", "no_tombstone_opt"]


def by_gid(figure: Figure, kind: type) -> dict[str, Any]:
    """The artists of a kind that carry an id."""
    return {gid: artist for artist in figure.findobj(kind) if (gid := artist.get_gid())}


def test_sweep_lines_are_the_means() -> None:
    """Heights are the summary's means in order of budgets, with a gap where there is none."""
    summary = summary_of(WRITERS, ["base"], [10, 2, "5/2"])
    summary["rows"][1]["mean_ratio"] = None  # gvt at budget 10, the largest
    lines = by_gid(budget_sweep(summary), Line2D)
    assert set(lines) == set(WRITERS)
    rows = {(row["writer"], row["budget"]): row["mean_ratio"] for row in summary["rows"]}
    for writer in ("opt", "no_tombstone_opt"):
        assert list(lines[writer].get_ydata()) == [rows[writer, b] for b in (2, "5/2", 10)]
    gvt = list(lines["gvt"].get_ydata())
    assert gvt[:2] == [rows["gvt", 2], rows["gvt", "5/2"]]
    assert math.isnan(gvt[2])


def test_sweep_bands_are_the_intervals() -> None:
    """The band's outline goes through both ends of every interval."""
    summary = summary_of(["gvt"], ["base"], [2, 4])
    (band,) = budget_sweep(summary).axes[0].collections
    corners = np.asarray(band.get_paths()[0].vertices)
    heights = {round(float(y), 6) for y in corners[:, 1]}
    ends = {row[end] for row in summary["rows"] for end in ("ci_low", "ci_high")}
    assert heights == ends


def test_sweep_panels() -> None:
    """With several distributions nothing is averaged: each panel has its own means."""
    summary = summary_of(WRITERS, ["base", "update_chain"], [2, 4])
    figure = budget_sweep(summary)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["base", "update chain"]
    for axes, name in zip(figure.axes, ("base", "update_chain"), strict=True):
        (line,) = [line for line in axes.get_lines() if line.get_gid() == "gvt"]
        wanted = [
            row["mean_ratio"]
            for row in summary["rows"]
            if (row["distribution"], row["writer"]) == (name, "gvt")
        ]
        assert np.asarray(line.get_ydata()).tolist() == wanted


def test_heatmap_cells() -> None:
    """Numbers and colours of the asked budget; reasons where there is no number."""
    summary = summary_of(WRITERS, ["base", "x"], [2, 6])
    at6 = [row for row in summary["rows"] if row["budget"] == 6]
    at6[1].update(mean_ratio=None, zero_optimum=9)
    at6[2].update(mean_ratio=None, failed=9)
    at6[3].update(mean_ratio=0.25, uncertified=1)
    summary["rows"].remove(at6[5])
    figure = stress_heatmap(summary)
    texts = {gid: text.get_text() for gid, text in by_gid(figure, Text).items()}
    assert texts == {
        "opt/base": "1.000",
        "gvt/base": "OPT = 0",
        "no_tombstone_opt/base": "failed",
        "opt/x": "0.250*",
        "gvt/x": f"{at6[4]['mean_ratio']:.3f}",
    }
    cells = [p for p in figure.axes[0].patches if isinstance(p, Rectangle)]
    assert [cell.get_xy() for cell in cells if cell.get_hatch()] == [(0, 1), (0, 2), (1, 2)]
    shades = {cell.get_xy(): cell.get_facecolor() for cell in cells}
    assert shades[1, 0] == colormaps["cividis"](0.25)


def test_ratio_below_one_never_reads_as_one() -> None:
    """Rounding must not turn a loss into an optimum."""
    assert [ratio_text(r) for r in (1.0, 0.9996, 0.9994, 0.0)] == [
        "1.000",
        "<1.000",
        "0.999",
        "0.000",
    ]


def test_text_contrast() -> None:
    """On every shade of the map the text contrasts by at least 3.9 to 1, and greys rise."""

    def luminance(colour: Any) -> float:
        parts: list[float] = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    shades = [colormaps["cividis"](i / 100) for i in range(101)]
    greys = [luminance(shade) for shade in shades]
    assert greys == sorted(greys)
    for shade in shades:
        text = text_on(shade)
        ink = luminance([int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        light, dark = sorted((ink, luminance(shade)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3.9


def test_gap_bars() -> None:
    """By hand: 8 - 6 = 2. The share is that of the mean ratio, 1 - 0.7, not of the means, 1/4.
    Where OPT is 0 there is no share."""
    summary = summary_of(["opt", "no_tombstone_opt"], ["base"], [2, 4])
    for row, value in zip(summary["rows"], (8.0, 6.0, 0.0, 0.0), strict=True):
        row["mean_value"] = value
    for row, mean in zip(summary["rows"], (1.0, 0.7, None, None), strict=True):
        row["mean_ratio"] = mean
    figure = frontier_gap(summary)
    widths, share = (
        [bar.get_width() for bar in axes.patches if isinstance(bar, Rectangle)]
        for axes in figure.axes
    )
    assert widths == [2.0, 0.0]
    assert share == [pytest.approx(0.3), 0.0]
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert texts == [["2.00", "0.00"], ["30.0%", "OPT = 0"]]
    hatches = [bar.get_hatch() for bar in figure.axes[0].patches]
    assert len(set(hatches)) == 2


def test_timeline_marks(tiny: Package) -> None:
    """By hand at budget 3: m1 and m3 cover both units whole; m2 would cover half of one."""
    figure = validity_timeline(tiny, 3)
    sizes = {gid: dot.get_markersize() for gid, dot in by_gid(figure, Line2D).items()}
    other = 0.62 * LARGEST
    assert sizes == pytest.approx(
        {
            "m1/u1": other,
            "m2/u1": other * 0.5**0.5,
            "m3/u2": LARGEST,
            "OPT/u1": other,
            "OPT/u2": LARGEST,
        }
    )
    weights = {gid: text.get_fontweight() for gid, text in by_gid(figure, Text).items()}
    assert weights == {"m1": "bold", "m2": "normal", "m3": "bold"}
    title = "tiny: OPT at budget 3 keeps 2 of 3 candidates, value 3, certified"
    assert title in [text.get_text() for text in figure.texts]


def test_timeline_order(tiny: Package) -> None:
    """Units that say what is true now come first; experiences come by their index."""
    swapped = tiny.replace(
        experiences=tuple(
            one.model_copy(update={"index": 1 - one.index}) for one in tiny.experiences
        )
    )
    table = timeline_table(swapped, 3)
    assert [unit.id for unit in table.units] == ["u2", "u1"]
    assert [step.experience.id for step in table.steps] == ["e2", "e1"]
    assert table.covered == {"u1": Fraction(1), "u2": Fraction(1)}


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (lambda: budget_sweep({}), "cannot draw: the file is not a summary of format"),
        (lambda: budget_sweep(summary_of([], [], [])), "cannot draw: the summary has no rows"),
        (
            lambda: stress_heatmap(summary_of(["opt"], ["base"], [1, 2])),
            "no results at budget 6; the budgets are 1, 2",
        ),
        (
            lambda: frontier_gap(summary_of(["opt"], ["base"], [1])),
            "no mean value of writer 'no_tombstone_opt' for 'base' at budget 1",
        ),
        (
            lambda: budget_sweep(summary_of(["opt"], ["base"], [1], mean_ratio="high")),
            "cannot draw: summary row 0, mean_ratio: ",
        ),
        (
            lambda: budget_sweep(summary_of(["opt"], ["base"], ["six"])),
            "cannot draw: summary row 0, budget: ",
        ),
        (
            lambda: budget_sweep(summary_of(["opt", "opt"], ["base"], [1])),
            "cannot draw: two summary rows for writer 'opt'",
        ),
    ],
)
def test_missing_data_is_one_line(make: Any, line: str) -> None:
    with pytest.raises(MemAuditError) as error:
        make()
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)
