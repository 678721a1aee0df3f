"""What a score knows about one unit or one memory."""

import pytest

from memaudit.cli.explanation import explanation
from tests.kernel.score.small_stores import meals_scores


def test_a_unit_explained() -> None:
    """Who covers it, in the store and in the package, and what became of it at each budget."""
    data = explanation("now", meals_scores(5, 7, 0))
    unit = data["unit"]
    assert data["memories"] == []
    assert (unit["kind"], unit["weight"]) == ("current", 3)
    assert [query["id"] for query in unit["queries"]] == ["q"]
    (row,) = unit["memories"]
    assert (row["store"], row["id"], row["value"]) == ("long", "m2", 1)
    assert [(row["store"], row["id"]) for row in unit["candidates"]] == [(None, "both")]
    assert [(row["budget"], row["kept"], row["parts"]) for row in unit["scores"]] == [
        (5, 0, {"selection": 3}),
        (7, 3, {}),
        (0, None, None),
    ]


@pytest.mark.parametrize("id", ["m2", "long/m2"])
def test_a_memory_explained(id: str) -> None:
    """By its own id or as a candidate: what it covers, and when it was kept."""
    data = explanation(id, meals_scores(5, 7))
    assert data["unit"] is None
    (memory,) = data["memories"]
    assert (memory["store"], memory["memory"], memory["cost"]) == ("long", "m2", 5)
    assert [(cell["unit"], cell["value"]) for cell in memory["cells"]] == [("now", 1)]
    assert memory["scores"] == [
        {"budget": 5, "in_best_subset": True, "kept": False},
        {"budget": 7, "in_best_subset": True, "kept": True},
    ]
