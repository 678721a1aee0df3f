"""Figures of diagnoses: readable, true to their numbers, the same every time."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.diagnosis_files import Outcome
from memaudit.lab.figures.failure_bars import failure_bars
from memaudit.lab.figures.recall_words import recall_words
from memaudit.lab.figures.registry import draw_downstream
from tests.lab.figures.drawing import assert_readable
from tests.lab.figures.test_values import by_gid

LONG = [f"a_store_whose_name_is_far_too_long_for_any_figure_{at}" for at in range(8)]
NAMES = [["gvt"], ["estimated_gvt", "full_raw", "raw_replay", "fifo"], LONG]
SPEC = {"budget": 9, "retriever": "bm25", "k": 3, "reader": "extractive"}


def summary(stores: list[str], spread: float = 1.0) -> dict[str, Any]:
    """A summary of stores, each with a piece of every outcome and a curve of three points."""

    def interval(mean: float) -> dict[str, float]:
        return {"n": 9, "mean": mean, "ci_low": mean - 0.05, "ci_high": mean + 0.05}

    return {
        "questions": 45,
        "packages": 3,
        "clusters": "packages",
        "spec": SPEC,
        "summaries": [
            {
                "store": name,
                "questions": 45,
                "outcomes": {one.value: at + 1 for at, one in enumerate(Outcome)},
                "curve": [
                    {
                        "first": at,
                        "words": 10.0 * at * spread**place,
                        "evidence_recall": interval(0.1 * at + 0.05 * place),
                        "evidence_coverage": interval(0.12 * at + 0.05 * place),
                    }
                    for at in (1, 2, 3)
                ],
            }
            for place, name in enumerate(stores)
        ],
    }


@pytest.mark.parametrize("stores", NAMES, ids=["1", "4", "long"])
def test_texts_do_not_meet(stores: list[str]) -> None:
    """Whatever the stores are called, however many, near or far apart."""
    texts = assert_readable(failure_bars(summary(stores)))
    assert {one.value.replace("_", " ") for one in Outcome} <= set(texts)
    for spread in (1.0, 2.0):
        assert_readable(recall_words(summary(stores, spread)))


def test_bars_are_the_counts() -> None:
    """Each piece is as wide as its share; the pieces of a store fill the bar; all nine differ."""
    bars = by_gid(failure_bars(summary(["gvt", "fifo"])), Rectangle)
    widths = {
        gid.split("/")[1]: bar.get_width() for gid, bar in bars.items() if gid.startswith("g")
    }
    assert widths == {one.value: pytest.approx((at + 1) / 45) for at, one in enumerate(Outcome)}
    assert sum(widths.values()) == pytest.approx(1)
    drawn = {(bar.get_facecolor(), bar.get_hatch()) for bar in bars.values()}
    assert len(drawn) == len(Outcome)


def test_curves_are_the_means() -> None:
    """Words along, evidence up, one line a store in both panels."""
    lines = by_gid(recall_words(summary(["gvt", "fifo"])), Line2D)
    assert list(lines["fifo/evidence_recall"].get_xdata()) == [10, 20, 30]
    assert list(lines["fifo/evidence_recall"].get_ydata()) == pytest.approx([0.15, 0.25, 0.35])
    assert list(lines["fifo/evidence_coverage"].get_ydata()) == pytest.approx([0.17, 0.29, 0.41])
    assert len({line.get_marker() for line in lines.values()}) == 2


def test_nothing_retrieved_is_said() -> None:
    empty = summary(["gvt"])
    empty["summaries"][0]["curve"] = []
    with pytest.raises(MemAuditError, match="recall is undefined"):
        recall_words(empty)


def test_files(diagnosis: Path, tmp_path: Path) -> None:
    """PNG, SVG and PDF of each, named by the folder; the same bytes the second time."""
    drawn = draw_downstream(diagnosis, tmp_path / "a")
    assert {path.name for path in drawn.files} == {
        f"small-{name}.{form}"
        for name in ("failure_bars", "recall_words")
        for form in ("png", "svg", "pdf")
    }
    assert drawn.skipped == ()
    again = draw_downstream(diagnosis, tmp_path / "b")
    assert [path.read_bytes() for path in drawn.files] == [
        path.read_bytes() for path in again.files
    ]
    with pytest.raises(MemAuditError, match="cannot draw 'gif'"):
        draw_downstream(diagnosis, tmp_path / "c", ("gif",))
