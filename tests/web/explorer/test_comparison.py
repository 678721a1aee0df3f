"""Two stores side by side, worked out by hand."""

from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from memaudit.web.explorer.views.store_comparison import candidate_store, compare, wasted

from memaudit.core.objective import value
from memaudit.core.package import Package, Query
from memaudit.solvers.form import integer_form
from memaudit.solvers.tie_breaking import without_waste
from memaudit.web.explorer.library.entries import LibraryEntry
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.web.explorer.pages.query import cheapest
from tests.strategies import packages


def opened(package: Package) -> IndexedPackage:
    return IndexedPackage(LibraryEntry("package", "p-0", package.name, "p", Path("p")), package)


def test_kept_missed_and_kept_instead(tiny: Package) -> None:
    """OPT keeps m1 and m3; the other store m2, half of u1 (weight 2), and m3."""
    one = opened(tiny)
    best, other = candidate_store(one, "OPT", ["m1", "m3"]), candidate_store(one, "x", ["m3", "m2"])
    found = compare(one, best, other)
    assert [item.id for item in found.both] == ["m3"]
    assert [item.id for item in found.missed] == ["m1"]
    assert [item.id for item in found.instead] == ["m2"]
    assert found.wasted == frozenset()
    # u1: min(1, 1) * 2 = 2 against min(1, 1/2) * 2 = 1
    (change,) = found.units
    assert (change.unit.id, change.by_opt, change.by_other, change.change) == (
        "u1", 1, Fraction(1, 2), -1,
    )  # fmt: skip
    assert (found.value, found.cost) == (2, Fraction(4, 3))


def test_what_adds_nothing(tiny: Package) -> None:
    """With m1, which covers all of u1, the half that m2 covers adds nothing."""
    package = tiny.replace(group_cap=2)
    one = opened(package)
    assert wasted(one, candidate_store(one, "x", ["m1", "m2"])) == {"m2"}
    assert wasted(one, candidate_store(one, "x", ["m2"])) == frozenset()


@given(packages(), st.data())
@settings(max_examples=40)
def test_waste_is_what_a_solver_cleans_away(package: Package, data: st.DataObject) -> None:
    """The same candidates, and without them the store is worth the same."""
    ids = [candidate.id for candidate in package.candidates]
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    one = opened(package)
    form = integer_form(package)
    chosen = [form.candidate_ids.index(id) for id in store]
    kept = {form.candidate_ids[place] for place in without_waste(form, chosen)}
    found = wasted(one, candidate_store(one, "x", store))
    assert set(store) - kept == found
    assert value(package, set(store) - found) == value(package, store)


def test_the_cheapest_cover_of_a_query(tiny: Package) -> None:
    """m3 alone covers u2, for a third."""
    one = opened(tiny)
    found = cheapest(one, tiny.queries[0])
    assert found is not None
    assert (found.cost, found.store, found.whole) == (Fraction(1, 3), ("m3",), True)


def test_a_query_that_nothing_covers(tiny: Package) -> None:
    bare = tiny.replace(coverage=tuple(cell for cell in tiny.coverage if cell.unit != "u2"))
    assert cheapest(opened(bare), bare.queries[0]) is None


def test_a_query_that_is_covered_in_part(tiny: Package) -> None:
    """Only half of u1 can be had once m1 is gone: for 1, by m2."""
    half = tiny.replace(
        candidates=tuple(one for one in tiny.candidates if one.id != "m1"),
        coverage=tuple(cell for cell in tiny.coverage if cell.candidate != "m1"),
        queries=(Query(id="q", required=("u1",)),),
    )
    found = cheapest(opened(half), half.queries[0])
    assert found is not None
    assert (found.cost, found.store, found.whole) == (1, ("m2",), False)
