"""Evidence against words, by hand."""

from typing import Any

import numpy as np
import pytest

from memaudit.downstream.summary import curve, depths
from memaudit.stats.intervals import draws


def row(retrieved: dict[str, str], *units: list[tuple[int | None, str]]) -> dict[str, Any]:
    """A row: memories with their texts, and for each unit who covers how much at which rank."""
    return {
        "retrieved": list(retrieved),
        "texts": retrieved,
        "evidence": [
            {"needs": 1, "memories": [{"rank": rank, "covers": covers} for rank, covers in unit]}
            for unit in units
        ],
    }


ROWS = [
    # Two halves at ranks 1 and 3; a whole one at rank 2; one that was not retrieved.
    row({"a": "one two", "b": "three", "c": "four five six"}, [(1, "1/2"), (3, "1/2")], [(2, "1")],
        [(None, "1")]),
    row({"a": "one"}, [(1, "1")]),
    row({}),
]  # fmt: skip


def test_points() -> None:
    """Words 2, 3, 6 and 1, 1, 1 and 0; recall 0, 1/3, 2/3 and 1, 1, 1; the third has none."""
    found = curve(ROWS, depths(ROWS), np.arange(3), draws(3))
    assert [point["first"] for point in found] == [1, 2, 3]
    assert [point["words"] for point in found] == pytest.approx([3 / 3, 4 / 3, 7 / 3])
    recalls = [point["evidence_recall"] for point in found]
    assert [one["mean"] for one in recalls] == pytest.approx([1 / 2, 2 / 3, 5 / 6])
    assert {one["n"] for one in recalls} == {2}
    assert recalls[0]["ci_low"] <= recalls[0]["mean"] <= recalls[0]["ci_high"]
    # With halves counted as halves: 1/6, 1/2, 2/3 of the first row.
    coverage = [point["evidence_coverage"]["mean"] for point in found]
    assert coverage == pytest.approx([7 / 12, 3 / 4, 5 / 6])


def test_nothing_retrieved() -> None:
    """No depth, no point; without evidence there is no recall."""
    assert curve([row({})], 0, np.zeros(1, int), draws(1)) == []
    (one,) = curve([row({"a": "one"})], 1, np.zeros(1, int), draws(1))
    assert one["evidence_recall"]["mean"] is None
