"""Correlations and disagreements, worked by hand."""

from itertools import product
from typing import Any

import pytest

from memaudit.lab.downstream.calibration import TARGETS, disagreements, summarise
from memaudit.lab.downstream.calibration_files import CALIBRATION_STEPS, PARTING_REASONS


def point(package: str, writer: str, ratio: float | None, outcome: float) -> dict[str, Any]:
    """A point whose outcomes are all one number."""
    steps = dict.fromkeys(("kept_coverage", *TARGETS), outcome)
    return {
        "set": "s",
        "package": package,
        "budget": "1",
        "writer": writer,
        "ratio": ratio,
        **steps,
    }


def correlation(points: list[dict[str, Any]], how: str) -> dict[str, Any]:
    """Of ratio and evidence recall."""
    (row,) = [
        dict(row)
        for row in summarise(points)["correlations"]
        if (row["target"], row["how"]) == ("evidence_recall", how)
    ]
    return row


EASY_AND_HARD = [
    # In each package a better ratio means worse recall; the easy package is better at both.
    *(point("hard", writer, at / 10, 0.3 - at / 10) for at, writer in enumerate("abc")),
    *(point("easy", writer, 0.7 + at / 10, 0.9 - at / 10) for at, writer in enumerate("abc")),
]


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
        "set": "s",
        "target": "evidence_recall",
        "how": "within",
        "n": 0,
        "spearman": {"value": None, "ci_low": None, "ci_high": None},
        "kendall": {"value": None, "ci_low": None, "ci_high": None},
    }


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


def stepped(
    writer: str, *steps: float | None, package: str = "p", budget: str = "1"
) -> dict[str, Any]:
    """A point with ratio, kept coverage, kept recall, evidence recall, answered."""
    return {
        "set": "s",
        "package": package,
        "budget": budget,
        "writer": writer,
        **dict(zip(CALIBRATION_STEPS, steps, strict=True)),
    }


def test_every_reason() -> None:
    """b is below a in ratio and overtakes it at one step; the step is the reason."""
    a = stepped("a", 0.9, 0.8, 0.7, 0.6, 0.5)
    later = {
        "kept_coverage": (0.2, 0.9, 0.7, 0.9, 0.9),
        "kept_recall": (0.2, 0.8, 0.9, 0.9, 0.9),
        "evidence_recall": (0.2, 0.7, 0.6, 0.9, 0.9),
        "answered": (0.2, 0.2, 0.2, 0.2, 0.9),
    }
    for step, numbers in later.items():
        found = disagreements([a, stepped("b", *numbers)], "answered")
        assert found["apart"] == {step: 1}
        assert found["largest"][0]["why"] == PARTING_REASONS[step]
    found = disagreements([a, stepped("b", *later["answered"])], "evidence_recall")
    assert (found["agree"], found["apart"]) == (1, {})


def test_pairs_of_one_cell_only() -> None:
    """Other packages and budgets are not compared; equal ratios are no pair, equal outcomes tie."""
    rows = [
        stepped("a", 0.9, 1, 1, 1.0, 1),
        stepped("b", 0.9, 1, 1, 0.5, 1),
        stepped("c", 0.1, 0, 0, 1.0, 0),
        stepped("c", 0.1, 0, 0, 1.0, 0, package="q"),
        stepped("d", 0.5, 0, 0, 0.2, 0, budget="2"),
        stepped("e", None, 0, 0, 0.2, 0),
        stepped("f", 0.7, 0, 0, None, 0),
    ]
    found = disagreements(rows, "evidence_recall")
    # a - c ties, b - c parts; e has no ratio and f no recall.
    assert (found["agree"], found["tied"], sum(found["apart"].values())) == (0, 1, 1)


def test_the_largest_of_each_package_first() -> None:
    """Sizes 0.8 · 0.5 = 0.4, and 0.1 · 0.9 = 0.09 elsewhere; the smaller one of p is not listed."""
    rows = [
        stepped("a", 0.9, 1, 1, 0.1, 0),
        stepped("b", 0.1, 0, 0, 0.6, 0),
        stepped("c", 0.8, 0, 0, 0.2, 0),
        stepped("a", 0.2, 1, 1, 0.0, 0, package="q"),
        stepped("b", 0.1, 0, 0, 0.9, 0, package="q"),
    ]
    found = disagreements(rows, "evidence_recall")
    assert [(one["package"], one["first"]["writer"]) for one in found["largest"]] == [
        ("p", "a"),
        ("q", "a"),
    ]
    assert found["largest"][0]["second"]["evidence_recall"] == pytest.approx(0.6)
