"""One conformance suite for every reader."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.answer_readers import (
    READERS,
    EvidenceOnly,
    Extractive,
    ReaderReply,
    ReadingTask,
    ReplyState,
    named_reader,
)
from memaudit.lab.downstream.question import StoredMemory
from tests.lab.downstream.small import ALL, ASKED, DOG, ENDED, NOW, OLD, OPEN

every_reader = pytest.mark.parametrize("name", sorted(READERS))
CALLS = [
    ReadingTask("ann", question, memories)
    for question in ASKED.values()
    for size in (0, 2, 5)
    for memories in list(permutations(ALL, size))[:20]
]


@every_reader
def test_describes_itself(name: str) -> None:
    """Name and one line."""
    found = named_reader(name)
    assert found.name == name
    assert found.about
    assert "\n" not in found.about


@every_reader
def test_replies(name: str) -> None:
    """One a question, in order, always the same; it uses only what it was given."""
    found = READERS[name]
    replies = found.read(CALLS)
    assert replies == [found.read([one])[0] for one in CALLS]
    assert found.read([]) == []
    for asked, reply in zip(CALLS, replies, strict=True):
        assert set(reply.used) <= {memory.id for memory in asked.memories}
        assert reply.state in (ReplyState.ANSWERED, ReplyState.ABSTAINED)
        assert bool(reply.answer.strip()) == (reply.state is ReplyState.ANSWERED)


@every_reader
def test_nothing_retrieved(name: str) -> None:
    """It abstains."""
    nothing = [ReadingTask("ann", question, ()) for question in ASKED.values()]
    assert {reply.state for reply in READERS[name].read(nothing)} == {ReplyState.ABSTAINED}


@every_reader
def test_only_what_says_so_peeks(name: str) -> None:
    """Without coverage, requirements and gold answers the others say the same."""
    blind = [
        ReadingTask(
            "x",
            replace(one.question, gold=None, abstention=False, needs={}, stale={}),
            tuple(replace(memory, covers={}) for memory in one.memories),
        )
        for one in CALLS
    ]
    found = READERS[name]
    assert (found.read(blind) == found.read(CALLS)) is not found.peeks


def test_names_that_are_none() -> None:
    """An unknown one, and a model without a name or a session."""
    for name in ("model:", "models"):
        with pytest.raises(MemAuditError, match="unknown reader"):
            named_reader(name)
    with pytest.raises(MemAuditError, match="no model can be asked here"):
        named_reader("model:one")


HALF = Fraction(1, 2)


def extracted(question: str, *texts: str) -> ReaderReply:
    """What the baseline answers from these texts."""
    memories = tuple(StoredMemory(str(at), text, {}) for at, text in enumerate(texts))
    return Extractive().read([ReadingTask("p", ASKED[question], memories)])[0]


def test_the_sentence_with_most_of_the_question() -> None:
    """Word for word, of the first memory that has as much; bob, dog and call are asked for."""
    reply = extracted("dog", "Bob waved. Bob's dog is called Rex! Bye.", "The dog Bob called ran.")
    assert reply == ReaderReply(ReplyState.ANSWERED, "Bob's dog is called Rex!", ("0",))


def test_it_abstains_below_a_third() -> None:
    """One of three terms is a third; none is less."""
    assert extracted("dog", "A dog barked.").answer == "A dog barked."
    assert extracted("dog", "Ann moved.", "Soup.") == ReaderReply(ReplyState.ABSTAINED)
    assert extracted("dog", "") == ReaderReply(ReplyState.ABSTAINED)


def evidence(question: str, *memories: StoredMemory) -> ReaderReply:
    """What the reader without mistakes says."""
    return EvidenceOnly().read([ReadingTask("p", ASKED[question], memories)])[0]


def test_evidence_only() -> None:
    """The gold answer exactly where every unit is covered in full."""
    right = ReaderReply(ReplyState.ANSWERED, "pescatarian", ("m-now", "m-ended"), knows=True)
    assert evidence("diet", OLD, NOW, ENDED) == right
    assert evidence("diet", OLD, NOW) == ReaderReply(ReplyState.ABSTAINED, used=("m-now",))
    part = StoredMemory("part", "Rex", {"dog": HALF})
    assert evidence("dog", part).state is ReplyState.ABSTAINED
    assert evidence("dog", part, StoredMemory("rest", "a dog", {"dog": HALF})).knows
    assert evidence("book", DOG).state is ReplyState.ABSTAINED
    assert evidence("move", OPEN) == ReaderReply(ReplyState.ABSTAINED, used=("m-open",))
