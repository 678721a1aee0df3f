"""The two readers that ask no model, by hand."""

from fractions import Fraction

from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.readers.offline import EvidenceOnly, Extractive
from memaudit.downstream.readers.protocol import Asked, Reply, State
from tests.downstream.small import ASKED, DOG, ENDED, NOW, OLD, OPEN

HALF = Fraction(1, 2)


def extracted(question: str, *texts: str) -> Reply:
    """What the baseline answers from these texts."""
    memories = tuple(StoredMemory(str(at), text, {}) for at, text in enumerate(texts))
    return Extractive().read([Asked("p", ASKED[question], memories)])[0]


def test_the_sentence_with_most_of_the_question() -> None:
    """Word for word, of the first memory that has as much; bob, dog and call are asked for."""
    reply = extracted("dog", "Bob waved. Bob's dog is called Rex! Bye.", "The dog Bob called ran.")
    assert reply == Reply(State.ANSWERED, "Bob's dog is called Rex!", ("0",))


def test_it_abstains_below_a_third() -> None:
    """One of three terms is a third; none is less."""
    assert extracted("dog", "A dog barked.").answer == "A dog barked."
    assert extracted("dog", "Ann moved.", "Soup.") == Reply(State.ABSTAINED)
    assert extracted("dog", "") == Reply(State.ABSTAINED)


def evidence(question: str, *memories: StoredMemory) -> Reply:
    """What the reader without mistakes says."""
    return EvidenceOnly().read([Asked("p", ASKED[question], memories)])[0]


def test_evidence_only() -> None:
    """The gold answer exactly where every unit is covered in full."""
    right = Reply(State.ANSWERED, "pescatarian", ("m-now", "m-ended"), knows=True)
    assert evidence("diet", OLD, NOW, ENDED) == right
    assert evidence("diet", OLD, NOW) == Reply(State.ABSTAINED, used=("m-now",))
    part = StoredMemory("part", "Rex", {"dog": HALF})
    assert evidence("dog", part).state is State.ABSTAINED
    assert evidence("dog", part, StoredMemory("rest", "a dog", {"dog": HALF})).knows
    assert evidence("book", DOG).state is State.ABSTAINED
    assert evidence("move", OPEN) == Reply(State.ABSTAINED, used=("m-open",))
