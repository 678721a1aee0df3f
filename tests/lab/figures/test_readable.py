"""Texts neither touch nor leave the figure, whatever the writers are called and how many."""

import re

import numpy as np
import pytest

from memaudit.kernel.io.packages import example_package
from memaudit.kernel.package.package import Package
from memaudit.lab.figures.budget_sweep import budget_sweep
from memaudit.lab.figures.frontier_gap import frontier_gap
from memaudit.lab.figures.pipeline import ARROWS, PARTS, pipeline
from memaudit.lab.figures.stress_heatmap import stress_heatmap
from memaudit.lab.figures.validity_timeline import validity_timeline
from memaudit.lab.sweeps.generators.registry import DISTRIBUTIONS
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.lab.figures.drawing import Corners, assert_readable, overlap, summary_of

pytestmark = pytest.mark.slow

LONG = [f"a_writer_whose_name_is_far_too_long_for_any_figure_{i}" for i in range(12)]
EIGHT = [
    "base",
    "update_chain",
    "temporal_interval",
    "density_trap",
    "scope_shift",
    "redundancy_heavy",
    "summary_tradeoff",
    "a_distribution_with_a_very_long_name",
]
NAMES = [list(WRITERS)[:3], list(WRITERS)[:8], list(WRITERS)[-12:], LONG, list(WRITERS)]


def square(x: float, y: float) -> Corners:
    """A square of side 2 with its middle there."""
    corners: Corners = np.array([x, y]) + np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)], float)
    return corners


def test_the_collision_test_can_fail() -> None:
    """Boxes that share a corner region overlap, neighbours do not, nor do turned ones in a row."""
    assert overlap(square(0, 0), square(0.5, 0.5))
    assert not overlap(square(0, 0), square(2, 0))
    turned = square(0, 0) @ np.array([(0.6, 0.8), (-0.8, 0.6)])
    assert not overlap(turned, turned + (2, 0) @ np.array([(0.6, 0.8), (-0.8, 0.6)]))
    assert overlap(turned, turned + np.array((0.5, 0.5)))


@pytest.mark.parametrize("writers", NAMES, ids=["3", "8", "12", "long", "all"])
def test_budget_sweep(writers: list[str]) -> None:
    """One distribution has a name for every line; all lines may even end at one point."""
    texts = assert_readable(budget_sweep(summary_of(writers, ["base"], [1, 2, 4, 8, 16])))
    assert len({text for text in texts if "…" in text}) == (12 if writers is LONG else 0)
    same = summary_of(writers, ["base"], [1, 2], mean_ratio=1.0)
    assert_readable(budget_sweep(same))


@pytest.mark.parametrize(("writers", "many"), list(zip(NAMES, (2, 5, 8, 8), strict=False)))
def test_budget_sweep_panels(writers: list[str], many: int) -> None:
    texts = assert_readable(budget_sweep(summary_of(writers, EIGHT[-many:], [1, 2, 4, 8, 16])))
    assert texts.count("mean ratio to OPT") == 1
    assert "summary tradeoff" in texts


@pytest.mark.parametrize(("writers", "many"), list(zip(NAMES, (1, 8, 8, 3), strict=False)))
def test_stress_heatmap(writers: list[str], many: int) -> None:
    """Every cell has its text, defined or not."""
    summary = summary_of(writers, EIGHT[:many], [6], uncertified=1)
    summary["rows"][0]["mean_ratio"] = None
    texts = assert_readable(stress_heatmap(summary))
    assert texts.count("no proof") == 1
    assert sum(text.endswith("*") for text in texts) == len(writers) * many - 1


@pytest.mark.parametrize("budgets", [[6], [2, 6, 12], [*range(1, 10), "65/2"]])
def test_frontier_gap(budgets: list[int | str]) -> None:
    """A number at every bar of both panels."""
    texts = assert_readable(frontier_gap(summary_of(["opt", "no_tombstone_opt"], EIGHT, budgets)))
    numbers = [text for text in texts if re.fullmatch(r"\d+\.\d%", text)]
    assert len(numbers) == 8 * len(budgets)


def hostile() -> Package:
    """Long, mathematical and invisible texts in every field that is shown."""
    text = "$\\frac{1}{" + "\x1b[31m\u202e日本 word " * 40
    return Package.model_validate(
        {
            "name": text,
            "experiences": [{"id": f"e{i}", "text": text, "timestamp": text} for i in range(9)],
            "candidates": [
                {"id": f"c{i}.{j}", "experience": f"e{i}", "kind": text, "cost": 10**20 + j}
                for i in range(9)
                for j in range(6)
            ],
            "units": [{"id": f"{i}{text}", "kind": "stale", "weight": i + 1} for i in range(40)],
            "coverage": [{"candidate": "c0.1", "unit": f"7{text}", "value": "1/3"}],
        }
    )


def test_validity_timeline() -> None:
    """The bundled example, a published package with many units, and a hostile one."""
    assert_readable(validity_timeline(example_package(), 20))
    assert_readable(validity_timeline(DISTRIBUTIONS["temporal_interval"].package(0), 6))
    texts = assert_readable(validity_timeline(hostile(), 6))
    # Seven experiences of six candidates fill the 42 rows; of 40 units 26 have a column.
    assert "Not drawn: 2 later experiences, 14 units." in " ".join(reversed(texts))


def test_pipeline() -> None:
    """Every part is named; no arrow leaves the grid or skips over a box."""
    texts = assert_readable(pipeline())
    assert {part.name for part in PARTS.values()} <= set(texts)
    for start, end in ARROWS:
        a, b = PARTS[start], PARTS[end]
        assert abs(a.column - b.column) + abs(a.row - b.row) == 1
    places = [(part.column, part.row) for part in PARTS.values()]
    assert len(set(places)) == len(places)
