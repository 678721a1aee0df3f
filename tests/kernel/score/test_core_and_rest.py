"""Partial means the core: against the definition, and what must not change."""

from fractions import Fraction

from hypothesis import given, settings

from memaudit.kernel.checker import verify
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import CLIPPED
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.kernel.score.core_and_rest import core_and_rest
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.solvers.solve import solve
from tests.kernel.score.small_stores import MEALS, F, judged_problems, memory

REVIEW = Package.model_validate(
    {
        "name": "review",
        "experiences": [{"id": "e"}],
        "candidates": [],
        "units": [{"id": "review", "kind": "current", "text": "from Tuesday to Thursday"}],
        "queries": [{"id": "q", "required": ["review"]}],
    }
)


def test_two_halves_are_no_whole() -> None:
    """The outdated day is half of "moved from Tuesday to Thursday", and so is that it moved. Added
    up they would be worth as much as the sentence itself, in fewer words."""
    store = JudgedStore(
        "s",
        (
            memory("outdated", 3, review=0.5),
            memory("moved", 3, review=0.5),
            memory("both", 8, review=1),
        ),
    )
    scorer, added_up = (StoreScorer(REVIEW, [store], additive=on) for on in (False, True))
    at = F(8)
    assert scorer.common_optimum(at).store == ("s/both",)
    assert added_up.common_optimum(at).store == ("s/moved", "s/outdated")
    assert (scorer.common_optimum(F(6)).value, scorer.common_optimum(at).value) == (F(1, 2), 1)
    assert scorer.unit_values(store, store.candidate_ids[:2])["review"].low == F(1, 2)
    proof = scorer.common_optimum(at).certificate
    assert proof is not None
    assert verify(scorer.common, proof).valid


def worth(package: Package, cells: dict[str, list[Fraction]]) -> Fraction:
    """Half of a unit for its core, which any half covers, half for what goes beyond a half."""
    total = F(0)
    for unit in package.units:
        values = cells.get(unit.id, [])
        core = min(F(1), sum((min(F(1), 2 * value) for value in values), F(0)))
        rest = min(F(1), sum((max(F(0), 2 * value - 1) for value in values), F(0)))
        total += package.weights[unit.id] * (core + rest) / 2
    return total


@settings(max_examples=80, deadline=None)
@given(judged_problems())
def test_against_the_definition(problem: tuple[Package, list[JudgedStore]]) -> None:
    package, stores = problem
    package = package.replace(
        units=tuple(unit.model_copy(update={"response": CLIPPED}) for unit in package.units),
        equal_texts_once=False,
    )
    for store in stores:
        store = JudgedStore(store.name, store.memories)
        cells: dict[str, list[Fraction]] = {}
        for written in store.memories:
            for unit, cell in written.coverage.items():
                cells.setdefault(unit, []).append(cell.value)
        scorer = StoreScorer(package, [store])
        numbers = scorer.worth(store, store.candidate_ids)
        assert numbers.value == worth(package, cells)
        by_unit = scorer.unit_values(store, store.candidate_ids)
        assert set(by_unit) <= {unit.id for unit in package.units}
        assert sum(value.low for value in by_unit.values()) == numbers.value
        added_up = StoreScorer(package, [store], additive=True)
        assert numbers.value <= added_up.worth(store, store.candidate_ids).value
        for budget in (F(3), F(7)):
            assert scorer.common_optimum(budget).value <= added_up.common_optimum(budget).value


def test_whole_and_absent_stay_what_they_are() -> None:
    """Without halves nothing changes but the names of units; every weight is kept."""
    split = core_and_rest(MEALS)
    assert split.units == {"now", "ended", "once"}
    assert solve(split.package, 5).store == solve(MEALS, 5).store
    assert solve(split.package, 5).value == solve(MEALS, 5).value
    weights = split.package.weights
    assert sum(weights.values()) == sum(MEALS.weights.values())
    assert {whole.id for whole in whole_units(split.package.units)} == split.units
    assert set(split.package.queries[0].required) == {
        "now#core",
        "now#rest",
        "ended#core",
        "ended#rest",
    }
