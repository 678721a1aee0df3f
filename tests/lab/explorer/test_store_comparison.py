"""A store compared with OPT, worked out by hand."""

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.package.objective import value
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.tie_breaking import without_waste
from memaudit.lab.explorer.views.store_comparison import (
    ComparableStore,
    StoreComparison,
    candidate_store,
    cells_by_candidate,
    compare,
)
from tests.strategies import packages


def store_of(package: Package, ids: Sequence[str]) -> ComparableStore:
    return candidate_store(package, cells_by_candidate(package), "x", ids)


def compared(package: Package, best: Sequence[str], other: Sequence[str]) -> StoreComparison:
    return compare(package, store_of(package, best), store_of(package, other))


def test_kept_missed_and_kept_instead(tiny: Package) -> None:
    """OPT keeps m1 and m3; the other store m2, half of u1 (weight 2), and m3."""
    found = compared(tiny, ["m1", "m3"], ["m3", "m2"])
    assert [item.id for item in found.both] == ["m3"]
    assert [item.id for item in found.missed] == ["m1"]
    assert [item.id for item in found.instead] == ["m2"]
    assert found.wasted == frozenset()
    # u1: min(1, 1) * 2 = 2 against min(1, 1/2) * 2 = 1
    (change,) = found.units
    assert (change.unit.id, change.by_opt, change.by_other, change.change) == (
        "u1",
        1,
        Fraction(1, 2),
        -1,
    )
    assert (found.value, found.cost) == (2, Fraction(4, 3))


def test_lost_and_gained_units(tiny: Package) -> None:
    """m1 covers u1 (weight 2) whole, m2 half of it; m3 covers u2 (weight 1)."""
    found = compared(tiny, ["m1"], ["m2", "m3"])
    assert [(unit.unit.id, unit.change) for unit in found.units] == [("u1", -1), ("u2", 1)]
    assert compared(tiny, ["m1"], ["m1"]).units == ()


def test_what_adds_nothing(tiny: Package) -> None:
    """With m1, which covers all of u1, the half that m2 covers adds nothing."""
    package = tiny.replace(group_cap=2)
    assert compared(package, [], ["m1", "m2"]).wasted == {"m2"}
    assert compared(package, [], ["m2"]).wasted == frozenset()


@given(packages(), st.data())
@settings(max_examples=40)
def test_waste_is_what_a_solver_cleans_away(package: Package, data: st.DataObject) -> None:
    """The same candidates, and without them the store is worth the same."""
    ids = [candidate.id for candidate in package.candidates]
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    form = integer_form(package)
    chosen = [form.candidate_ids.index(id) for id in store]
    kept = {form.candidate_ids[place] for place in without_waste(form, chosen)}
    wasted = compared(package, [], store).wasted
    assert set(store) - kept == wasted
    assert value(package, set(store) - wasted) == value(package, store)
