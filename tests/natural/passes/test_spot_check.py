"""The sample of cells and its agreement, and who may check whom."""

from collections import Counter
from fractions import Fraction

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.natural.passes.coverage import Cell, Cells, SpotCheck, sample
from memaudit.natural.passes.recipe import ModelRecipe

FULL, PARTIAL, NONE = Cell("full", ""), Cell("partial", ""), Cell("none", "")
CELLS: Cells = {
    **{(f"m{i}", "u1"): FULL for i in range(4)},
    **{(f"m{i}", "u2"): PARTIAL for i in range(1)},
    **{(f"m{i}", "u3"): NONE for i in range(11)},
    ("m0", "u4"): None,
}


def test_a_share_of_every_label_rounded_up() -> None:
    """A fifth of 4, 1 and 11 is 1, 1 and 3; undecided cells have no label to check."""
    chosen = sample(CELLS, Fraction(1, 5), 0, "x")
    assert Counter(unit for _, unit in chosen) == {"u1": 1, "u2": 1, "u3": 3}
    assert sample(CELLS, Fraction(1), 0, "x") == CELLS.keys() - {("m0", "u4")}


def test_the_order_of_cells_does_not_matter_but_the_seed_does() -> None:
    """Chosen by a hash of seed, conversation and texts."""
    turned = dict(reversed(CELLS.items()))
    assert sample(turned, Fraction(1, 5), 0, "x") == sample(CELLS, Fraction(1, 5), 0, "x")
    others = [sample(CELLS, Fraction(1, 5), seed, "x") for seed in range(5)]
    assert any(one != others[0] for one in others)


def test_agreement_by_hand() -> None:
    """Four cells, three with the same label."""
    cells = {("a", "1"): (FULL, FULL), ("a", "2"): (NONE, NONE), ("b", "1"): (NONE, PARTIAL),
             ("b", "2"): (NONE, NONE)}  # fmt: skip
    spot = SpotCheck(cells)
    assert spot.agreement == Fraction(3, 4)
    assert spot.table == {("full", "full"): 1, ("none", "none"): 2, ("none", "partial"): 1}
    assert SpotCheck({}).agreement is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"adjudicator": "one"}, "give another model"),
        ({"spot_checker": "one"}, "who judged the cells"),
        ({"judge": "two", "spot_checker": "two"}, "who judged the cells"),
        ({"cost_rule": "declared"}, "measures its costs"),
        ({"cost_rule": "stones"}, "unknown cost rule"),
        ({"spot_share": Fraction(0)}, "share"),
        ({"model": ""}, "--model"),
        ({"frame": "week"}, "conversation or session"),
    ],
)
def test_nobody_checks_their_own_work(given: dict[str, object], message: str) -> None:
    """Refused before anything is asked."""
    with pytest.raises(MemAuditError, match=message):
        ModelRecipe(**{"model": "one", **given})  # type: ignore[arg-type]


def test_who_does_what() -> None:
    """The adjudicator checks cells too, unless it judged them."""
    assert ModelRecipe("one").checker is None
    assert ModelRecipe("one", adjudicator="two").checker == "two"
    assert ModelRecipe("one", judge="two", adjudicator="two").checker is None
    assert ModelRecipe("one", adjudicator="two", spot_checker="three").checker == "three"
    assert ModelRecipe("one", judge="two").models["coverage"] == "two"
