"""Optima of labellings inside a box: those that are not solved are as good as solved."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.objective import value
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import Cell, own_values, relabelled
from memaudit.label_audit.fixed_stores import Kept
from memaudit.label_audit.label_box import Box, Inside, Values, box_of
from memaudit.label_audit.relabelled_optima import Labelled, Task, measure
from tests.label_audit.ratios.tiny import F, package
from tests.strategies import BUDGETS, packages

LABELS = (F(0), F(1, 2), F(1))


@st.composite
def boxes(draw: st.DrawFn, most: int = 4, responses: bool = True) -> tuple[Package, Box]:
    """A package and some of its cells, each open between two labels."""
    found = draw(packages(max_groups=3, max_candidates=2, max_units=3, responses=responses))
    cells = [(c.id, u.id) for c in found.candidates for u in found.units]
    chosen = draw(st.lists(st.sampled_from(cells), unique=True, max_size=most)) if cells else []
    own = own_values(found)
    given = {at: (own.get(at, F(0)), draw(st.sampled_from(LABELS))) for at in sorted(chosen)}
    wide = {at: pair for at, pair in given.items() if pair[0] != pair[1]}
    low = {at: min(pair) for at, pair in wide.items()}
    return found, Box(low, {at: max(pair) for at, pair in wide.items()})


def labellings(box: Box) -> list[dict[Cell, Fraction]]:
    """Every choice of an end for every open cell."""
    ends = [(box.low[at], box.high[at]) for at in box.low]
    return [dict(zip(box.low, chosen, strict=True)) for chosen in product(*ends)]


def test_box() -> None:
    """A cell is open if two labels differ, the package's own counted, also as 0."""
    own = {("a", "u"): F(1), ("b", "v"): F(1, 2)}
    ann: Mapping[Cell, Fraction] = {("a", "u"): F(1), ("b", "v"): F(0), ("c", "u"): F(1, 2)}
    bob: Mapping[Cell, Fraction] = {("b", "v"): F(1)}
    found = box_of([ann, bob], own)
    assert found.low == {("b", "v"): 0, ("c", "u"): 0}
    assert found.high == {("b", "v"): 1, ("c", "u"): F(1, 2)}


@settings(max_examples=60)
@given(boxes(3), st.sampled_from(BUDGETS))
def test_every_labelling_as_if_solved(drawn: tuple[Package, Box], budget: Fraction) -> None:
    """Whatever was learnt before, the optimum is that of solving the relabelled package."""
    found, box = drawn
    inside = Inside(found, box)
    for end in (box.high, box.low):
        inside.optimum(end, budget)
    for labels in labellings(box):
        best = inside.optimum(labels, budget)
        solved = Labelled(relabelled(found, labels, "x")).best(budget)
        assert best.certified
        assert best.highest == solved.highest
        assert value(relabelled(found, labels, "x"), best.store).high == best.highest


@settings(max_examples=40)
@given(boxes(), st.data())
def test_values_of_stores(drawn: tuple[Package, Box], data: st.DataObject) -> None:
    """F of any store under any labelling, without building the package."""
    found, box = drawn
    ids = sorted(one.id for one in found.candidates)
    store = data.draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    for labels in labellings(box):
        got = Values(found).changed(labels).worth(store)
        want = value(relabelled(found, labels, "x"), store)
        assert (got.low, got.high) == (want.low, want.high)


def test_measured_like_a_solved_package() -> None:
    """Ratios, values and optima are those of measuring the relabelled package."""
    stores = Kept({("one", F(1)): ("b",), ("two", F(2)): ("b", "c")}, {})
    box = Box({("b", "v"): F(0), ("c", "u"): F(0)}, {("b", "v"): F(1), ("c", "u"): F(1)})
    labels = {("c", "u"): F(1)}
    inside = Inside(package(), box)
    budgets = (F(1), F(2))
    (base, want) = measure(Task(package(), stores, budgets, ((), tuple(labels.items())), "x"))
    inside.learn({}, base)
    got = inside.measured(labels, stores, budgets)
    assert (got.ratios, got.values) == (want.ratios, want.values)
    assert got.ratios["two", F(2)] == 1
    for budget in budgets:
        assert got.optima[budget].highest == want.optima[budget].highest


def test_known_ends_leave_nothing_to_solve(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Where both ends have the same optimum, everything between them has it too."""
    box = Box({("c", "v"): F(0)}, {("c", "v"): F(1, 2)})
    inside = Inside(package(), box)
    for end in (box.high, box.low):
        inside.optimum(end, F(1))

    def refuse(*_: object) -> Labelled:
        raise AssertionError("solved again")

    monkeypatch.setattr("memaudit.label_audit.label_box.Labelled", refuse)
    assert inside.optimum({("c", "v"): F(1, 4)}, F(1)).highest == 2
