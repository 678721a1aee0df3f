"""Ratios over each denominator, means over packages worked out by hand."""

from pathlib import Path
from typing import Any

from memaudit.board.denominators import WHOLE, denominator_rows
from memaudit.kernel.score.score_files import read_scores
from tests.show.board.scores import row, write


def scored(value: float, package: float, union: float) -> dict[str, Any]:
    """A row whose recency cut is worth `value`, over OPT 4 of the common union."""
    one = row("a", "1/2")
    part = {
        **one["kept"],
        "value": value,
        "ratio": value / 4,
        "package_ratio": package,
        "union_ratio": union,
    }
    return {**one, "policies": {"recency": part}, "written": {**one["written"], "value": 6.0}}


def test_means(tmp_path: Path) -> None:
    """Values 1 and 3; over the package 1/2 and 3/2, which may exceed 1; the whole store 6 / 4."""
    write(tmp_path, "p", scored(1.0, 0.5, 0.25))
    write(tmp_path, "q", scored(3.0, 1.5, 0.75))
    found = {one.kept_by: one for one in denominator_rows(read_scores(tmp_path))}
    kept = found["recency"]
    means = [one.mean for one in (kept.value, kept.package_ratio, kept.union_ratio, kept.ratio)]
    assert means == [2.0, 1.0, 0.5, 0.5]
    assert (kept.package_ratio.low, kept.package_ratio.high) == (0.5, 1.5)
    assert (found[WHOLE].value.mean, found[WHOLE].ratio.mean) == (6.0, 1.5)
