"""From package and store to rows: every bad input has one, with its outcome and a remark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from memaudit.lab.downstream.answer_readers import (
    AnswerReader,
    EvidenceOnly,
    ReaderReply,
    ReadingTask,
    ReplyState,
)
from memaudit.lab.downstream.ask_questions import (
    QuestionResult,
    ReadingSetup,
)
from memaudit.lab.downstream.diagnosis_files import MEASURES, REMARKS
from memaudit.lab.downstream.question import ServedStore, StoredMemory
from memaudit.lab.downstream.retrievers import Oracle, Retriever
from tests.lab.downstream.newest import Newest
from tests.lab.downstream.small import ALL, DOG, ENDED, NOW, OLD, OPEN, PACKAGE, store_of
from tests.lab.downstream.small_runs import examine

F = Fraction


@dataclass(frozen=True)
class Says:
    """A reader that gives one reply to everything."""

    reply: ReaderReply
    name: str = "says"
    about: str = "one reply"
    peeks: bool = False
    asks_a_model: bool = False

    def read(self, asked: Sequence[ReadingTask]) -> list[ReaderReply]:
        """The reply, so many times."""
        return [self.reply for _ in asked]


class FindsNothing(Newest):
    """A retriever that returns nothing."""

    def rank(self, memories: Any, questions: Any, k: int) -> list[tuple[str, ...]]:  # noqa: ARG002
        return [() for _ in questions]


ABSTAINS = Says(ReaderReply(ReplyState.ABSTAINED))


def results(
    store: ServedStore, reader: AnswerReader, retriever: Retriever | None = None, k: int = 9
) -> dict[str, QuestionResult]:
    """Results by question."""
    rows = examine(PACKAGE, store, ReadingSetup(retriever or Newest(), k, reader))
    assert [row.question.id for row in rows] == [query.id for query in PACKAGE.queries]
    return {row.question.id: row for row in rows}


def decided(rows: dict[str, QuestionResult], question: str) -> tuple[str, str, tuple[str, ...]]:
    """Outcome, layer and remarks."""
    row = rows[question]
    return row.decision.outcome.value, row.decision.layer.value, row.why


def test_no_mistakes() -> None:
    """The oracle and the reader that makes none: all that has evidence is answered."""
    rows = results(store_of(*ALL), EvidenceOnly(), Oracle())
    assert [decided(rows, id)[0] for id in ("diet", "dog", "move", "sister")] == [
        "answered_right"
    ] * 4
    assert rows["diet"].retrieved == ("m-now", "m-ended")
    assert decided(rows, "book") == (
        "uncertain",
        "uncertain",
        ("question_without_evidence", "retriever_returned_nothing", "abstained"),
    )
    assert decided(rows, "sister")[2] == (
        "no_evidence_needed",
        "retriever_returned_nothing",
        "abstained",
    )


def test_an_empty_store() -> None:
    """Nothing was written, which is not a bad writer; abstaining is right by luck at most."""
    rows = results(store_of(), ABSTAINS)
    assert decided(rows, "dog") == (
        "evidence_never_written",
        "write",
        ("empty_store", "abstained"),
    )
    assert decided(rows, "move") == (
        "answered_without_support",
        "unsupported",
        ("empty_store", "abstained_in_the_dark"),
    )
    assert decided(rows, "sister")[:2] == ("answered_right", "answered")


def test_nothing_fits_the_budget() -> None:
    """All of it was pruned."""
    rows = results(store_of(*ALL, kept=0), ABSTAINS)
    assert decided(rows, "dog") == ("written_but_pruned", "write", ("nothing_kept", "abstained"))


def test_a_retriever_that_returns_nothing() -> None:
    """The store has it; the loss is retrieval's."""
    rows = results(store_of(*ALL), ABSTAINS, FindsNothing())
    assert decided(rows, "dog") == (
        "kept_not_retrieved",
        "retrieval",
        ("retriever_returned_nothing", "abstained"),
    )


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        (ReplyState.UNPARSEABLE, ("uncertain", "uncertain")),
        (ReplyState.NO_REPLY, ("uncertain", "uncertain")),
        (ReplyState.EMPTY, ("uncertain", "uncertain")),
        (ReplyState.REFUSED, ("retrieved_but_abstained", "reader")),
        (ReplyState.ABSTAINED, ("retrieved_but_abstained", "reader")),
    ],
)
def test_replies_that_are_no_answers(state: ReplyState, kept: tuple[str, str]) -> None:
    """Without the evidence its loss comes first; with it the reply counts. The remark stays."""
    reader = Says(ReaderReply(state))
    assert decided(results(store_of(DOG), reader), "dog") == (*kept, (state.value,))
    outcome, layer, why = decided(results(store_of(OLD), reader), "dog")
    assert ((outcome, layer), why[-1]) == (("evidence_never_written", "write"), state.value)
    refused = decided(results(store_of(OPEN), Says(ReaderReply(ReplyState.REFUSED))), "move")
    assert refused == ("uncertain", "uncertain", ("refused",))


PARTLY = ("partly_supported", "answered_anyway")


@pytest.mark.parametrize(
    ("memories", "kept", "answer", "outcome", "why"),
    [
        ([NOW, ENDED], None, "pescatarian", "answered_right/answered", ()),
        ([NOW, ENDED], None, "vegan", "retrieved_but_wrong/reader", ()),
        ([OLD, NOW, ENDED], None, "vegetarian", "stale_answer/reader", ()),
        ([OLD], None, "vegetarian", "stale_answer/write", ("answered_anyway",)),
        ([NOW, ENDED, OLD], 1, "vegetarian", "stale_answer/write", ("answered_anyway",)),
        ([NOW], None, "pescatarian", "answered_without_support/unsupported", PARTLY),
        ([NOW], None, "vegan", "evidence_never_written/write", PARTLY),
        ([ENDED, NOW], 1, "vegan", "written_but_pruned/write", PARTLY),
    ],
)
def test_answers(
    memories: list[StoredMemory], kept: int | None, answer: str, outcome: str, why: tuple[str, ...]
) -> None:
    """Coverage and retrieval first, words second."""
    rows = results(store_of(*memories, kept=kept), Says(ReaderReply(ReplyState.ANSWERED, answer)))
    assert decided(rows, "diet") == (*outcome.split("/"), why)


def test_retrieval_loses_half() -> None:
    """Of two required units one is retrieved; a stale answer is then retrieval's loss."""
    held = store_of(NOW, ENDED, OLD)
    rows = results(held, Says(ReaderReply(ReplyState.ANSWERED, "vegetarian")), k=2)
    assert rows["diet"].retrieved == ("m-old", "m-ended")
    assert decided(rows, "diet")[:2] == ("stale_answer", "retrieval")
    rows = results(held, Says(ReaderReply(ReplyState.ANSWERED, "vegan")), k=2)
    assert decided(rows, "diet")[:2] == ("kept_not_retrieved", "retrieval")


def test_an_abstention_question_that_is_answered() -> None:
    """Nothing to write, so the reader made it up; with evidence it overlooked it."""
    rows = results(store_of(*ALL), Says(ReaderReply(ReplyState.ANSWERED, "Eve")))
    assert decided(rows, "sister") == (
        "answered_without_support",
        "reader",
        ("no_evidence_needed",),
    )
    assert decided(rows, "move") == ("retrieved_but_wrong", "reader", ())


def test_partly_written_and_undecided() -> None:
    """A half of a unit, and a judge that gave no answer, are remarked on."""
    half = store_of(replace(DOG, covers={"dog": F(1, 2)}))
    rows = results(replace(half, undecided=frozenset({"dog"})), ABSTAINS)
    assert decided(rows, "dog") == (
        "evidence_never_written",
        "write",
        ("partly_written", "partly_retrieved", "coverage_undecided", "abstained"),
    )


def test_measures_by_hand() -> None:
    """Of five retrieved memories one misleads; 5 + 6 + 5 + 6 + 7 words. Three of them are open, dog
    and ended, so half of what is required is missing."""
    said = Says(ReaderReply(ReplyState.ANSWERED, "a pescatarian diet"))
    all_five = results(store_of(*ALL), said)["diet"].measures
    assert all_five == {
        "answered": 1,
        "right": 1,
        "evidence_recall": 1,
        "evidence_coverage": 1,
        "answer_in_evidence": 1,
        "stale_retrieval": 1,
        "stale_answer": 0,
        "words_retrieved": 29,
        "exact_match": 0,
        "token_f1": F(2, 3),
        "words_kept": 29,
    }
    nothing = dict.fromkeys(all_five, F(0))
    half = {"evidence_recall": F(1, 2), "evidence_coverage": F(1, 2)}
    row = results(store_of(*ALL), ABSTAINS, k=3)["diet"]
    assert row.measures == nothing | half | {"words_retrieved": 18, "words_kept": 29}


def test_undefined_measures() -> None:
    """Nothing required, nothing retrieved, no gold answer, no reply: not 0 but undefined."""
    rows = results(store_of(*ALL), ABSTAINS, FindsNothing())
    book, move = rows["book"].measures, rows["move"].measures
    assert {
        book[name] for name in ("evidence_recall", "evidence_coverage", "answer_in_evidence")
    } == {None}
    assert (move["answer_in_evidence"], rows["dog"].measures["answer_in_evidence"]) == (None, 0)
    assert (book["stale_retrieval"], move["exact_match"]) == (None, 1)
    lost = results(store_of(*ALL), Says(ReaderReply(ReplyState.NO_REPLY)))
    assert lost["dog"].measures["exact_match"] is None
    assert lost["dog"].measures["answered"] == 0
    wrong = results(store_of(*ALL), Says(ReaderReply(ReplyState.ANSWERED, "Rome")))["move"].measures
    assert (wrong["exact_match"], wrong["token_f1"]) == (0, 0)


def test_rows() -> None:
    """A row is plain data with the whole chain; every remark is explained, every measure named."""
    row = results(store_of(*ALL, kept=2), EvidenceOnly())["dog"].to_json()
    assert row["evidence"] == [
        {
            "unit": "dog",
            "says": "Bob has a dog called Rex.",
            "supports": True,
            "stage": "retrieved",
            "needs": 1,
            "written": 1,
            "kept": 1,
            "retrieved": 1,
            "memories": [{"id": "m-dog", "covers": 1, "kept": True, "rank": 2}],
        },
    ]
    assert (row["package"], row["store"], row["query"], row["answer"]) == ("ann", "s", "dog", "Rex")
    assert set(row["measures"]) == set(MEASURES)
    assert row["texts"] == {"m-dog": DOG.text, "m-open": OPEN.text}
    for held in (store_of(), store_of(*ALL, kept=0), store_of(*ALL)):
        for finding in results(held, ABSTAINS).values():
            assert set(finding.why) <= set(REMARKS)
