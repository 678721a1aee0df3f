"""What cells rest on."""

from fractions import Fraction

import pytest

from memaudit.kernel.package.objective import assumed_share
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import Ground, assumed_text, ground, is_estimate

F = Fraction


@pytest.mark.parametrize(
    ("provenance", "kind"),
    [
        (None, Ground.DECLARED),
        ("event graph", Ground.DECLARED),
        ("pass:first", Ground.JUDGED),
        ("labels:ann", Ground.JUDGED),
        ("model:x:coverage@1", Ground.JUDGED),
        ("calls:file", Ground.JUDGED),
        ("judged:Ann", Ground.JUDGED),
        ("exact:statement", Ground.EXACT),
        ("exact:inclusion", Ground.ASSUMED),
        ("exact:quote", Ground.ASSUMED),
        ("exact:pointer", Ground.ASSUMED),
        ("labels:cited-turn", Ground.ASSUMED),
        ("heuristic:lexical-v2", Ground.ASSUMED),
        ("dataset:pointer-v2", Ground.ASSUMED),
        ("assumed:not judged", Ground.ASSUMED),
    ],
)
def test_the_provenance_says_what_a_cell_rests_on(provenance: str | None, kind: Ground) -> None:
    assert ground(provenance) is kind


def test_the_assumed_share_is_what_is_lost_without_assumed_cells() -> None:
    """Of u a judged half and an assumed whole: without the whole, half of it is left."""
    package = Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e"}],
            "candidates": [{"id": id, "experience": "e", "kind": "f", "cost": 1} for id in "abc"],
            "units": [{"id": "u", "kind": "f", "weight": 3}, {"id": "v", "kind": "f", "weight": 1}],
            "coverage": [
                {"candidate": "a", "unit": "u", "value": 0.5, "provenance": "pass:x"},
                {"candidate": "b", "unit": "u", "value": 1, "provenance": "heuristic:x"},
                {"candidate": "c", "unit": "v", "value": 1},
            ],
        }
    )
    assert assumed_share(package, ["a", "b", "c"]) == 1 - (F(3, 2) + 1) / F(4)
    assert assumed_share(package, ["a"]) == 0
    assert assumed_share(package, ["b"]) == 1
    assert assumed_share(package, []) == 0


def test_more_than_a_tenth_is_an_estimate() -> None:
    assert not is_estimate([F(1, 10), F(0)])
    assert is_estimate([F(0), F(1, 9)])
    assert assumed_text(F(0)) == ""
    assert assumed_text(F(1, 20)) == "5.0% rests on assumed cells"
    assert assumed_text(F(1, 2)) == "50.0% rests on assumed cells, an ESTIMATE"
