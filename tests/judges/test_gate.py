"""Whether a score reaches a minimum, and how that reads."""

from dataclasses import replace

import pytest

from memaudit.judges.gate import gate_text, passes
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, ImportCount, Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import Log1p
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import ScoreResult, Scoring, StoreScore
from memaudit.kernel.score.score import Ratio
from tests.kernel.score.small_stores import F, exported, meals_scores
from tests.proofs import package as made

TWO = made(
    "a:e:1 b:e:1",
    {"u": {"text": "Ann eats fish now.", "weight": 1}, "v": {"text": "Bo has a dog.", "weight": 1}},
    [("a", "u", 1), ("b", "v", 1)],
    texts={"a": "fish", "b": "dog"},
    cost_rule="words",
)
STORE = exported(
    Memory(id="m", text="Ann eats fish now"),
    count=ImportCount(read=3, kept=1, skipped={"no text": 2}),
)


def scored(
    budget: object, *stores: ExportedStore, package: Package = TWO, group_cap: int | None = None
) -> tuple[ScoreResult, StoreScore]:
    """The result, and the row of the first store."""
    judges = {store.name: LexicalJudge() for store in stores}
    result = score_package(
        package, stores, Scoring(asked_budgets(budget), judges, group_cap=group_cap)
    )
    return result, result.rows[0]


def test_group_cap() -> None:
    """Within 4 nothing fits beside the memory: 1 of 1. Within 5 a candidate does: 1 of 2."""
    assert scored(4, STORE)[1].score == 1
    assert scored(5, STORE)[1].score == 0.5
    # Without room for the memory beside a candidate the cap decides.
    small = exported(Memory(id="m", text="fish Ann eats now too"))
    assert scored(5, small)[1].score == 1
    assert scored(5, small, group_cap=2)[1].score == 0.5


def test_other_stores_are_in_the_union() -> None:
    """Within 8 both stores fit, so the first has 1 of 2. Only the other expresses the second unit
    where the package has no candidates: a generation loss. Alone the first would be perfect."""
    other = exported(Memory(id="m", text="Bo has a dog"), name="other")
    result, row = scored(8, STORE, other)
    assert (row.store, row.score) == ("s", 0.5)
    assert "; over OPT of package + s + other; loses extraction 50.0%; " in gate_text(
        result, row, 0.5
    )
    without = TWO.replace(candidates=(), coverage=())
    result, row = scored(8, STORE, other, package=without)
    assert "; over OPT of package + s + other; loses generation 50.0%; " in gate_text(
        result, row, 0.5
    )
    assert scored(8, STORE, package=without)[1].score == 1


def test_what_it_rests_on_and_does_not_see_is_said() -> None:
    result, row = scored(4, STORE)
    assert gate_text(result, row, 0.5) == (
        "s at 4 scores 1.0000, minimum 0.5, everything fits; over OPT of package + s; an ESTIMATE: "
        "0.0% of the optimum and 100.0% of the store rest on assumed cells, and so does every 0; "
        "PARTLY READ: 2 rows of the export are not in the store"
    )
    with pytest.raises(
        MemAuditError, match=r"'s' is an estimate, 0\.0% of the optimum and 100\.0%"
    ):
        passes(row, 0.5)
    assert passes(row, 0.5, allow_estimates=True)
    result, row = scored(3, STORE)
    assert gate_text(result, row, 0.5).startswith(
        "s at 3 scores 0.0000, minimum 0.5, cut by recency; over OPT of package + s; "
        "loses cost 100.0%; "
    )


def test_a_perfect_store_where_h_is_irrational() -> None:
    """It reaches the bar of 1, although its value is known to 2^-32 only."""
    units = [unit.model_copy(update={"response": Log1p()}) for unit in TWO.units]
    logarithmic = TWO.replace(units=tuple(units))
    _, row = scored(4, STORE, package=logarithmic)
    assert row.optimum.certified
    assert row.score is not None
    assert row.score < 1
    assert passes(row, 1, allow_estimates=True)
    assert not passes(scored(5, STORE, package=logarithmic)[1], 0.6, allow_estimates=True)


def test_a_bar_that_an_open_optimum_decides() -> None:
    """Between 0.4 and 0.6: 0.4 is reached for certain, 0.7 is not, 0.5 is not decided."""
    result = meals_scores(5, 0)
    row = replace(result.rows[0], judge_assumes=False)
    optimum = replace(row.optimum, value=F(10, 3), bound=F(5), status="bound", certificate=None)
    ratio = Ratio(F(2), optimum, "common union")
    kept = replace(row.numbers.kept, ratio=ratio)
    found = replace(row, numbers=replace(row.numbers, kept=kept))
    assert passes(found, 0.4)
    assert not passes(found, 0.7)
    with pytest.raises(
        MemAuditError,
        match=r"not decided: the score of 'long' lies between 0\.4000 and 0\.6000, optimum not c",
    ):
        passes(found, 0.5)
    assert "at 5 scores 0.4000 to 0.6000 (optimum not certified), minimum 0.5, " in gate_text(
        result, found, 0.5
    )
    known = replace(ratio, optimum=replace(row.optimum, value=F(5), bound=F(5)))
    exactly = replace(row, numbers=replace(row.numbers, kept=replace(kept, ratio=known)))
    assert exactly.exact == F(2, 5)
    assert passes(exactly, 0.4)
    assert not passes(exactly, 0.401)
    nothing = replace(result.rows[1], judge_assumes=False)
    with pytest.raises(MemAuditError, match="'long' has no score at budget 0: optimum is 0"):
        passes(nothing, 0)
