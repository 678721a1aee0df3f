"""What is false covers nothing, in every store, in the package and in every union."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.package.package import STALE, Package, Query
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.truth import TextVerdict, Truths, maybe_outdated
from memaudit.kernel.score.unions import union_of
from memaudit.kernel.score.verdict import verdict
from tests.kernel.score.small_stores import MEALS, TEXTS, F, judged_problems, memory

SAYS_TWO = JudgedStore("s", (memory("m", 2, "a lie", now=1, once=1), memory("n", 3, "true", now=1)))


def test_by_hand() -> None:
    """The lie says what is true now, which it loses, and what was true once, which a question about
    the past asks for. The other memory and its text are left alone."""
    truths = Truths("labels", {"meals": {"a lie": "false", "true": "true"}})
    store = truths.store(SAYS_TWO, MEALS)
    assert {m.id: {u: c.value for u, c in m.coverage.items()} for m in store.memories} == {
        "m": {"now": 0, "once": 1},
        "n": {"now": 1},
    }
    scorer = StoreScorer(MEALS, [store])
    judged = verdict(scorer, store, truths)
    assert judged.falsehoods is not None
    assert (judged.falsehoods.false, judged.falsehoods.read) == (("m",), 2)
    assert judged.complete.numerator == 4
    unasked = MEALS.replace(
        units=tuple(
            unit.model_copy(update={"weight": F(0)}) if unit.kind == STALE else unit
            for unit in MEALS.units
        )
    )
    lie = truths.store(SAYS_TWO, unasked).memories[0]
    assert not any(cell.value for cell in lie.coverage.values())


def test_candidates_of_the_package_are_struck_too() -> None:
    package = MEALS.replace(
        candidates=tuple(
            candidate.model_copy(update={"text": candidate.id}) for candidate in MEALS.candidates
        )
    )
    struck = Truths("labels", {"meals": {"both": "false", "old": "false"}}).package(package)
    assert [(cell.candidate, cell.unit) for cell in struck.coverage] == [("old", "once")]
    assert {candidate.id for candidate in struck.candidates} == set(package.candidate)
    assert Truths("labels", {"other": {"both": "false"}}).package(package) is package


def test_in_part_false_keeps_its_cells_and_is_counted() -> None:
    truths = Truths("labels", {"meals": {"a lie": "in part"}})
    assert truths.store(SAYS_TWO, MEALS) == SAYS_TWO
    counted = truths.falsehoods(SAYS_TWO, MEALS)
    assert (counted.false, counted.in_part, counted.read) == ((), ("m",), 1)
    assert str(counted) == "0 of 1, 1 in part, 1 not read"
    nobody = Truths("labels", {}).falsehoods(SAYS_TWO, MEALS)
    assert str(nobody) == "not measured"  # and not "0 of 0"


def test_what_may_be_outdated() -> None:
    """It says what an update replaced, and not what is true now or that it ended."""
    update = Query(id="q", required=("now", "ended"), attributes={"replaced": ["once"]})
    package = MEALS.replace(queries=(update,))
    store = JudgedStore(
        "s",
        (
            memory("old", 1, once=1),
            memory("moved", 1, once=1, ended=1),
            memory("both", 1, once=0.5, now=1),
            memory("now", 1, now=1),
        ),
    )
    assert [found.id for found in maybe_outdated(package, store)] == ["old"]
    assert maybe_outdated(MEALS, store) == ()  # it does not know what replaced what


VERDICTS: st.SearchStrategy[TextVerdict] = st.sampled_from(["true", "false", "in part", "nothing"])


@settings(max_examples=60, deadline=None)
@given(judged_problems(), st.dictionaries(st.sampled_from(TEXTS), VERDICTS), st.integers(0, 12))
def test_every_order_of_values_holds_with_false_texts(
    problem: tuple[Package, list[JudgedStore]], said: dict[str, TextVerdict], budget: int
) -> None:
    """With copies, files and caps: no verdict adds value; F(Y) is at most OPT(c(Y)), b* at most
    c(Y), F(kept) at most the best subset; and no optimum holds a false text for anything else."""
    package, stores = problem
    truths = Truths("labels", {package.name: said})
    struck, written = truths.package(package), [truths.store(one, package) for one in stores]
    before, after = StoreScorer(package, stores), StoreScorer(struck, written)
    asked = {u.id for u in package.units if u.kind == STALE and package.weights[u.id]}
    for old, store in zip(stores, written, strict=True):
        whole = after.worth(store, store.candidate_ids).value
        assert whole <= before.worth(old, old.candidate_ids).value
        optimum = after.common_optimum(store.cost)
        assert whole <= (optimum.value_high or optimum.value)
        judged = verdict(after, store, truths)
        if judged.least is not None and judged.least.exact is not None:
            assert judged.least.exact <= store.cost
        numbers = after.numbers(store, F(budget))
        assert numbers.kept.worth.value <= (
            numbers.best_optimum.value_high or numbers.best.worth.value
        )
    union = union_of(struck, written).package
    for cell in union.coverage:
        candidate = union.candidate[cell.candidate]
        # A document is as true as its entries are.
        if cell.value and said.get(candidate.text) == "false" and not candidate.parts:
            assert cell.unit in asked
