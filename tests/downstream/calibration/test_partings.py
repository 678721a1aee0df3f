"""Where orders part, by hand."""

from typing import Any

import pytest

from memaudit.formats.calibration_files import CALIBRATION_STEPS
from memaudit.downstream.calibration_summary import partings
from memaudit.formats.calibration_files import PARTING_REASONS


def point(
    writer: str, *steps: float | None, package: str = "p", budget: str = "1"
) -> dict[str, Any]:
    """A point with ratio, kept coverage, kept recall, evidence recall, answered."""
    return {"set": "s", "package": package, "budget": budget, "writer": writer,
            **dict(zip(CALIBRATION_STEPS, steps, strict=True))}  # fmt: skip


def test_every_reason() -> None:
    """b is below a in ratio and overtakes it at one step; the step is the reason."""
    a = point("a", 0.9, 0.8, 0.7, 0.6, 0.5)
    later = {
        "kept_coverage": (0.2, 0.9, 0.7, 0.9, 0.9),
        "kept_recall": (0.2, 0.8, 0.9, 0.9, 0.9),
        "evidence_recall": (0.2, 0.7, 0.6, 0.9, 0.9),
        "answered": (0.2, 0.2, 0.2, 0.2, 0.9),
    }
    for step, numbers in later.items():
        found = partings([a, point("b", *numbers)], "answered")
        assert found["apart"] == {step: 1}
        assert found["largest"][0]["why"] == PARTING_REASONS[step]
    found = partings([a, point("b", *later["answered"])], "evidence_recall")
    assert (found["agree"], found["apart"]) == (1, {})


def test_pairs_of_one_cell_only() -> None:
    """Other packages and budgets are not compared; equal ratios are no pair, equal outcomes tie."""
    rows = [
        point("a", 0.9, 1, 1, 1.0, 1),
        point("b", 0.9, 1, 1, 0.5, 1),
        point("c", 0.1, 0, 0, 1.0, 0),
        point("c", 0.1, 0, 0, 1.0, 0, package="q"),
        point("d", 0.5, 0, 0, 0.2, 0, budget="2"),
        point("e", None, 0, 0, 0.2, 0),
        point("f", 0.7, 0, 0, None, 0),
    ]
    found = partings(rows, "evidence_recall")
    # a - c ties, b - c parts; e has no ratio and f no recall.
    assert (found["agree"], found["tied"], sum(found["apart"].values())) == (0, 1, 1)


def test_the_largest_of_each_package_first() -> None:
    """Sizes 0.8 · 0.5 = 0.4, and 0.1 · 0.9 = 0.09 elsewhere; the smaller one of p is not listed."""
    rows = [
        point("a", 0.9, 1, 1, 0.1, 0), point("b", 0.1, 0, 0, 0.6, 0), point("c", 0.8, 0, 0, 0.2, 0),
        point("a", 0.2, 1, 1, 0.0, 0, package="q"), point("b", 0.1, 0, 0, 0.9, 0, package="q"),
    ]  # fmt: skip
    found = partings(rows, "evidence_recall")
    assert [(one["package"], one["first"]["writer"]) for one in found["largest"]] == [
        ("p", "a"), ("q", "a"),
    ]  # fmt: skip
    assert found["largest"][0]["second"]["evidence_recall"] == pytest.approx(0.6)
