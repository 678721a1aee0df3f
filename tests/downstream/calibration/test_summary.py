"""Three ways to correlate, on points where they differ."""

from itertools import product
from typing import Any

import pytest

from memaudit.downstream.calibration_points import TARGETS
from memaudit.downstream.calibration_summary import summarise


def point(package: str, writer: str, ratio: float | None, outcome: float) -> dict[str, Any]:
    """A point whose outcomes are all one number."""
    steps = dict.fromkeys(("kept_coverage", *TARGETS), outcome)
    return {"set": "s", "package": package, "budget": "1", "writer": writer, "ratio": ratio,
            **steps}  # fmt: skip


def correlation(points: list[dict[str, Any]], how: str) -> dict[str, Any]:
    """Of ratio and evidence recall."""
    (row,) = [
        row
        for row in summarise(points)["correlations"]
        if (row["target"], row["how"]) == ("evidence_recall", how)
    ]
    return row


EASY_AND_HARD = [
    # In each package a better ratio means worse recall; the easy package is better at both.
    *(point("hard", writer, at / 10, 0.3 - at / 10) for at, writer in enumerate("abc")),
    *(point("easy", writer, 0.7 + at / 10, 0.9 - at / 10) for at, writer in enumerate("abc")),
]  # fmt: skip


def test_pooling_can_turn_the_sign() -> None:
    """Within packages -1; of 15 pairs of all points the 9 across agree and 6 do not: 3 / 15."""
    within, pooled, means = (
        correlation(EASY_AND_HARD, how) for how in ("within", "pooled", "of means")
    )
    assert (within["n"], within["spearman"]["value"], within["kendall"]["value"]) == (2, -1, -1)
    assert pooled["n"] == 6
    assert pooled["kendall"]["value"] == pytest.approx(3 / 15)
    assert (means["n"], means["kendall"]["value"]) == (3, -1)
    assert within["kendall"]["ci_low"] == within["kendall"]["ci_high"] == -1


def test_undefined_cells_are_counted_out() -> None:
    """A package where all writers have one ratio says nothing; a point without is left out."""
    flat = [point("flat", writer, 1.0, at / 3) for at, writer in enumerate("abc")]
    gone = [point("hard", "d", None, 0.9)]
    found = summarise(EASY_AND_HARD + flat + gone)
    assert (found["points"], found["undefined"], found["sets"]) == (10, 1, {"s": 3})
    assert correlation(EASY_AND_HARD + flat + gone, "within")["n"] == 2
    assert correlation(flat, "within") == {
        "set": "s", "target": "evidence_recall", "how": "within", "n": 0,
        "spearman": {"value": None, "ci_low": None, "ci_high": None},
        "kendall": {"value": None, "ci_low": None, "ci_high": None},
    }  # fmt: skip


def test_intervals_go_over_packages() -> None:
    """Two packages of opposite order: each can be drawn alone, so the interval is all there is."""
    rows = [point("up", w, at, at) for at, w in enumerate("abc")]
    rows += [point("down", w, at, -at) for at, w in enumerate("abc")]
    within = correlation(rows, "within")["spearman"]
    assert (within["value"], within["ci_low"], within["ci_high"]) == (0, -1, 1)


def test_sets_stand_apart_and_together() -> None:
    """Packages of the same name in two sets are two packages."""
    rows = [one | {"set": name} for name, one in product("st", EASY_AND_HARD)]
    found = summarise(rows)
    assert found["sets"] == {"s": 2, "t": 2, "all": 4}
    assert len(found["correlations"]) == 3 * 3 * len(TARGETS)
    assert [one["target"] for one in found["partings"]] == ["evidence_recall", "answered"]
