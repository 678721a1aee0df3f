"""The cleaning that all peers share, and the exact value of a store."""

from bench.instance import Draft
from bench.model import clean, evaluate, feasible

# Two units of weight 3 and 2 and one without weight; coverage in quarters.
DRAFT = Draft(
    4,
    [3, 0, 2],
    [
        [(2, {0: 3, 1: 4}), (5, {0: 4, 2: 4})],
        [(1, {1: 4}), (9, {2: 4})],
        [(3, {0: 2, 2: 1})],
    ],
)


def test_cleaning_drops_what_cannot_matter() -> None:
    model = clean(DRAFT.packed(8))
    # Candidate 2 covers only the unweighted unit, candidate 3 costs more than the budget.
    assert model.candidates == [0, 1, 4]
    assert model.cost == [2, 5, 3]
    assert model.weight == [3, 2]
    assert model.top == [4, 4]
    assert model.rows == [[(0, 3)], [(0, 4), (1, 4)], [(0, 2), (1, 1)]]
    assert model.groups == [[0, 1], [2]]
    assert model.crowded == [[0, 1]]
    assert model.full == [12, 8]
    assert model.shares == [[(0, 0.75), (1, 1.0), (2, 0.5)], [(1, 1.0), (2, 0.25)]]


def test_value_is_capped_at_full_coverage() -> None:
    packed = DRAFT.packed(8)
    # Unit 0 gets 3 + 2 quarters, capped at 4: 3 * 4 = 12. Unit 2 gets 1: 2 * 1 = 2.
    assert evaluate(packed, (0, 4)) == 14
    assert evaluate(packed, ()) == 0


def test_feasibility_is_budget_group_cap_and_no_repeats() -> None:
    packed = DRAFT.packed(8)
    assert feasible(packed, (0, 4))
    assert not feasible(packed, (0, 1))
    assert not feasible(packed, (3,))
    assert not feasible(packed, (4, 4))
