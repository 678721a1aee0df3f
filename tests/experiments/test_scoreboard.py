"""Published numbers beside ours."""

from pathlib import Path
from typing import Any

import pytest

from memaudit.experiments.engines.registry import named_engine
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summarise
from memaudit.experiments.sweep import run
from memaudit.reproduce.controlled import reproduce_controlled
from memaudit.reproduce.scoreboard import compared


@pytest.mark.parametrize(
    ("published", "ours", "verdict"),
    [
        ("0.523", 0.52349, "agree"),
        ("0.523", 0.52351, "differ"),
        ("2.00", 2.0, "agree"),
        ("2.00", 1.994, "differ"),
        ("0", 0.0, "agree"),
        ("0", 0.6, "differ"),
        ("0", 0.4, "differ"),
        ("0.0", 0.04, "differ"),
        ("0.000", 1e-9, "differ"),
        ("0.000", 0.0, "agree"),
        ("1", 1.4, "differ"),
        ("1200", 1200.0, "agree"),
        ("1200", 1199.6, "differ"),
        ("0.7", None, "differ"),
    ],
)
def test_agreement_is_to_the_printed_places(
    published: str, ours: float | None, verdict: str
) -> None:
    """As many places as the paper prints, no more; counts and zeros to the last place."""
    assert compared("here", "this", published, ours).verdict == verdict


def test_what_differs_is_seen_to_differ() -> None:
    """A number that would round to what was printed is shown in full."""
    assert compared("here", "this", "0.0", 0.04).ours == "0.04"
    assert compared("here", "this", "0.523", 0.61).ours == "0.610"


@pytest.mark.slow
def test_the_paper_comes_out(tmp_path: Path) -> None:
    """All 500 seeds; every number the paper states on controlled packages agrees."""

    def sweep(spec: RunSpec, folder: Path) -> dict[str, Any]:
        run(spec, folder, named_engine("processes"))
        return summarise(folder)

    lines = reproduce_controlled(tmp_path, sweep)
    assert len(lines) == 20
    assert [line for line in lines if line.verdict != "agree"] == []
    assert (tmp_path / "scoreboard.json").exists()
