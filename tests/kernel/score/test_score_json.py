"""The JSON behind a score: a vendor can find the very units that were lost."""

from memaudit.kernel.score.score_json import cells_data, lost_data, package_scores_data
from tests.kernel.score.small_stores import meals_scores


def test_lost_units() -> None:
    """At budget 5: `ended` was never written, `once` has no room in the best subset and `now` was
    not chosen for it. At budget 0 there is no diagnosis."""
    scores = meals_scores(5, 7, 0)
    at_5, at_7, at_0 = ([lost_data(unit) for unit in row.lost] for row in scores)
    assert [(unit["unit"], unit["lost"], unit["step"]) for unit in at_5] == [
        ("ended", 3, "extraction"),
        ("once", 1, "cost"),
        ("now", 3, "selection"),
        ("once", -1, "selection"),
    ]
    assert [query["id"] for query in at_5[0]["asked_by"]] == ["q"]
    assert (at_5[0]["kind"], at_5[0]["weight"]) == ("supersession", 3)
    assert [unit["unit"] for unit in at_7] == ["ended"]
    assert at_0 == []


def test_cells() -> None:
    """Every cell that is not 0, in the order of writing; listed only where asked for."""
    scores = meals_scores(5)
    first, second = cells_data(scores)["long"]
    assert (first["id"], first["unit"], first["text"]) == ("m1", "once", "text of m1")
    assert (second["id"], second["unit"], second["value"]) == ("m2", "now", 1)
    data = package_scores_data(scores, cells=True)
    assert data["cells"] == cells_data(scores)
    assert data["scores"][0]["lost_units"] == [lost_data(unit) for unit in scores.rows[0].lost]
    without = package_scores_data(scores)
    assert "cells" not in without
    assert "lost_units" not in without["scores"][0]
