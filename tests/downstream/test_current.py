"""Old and new value both required: which of them the answer needs."""

from fractions import Fraction

import pytest

from memaudit.core.package import EvidenceUnit, Package
from memaudit.downstream.chain import chains, stage_of
from memaudit.downstream.examine import examine
from memaudit.downstream.kept_store import StoredMemory
from memaudit.downstream.question import PackageQuestion, outdated, questions
from memaudit.downstream.readers.offline import EvidenceOnly
from memaudit.downstream.retrievers import Oracle
from memaudit.natural.build_plan import BuildJob, plan_build
from tests.datasets.files import real_file
from tests.downstream.small import holding

OLD = EvidenceUnit(id="old", kind="stale", text="My record is 17 laps.")
NEW = EvidenceUnit(id="new", kind="current", text="Today I swam 21 laps, my best ever!")
FACT = EvidenceUnit(id="pool", kind="fact", text="I swim in Hove.")


def asked(text: str, answer: str | None, *required: EvidenceUnit) -> PackageQuestion:
    """A question of a package with these units."""
    query = {"id": "q", "text": text, "required": [unit.id for unit in required]}
    return questions(
        Package.model_validate(
            {
                "name": "laps",
                "experiences": [{"id": "e"}],
                "candidates": [],
                "units": [unit.model_dump() for unit in (OLD, NEW, FACT)],
                "queries": [query | ({"answer": answer} if answer else {})],
            }
        )
    )[0]


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
    new = holding(StoredMemory("m", NEW.text, {"new": Fraction(1)}))
    old = holding(StoredMemory("m", OLD.text, {"old": Fraction(1)}))
    assert (NOW.supports, BEFORE.supports) == ({"new"}, {"old", "new"})
    assert (list(NOW.stale), list(BEFORE.stale)) == (["old"], [])
    for question, held, stage in (
        (NOW, new, "retrieved"), (NOW, old, "never_written"),
        (BEFORE, new, "never_written"), (BEFORE, old, "never_written"),
    ):  # fmt: skip
        assert stage_of(question, chains(question, held, ["m"])) == stage


def test_recall_counts_all_that_is_required() -> None:
    """Answered right with a recall of 1/2; the row says which unit was not needed."""
    package = Package.model_validate(
        {
            "name": "laps", "experiences": [{"id": "e"}], "candidates": [],
            "units": [OLD.model_dump(), NEW.model_dump()],
            "queries": [{"id": "q", "text": NOW.text, "answer": "21 laps",
                         "required": ["old", "new"]}],
        }
    )  # fmt: skip
    memories = (
        StoredMemory("m-old", OLD.text, {"old": Fraction(1)}),
        StoredMemory("m-new", NEW.text, {"new": Fraction(1)}),
    )
    (row,) = examine(package, holding(*memories), Oracle(), 1, EvidenceOnly())
    assert row.retrieved == ("m-new",)  # what the answer needs comes first
    assert row.decision.outcome == "answered_right"
    assert row.why == ()
    assert row.measures["evidence_recall"] == Fraction(1, 2)
    assert [(one["unit"], one["supports"]) for one in row.to_json()["evidence"]] == [
        ("old", False), ("new", True),
    ]  # fmt: skip
    (both,) = examine(package, holding(*memories), Oracle(), 2, EvidenceOnly())
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
