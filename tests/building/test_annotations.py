"""A package from gold labels: units, queries, coverage by its rules, what a writer cannot see."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.coverage_rules import (
    CONTAINMENT,
    POINTER,
    RULE_TEXTS,
    UPDATE,
    calls_outdated,
    containment,
    inclusion,
    names,
    says_change,
)
from memaudit.conversations.records import LoadedConversation
from memaudit.judges.lexical import LEXICAL, lexical
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL, NONE, PARTIAL
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import STATEMENT, is_exact
from memaudit.kernel.words.text import terms
from memaudit.lab.sweeps.writers.protocol import visible
from tests.building.talks import DIET, Row, cells, load
from tests.conversations.files import load as load_fixture


@pytest.fixture
def diet(tmp_path: Path) -> Package:
    return build_package(load(tmp_path, DIET), AnnotationRecipe("chat")).package


def test_the_stream(diet: Package) -> None:
    assert [(e.id, e.index, e.session, e.speaker) for e in diet.experiences] == [
        ("t1", 0, "s1", "Ann"),
        ("t2", 1, "s1", "assistant"),
        ("s1/end", 2, "s1", None),
        ("t3", 3, "s2", "Ann"),
        ("t4", 4, "s2", "assistant"),
        ("s2/end", 5, "s2", None),
    ]
    assert diet.experiences[0].text == "Hello there! For travel meals I eat vegetarian food."


def test_units_and_queries(diet: Package) -> None:
    """A cited turn is one unit, whoever cites it; the last of an update holds, the others do not
    and answer nothing. t3 is required by q1 and q2, so it weighs 2."""
    assert {u.id: u.kind for u in diet.units} == {
        "t1": "stale",
        "t3": "current",
        "supersession/q1": "supersession",
    }
    assert {q.id: q.required for q in diet.queries} == {
        "q1": ("t3", "supersession/q1"),
        "q2": ("t3",),
        "q3": (),
    }
    assert diet.weights == {"t1": 0, "t3": 2, "supersession/q1": 1}
    assert diet.units[1].sources[0].text == diet.experiences[3].text


def test_what_was_replaced_counts_where_something_else_asks_for_it(tmp_path: Path) -> None:
    """A question about the past requires t1; a second update makes t3 stale too, and t4 current."""
    past: Row = {"question": "What did Ann eat before?", "kind": "past", "evidence": ["t1"]}
    package = build_package(load(tmp_path, [*DIET, past]), AnnotationRecipe("chat")).package
    assert package.weights == {"t1": 1, "t3": 2, "supersession/q1": 1}
    again: Row = {"question": "And since then?", "kind": "update", "evidence": ["t3", "t4"]}
    package = build_package(load(tmp_path, [*DIET, again]), AnnotationRecipe("chat")).package
    kinds = {unit.id: unit.kind for unit in package.units}
    assert (kinds["t1"], kinds["t3"], kinds["t4"]) == ("stale", "stale", "current")
    # q2, which is no update, still asks for t3.
    assert (package.weights["t1"], package.weights["t3"], package.weights["t4"]) == (0, 1, 1)


def test_coverage_of_a_turn(diet: Package) -> None:
    """t3 has terms travel, meal, eat, fish, food, now, rome, warm: the update keeps 6 of 8."""
    rows = {name: (row.value, row.provenance) for name, row in cells(diet, "t3").items()}
    assert rows == {
        "t3/raw": (FULL, STATEMENT),
        "s2/session": (FULL, STATEMENT),
        "t3/compound_update": (Fraction(1, 2), CONTAINMENT),
    }


def test_coverage_of_a_change(diet: Package) -> None:
    """Full where the old sentence is called outdated; the turn itself only says "now"."""
    rows = {
        name: (row.value, row.provenance) for name, row in cells(diet, "supersession/q1").items()
    }
    half = Fraction(1, 2)
    assert rows == {
        "t3/tombstone": (FULL, UPDATE),
        "t3/compound_update": (FULL, UPDATE),
        "t3/raw": (half, UPDATE),
        "s2/session": (half, UPDATE),
    }
    assert cells(diet, "t1")["t3/tombstone"].value == 1


def test_a_tombstone_does_not_cover_what_still_holds(tmp_path: Path) -> None:
    """Without the update question t1 is a fact, and calling it outdated denies it."""
    rows = [dict(row, kind="fact") if row.get("id") == "q1" else row for row in DIET]
    package = build_package(load(tmp_path, rows), AnnotationRecipe("chat")).package
    assert "t3/tombstone" in package.candidate
    assert "t3/tombstone" not in cells(package, "t1")
    assert "t3/compound_update" not in cells(package, "t1")


def test_locomo_ships_facts_and_summaries() -> None:
    """The fixture's first observation points to D1:1, its first event is about that session.

    The session's summary has the text of the observation, so that both are one candidate.
    """
    (loaded,) = load_fixture("locomo")
    built = build_package(loaded, AnnotationRecipe("locomo"))
    rows = cells(built.package, "s1:1")
    fact, event = rows["session_1_observation:Ada:1"], rows["events_session_1:Ada:1"]
    assert (fact.value, fact.provenance) == (FULL, POINTER)
    assert (event.value, event.provenance, event.rationale) == (FULL, LEXICAL, "2 of 2 terms")
    assert "session_1_summary" not in built.package.candidate
    assert (built.package.equal_texts_once, built.repeated) == (True, 1)
    assert built.unplaced == ("session_7_summary",)
    assert not any(c.kind == "tombstone" for c in built.package.candidates)


def test_a_fact_has_to_say_whose_it_is() -> None:
    """Its source is Ada's turn. Without her name it keeps a part, whatever it shares."""
    (loaded,) = load_fixture("locomo")
    values = {}
    for text in ("Ada adopted a dog.", "She adopted a dog."):
        shipped = tuple(replace(one, text=text) for one in loaded.conversation.representations[:1])
        one = LoadedConversation(replace(loaded.conversation, representations=shipped))
        package = build_package(one, AnnotationRecipe("locomo")).package
        values[text] = cells(package, "s1:1")["session_1_observation:Ada:1"].value
    assert list(values.values()) == [FULL, PARTIAL]


def test_a_question_that_cites_sessions_needs_all_of_them(tmp_path: Path) -> None:
    rows: list[Row] = [
        *DIET[:7],
        {"id": "q1", "question": "All?", "answer": "Yes", "evidence": ["s1"]},
    ]
    package = build_package(load(tmp_path, rows), AnnotationRecipe("chat")).package
    assert [unit.id for unit in package.units] == ["s1"]
    ((name, row),) = cells(package, "s1").items()  # no turn holds the other one
    assert (name, row.value, row.provenance) == ("s1/session", FULL, STATEMENT)


def test_no_question_answer_or_label_reaches_a_writer() -> None:
    """Canaries in everything the benchmark knows; the visible side is the same without them."""
    for format in ("locomo", "longmemeval", "memdaily", "chat"):
        for loaded in load_fixture(format):
            plain = visible(build_package(loaded, AnnotationRecipe(format)).package)
            marked = [
                replace(
                    one,
                    id=f"CANARY-{n}",
                    text=f"CANARY {one.text}",
                    answer=f"CANARY {one.answer}",
                    kind="CANARY",
                    adversarial_answer="CANARY",
                    choices=(("A", "CANARY"),),
                    evidence=(),
                    evidence_sessions=(),
                )
                for n, one in enumerate(loaded.conversation.questions)
            ]
            other = replace(loaded.conversation, questions=tuple(marked))
            seen = visible(
                build_package(LoadedConversation(other), AnnotationRecipe(format)).package
            )
            assert seen == plain
            assert "CANARY" not in repr(seen)


def test_costs_need_a_rule() -> None:
    with pytest.raises(MemAuditError, match="choose a rule"):
        AnnotationRecipe("chat", "declared")


def test_lexical_rule() -> None:
    """Four terms: cat, luna, 9, month."""
    said = "My cat Luna: nine months."
    assert lexical(said, "Luna the cat is 9 months old").value == FULL
    assert lexical(said, "Luna the cat, some months").value == PARTIAL  # the number is lost
    assert lexical(said, "A cat for 9").value == PARTIAL  # 2 of 4 of so few terms
    assert lexical(said, "Luna").value == NONE  # one term is not enough
    assert lexical(said, "Luna the cat").why == "2 of 4 terms"


def test_containment_rule() -> None:
    """From 4/5 of the terms with all numbers."""
    said = "Red apples, green pears, 3 plums."  # red apple green pear 3 plum
    assert containment(said, "Red apples, green pears, 3").value == FULL  # 5 of 6
    assert containment(said, "Red apples, green pears, plums").value == PARTIAL  # no 3
    assert containment(said, "Red apples").value == PARTIAL  # 2 of 6
    assert containment(said, "apples").value == NONE  # 1 of 6


def test_inclusion_rule() -> None:
    """Of the terms ann, eat, fish, oslo, weekend: 3 of 5 with both names are enough."""
    said = "Ann eats fish in Oslo at weekends."
    assert names(said) == {"ann", "oslo"}
    assert inclusion(said, "Ann: Fish, here in Oslo.", True).value == FULL
    assert inclusion(said, "Ann: I love Oslo.", True).value == PARTIAL  # 2 of 5
    lost = inclusion(said, "Ann: I eat fish at weekends.", True)
    assert (lost.value, lost.why) == (PARTIAL, "4 of 5 terms, does not name Oslo")
    assert inclusion(said, said, False).value == PARTIAL  # the quote is in another turn


@given(st.text(max_size=60))
def test_a_text_contains_itself(text: str) -> None:
    wanted = FULL if terms(text) else NONE
    assert containment(text, text).value == wanted
    assert lexical(text, text).value == wanted


@given(st.text(max_size=60), st.text(max_size=60))
def test_values_are_none_half_or_one(said: str, text: str) -> None:
    assert {lexical(said, text).value, containment(said, text).value} <= {
        Fraction(0),
        Fraction(1, 2),
        Fraction(1),
    }


def test_change_and_exactness() -> None:
    """Only a statement word for word is exact."""
    assert says_change("I switched to tea.")
    assert not says_change("I know tea.")
    assert [name for name in RULE_TEXTS if is_exact(name)] == [STATEMENT]
    assert not is_exact("exact:inclusion")  # of older builds
    assert not is_exact(None)


def test_lost_times() -> None:
    """Without its day, a text keeps a part of something temporal, and all of anything else."""
    said, kept = "I went to a support group yesterday", "Went to a support group recently"
    assert lexical(said, kept).value == FULL
    assert lexical(said, kept, timed=True).value == PARTIAL
    assert lexical(said, "Went to a support group yesterday", timed=True).value == FULL


def test_the_wrong_sentence_called_outdated() -> None:
    earlier = "My parents help a lot. They have been staying with me for six months."
    later = "My parents have been staying with me for nine months now."
    wrong = calls_outdated("My parents help a lot.", earlier, later)
    right = calls_outdated("They have been staying with me for six months.", earlier, later)
    assert (wrong.value, right.value) == (PARTIAL, FULL)
