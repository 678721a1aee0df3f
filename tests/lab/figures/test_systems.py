"""Writers and stores side by side: which rows are taken, and the picture of them."""

from pathlib import Path

import pytest

from memaudit.board.denominators import denominator_rows, denominators_data
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score_files import read_scores
from memaudit.lab.figures.systems import (
    best,
    budgets_of,
    selected,
    store_rows,
    systems,
    writer_rows,
)
from tests.show.board.scores import row, write


def summary(*distributions: str) -> dict[str, object]:
    """A run's summary with two writers at two budgets."""
    return {
        "rows": [
            {
                "distribution": name,
                "writer": writer,
                "budget": budget,
                "n": 2,
                "mean_ratio": mean,
                "ci_low": 0.1,
                "ci_high": 0.9,
            }
            for name in distributions
            for budget in (10, 20)
            for writer, mean in (("gvt", 0.8), ("opt", 1.0))
        ]
    }


def test_rows_and_picture(tmp_path: Path) -> None:
    """Stores by their first policy, beside the writers that the paper draws."""
    for name, kept in (("p", "1/2"), ("q", "1")):
        write(
            tmp_path, name, *(row(*it, at) for at in (10, 20) for it in (("a", kept), ("b", "1/4")))
        )
    entries = read_scores(tmp_path)
    found = denominators_data(denominator_rows(entries))
    assert {(one["store"], one["kept_by"]) for one in found} == {
        (store, way) for store in "ab" for way in ("whole store", "recency", "best subset")
    }
    rows = [*writer_rows(summary("here")), *store_rows(found)]
    shown = [(one.label, one.kept_by) for one in selected(rows) if one.budget == "10"]
    assert shown == [("GVT", ""), ("a", "recency"), ("b", "recency")]
    assert {one.name for one in best(rows)} == {"a", "b"}
    assert budgets_of(rows) == ["10", "20"]
    figure = systems(rows)
    lines = {line.get_gid() for axes in figure.axes for line in axes.lines}
    assert {"line/gvt", "line/a", "line/b"} <= lines


def test_means_over_other_packages_are_refused() -> None:
    with pytest.raises(MemAuditError, match="several distributions"):
        writer_rows(summary("here", "there"))
