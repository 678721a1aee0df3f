"""What a question needs: the rules current-v1 and stale-v1."""

from fractions import Fraction

import pytest

from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.kernel.package.package import EvidenceUnit, Package, Source
from memaudit.lab.downstream.answer_readers import EvidenceOnly
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.evidence_trace import chains, stage_of
from memaudit.lab.downstream.question import (
    PackageQuestion,
    StoredMemory,
    outdated,
    questions,
    superseded,
)
from memaudit.lab.downstream.retrievers import Oracle
from tests.conversations.files import real_file
from tests.lab.downstream.small import store_of
from tests.lab.downstream.small_runs import examine

OLD = EvidenceUnit(id="old", kind="stale", text="My record is 17 laps.")
NEW = EvidenceUnit(id="new", kind="current", text="Today I swam 21 laps, my best ever!")
FACT = EvidenceUnit(id="pool", kind="fact", text="I swim in Hove.")


def laps(text: str, answer: str | None, *required: EvidenceUnit) -> Package:
    """A package with these units and one question about some of them."""
    query = {"id": "q", "text": text, "required": [unit.id for unit in required]}
    return Package.model_validate(
        {
            "name": "laps",
            "experiences": [{"id": "e"}],
            "candidates": [],
            "units": [unit.model_dump() for unit in (OLD, NEW, FACT)],
            "queries": [query | ({"answer": answer} if answer else {})],
        }
    )


def asked(text: str, answer: str | None, *required: EvidenceUnit) -> PackageQuestion:
    return questions(laps(text, answer, *required))[0]


NOW = asked("What is my record now?", "21 laps", OLD, NEW)
BEFORE = asked("What was my record before?", "17 laps", OLD, NEW)


@pytest.mark.parametrize(
    ("question", "gold", "required", "found"),
    [
        ("What is my record now?", "21 laps", (OLD, NEW), ["old"]),
        ("What is my record now?", "21", (OLD, NEW, FACT), ["old"]),
        ("What was my record before?", "17 laps", (OLD, NEW), []),
        ("What is my record, and what was it?", "21 laps, before that 17", (OLD, NEW), []),
        ("Did I beat my record?", "Yes", (OLD, NEW), []),
        ("What is my record now?", None, (OLD, NEW), []),
        ("What was my record?", "17 laps", (OLD,), []),
        ("Where do I swim?", "Hove", (FACT,), []),
    ],
)
def test_the_current_value_is_asked_for(
    question: str, gold: str | None, required: tuple[EvidenceUnit, ...], found: list[str]
) -> None:
    """Where the current unit holds the gold answer; otherwise all that is required is needed."""
    assert list(outdated(question, gold, required)) == found


def test_the_stage_goes_by_what_supports() -> None:
    """The new value alone is enough where it is asked for, and not where the old one is."""
    new = store_of(StoredMemory("m", NEW.text, {"new": Fraction(1)}))
    old = store_of(StoredMemory("m", OLD.text, {"old": Fraction(1)}))
    assert (NOW.supports, BEFORE.supports) == ({"new"}, {"old", "new"})
    assert (list(NOW.stale), list(BEFORE.stale)) == (["old"], [])
    for question, held, stage in (
        (NOW, new, "retrieved"),
        (NOW, old, "never_written"),
        (BEFORE, new, "never_written"),
        (BEFORE, old, "never_written"),
    ):
        assert stage_of(question, chains(question, held, ["m"])) == stage


def test_recall_counts_all_that_is_required() -> None:
    """Answered right with a recall of 1/2; the row says which unit was not needed."""
    package = laps(NOW.text, "21 laps", OLD, NEW)
    memories = (
        StoredMemory("m-old", OLD.text, {"old": Fraction(1)}),
        StoredMemory("m-new", NEW.text, {"new": Fraction(1)}),
    )
    (row,) = examine(package, store_of(*memories), ReadingSetup(Oracle(), 1, EvidenceOnly()))
    assert row.retrieved == ("m-new",)  # what the answer needs comes first
    assert row.decision.outcome == "answered_right"
    assert row.why == ()
    assert row.measures["evidence_recall"] == Fraction(1, 2)
    assert [(one["unit"], one["supports"]) for one in row.to_json()["evidence"]] == [
        ("old", False),
        ("new", True),
    ]
    (both,) = examine(package, store_of(*memories), ReadingSetup(Oracle(), 2, EvidenceOnly()))
    assert both.retrieved == ("m-new", "m-old")


@pytest.mark.slow
def test_what_the_module_says_of_longmemeval() -> None:
    """Of 21 update questions 15 ask for the current value; of the others three have answer yes."""
    path = real_file("longmemeval/longmemeval_oracle_99.json")
    updates = [
        question
        for built in plan_build(BuildJob(path)).built()
        for question in questions(built.package)
        if question.kind == "knowledge-update"
    ]
    assert len(updates) == 21
    others = [one for one in updates if not one.stale]
    assert len(others) == 6
    assert sum((one.gold or "").lower().startswith("yes") for one in others) == 3
    assert sum("previous" in one.text or "earlier" in one.text for one in others) == 3


def unit(id: str, kind: str, text: str, *sources: str) -> EvidenceUnit:
    """A unit on these sources."""
    return EvidenceUnit(
        id=id, kind=kind, text=text, sources=tuple(Source(id=one) for one in sources)
    )


PLAYED = unit("played", "stale", "Ilka plays the cello, in a small orchestra.", "t1")
BANKED = unit("banked", "stale", "As of 9 July 2023, Wendel banks with Cobalt.", "t2")
PLAYS = unit("plays", "current", "As of 9 July 2023, Ilka plays the harp.", "t3")
ENDED = unit("ended", "supersession", "That is over.", "t2", "t3")
PLAYS_WITH = unit("fact", "fact", "Ilka plays with Zelda.", "t4")
UNITS = [PLAYED, BANKED, PLAYS, ENDED, PLAYS_WITH]
WHICH = "Which instrument does Ilka play now?"


def test_by_words() -> None:
    """Two shared terms; a shared date is none."""
    assert list(superseded(WHICH, [PLAYS], UNITS)) == ["played"]


def test_by_source() -> None:
    """A supersession that stands on the turn of the old value."""
    assert list(superseded("What is over?", [ENDED], UNITS)) == ["banked"]


def test_only_where_something_says_what_holds() -> None:
    """A question about a fact, or without evidence, has no stale answer."""
    assert superseded(WHICH, [PLAYS_WITH], UNITS) == {}
    assert superseded(WHICH, [], UNITS) == {}


def test_the_past_is_no_mistake_where_it_is_asked_for() -> None:
    """Required alone the old value is the answer; beside the current one `current-v1` decides."""
    assert superseded("Which did Ilka play first?", [PLAYED, ENDED], UNITS) == {}
    assert superseded(WHICH, [PLAYED, PLAYS], UNITS) == {}
