"""Rankings worked by hand."""

from fractions import Fraction

import pytest

from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers import RETRIEVERS, Bm25, Hybrid, Oracle, Recency, best, words
from tests.downstream.small import ALL

HALF = Fraction(1, 2)


def memories(**texts: str) -> list[StoredMemory]:
    """One a text."""
    return [StoredMemory(id, text, {}) for id, text in texts.items()]


def asks(text: str, **needs: Fraction) -> Question:
    """A question that requires units."""
    return Question("q", text, "", None, False, needs, {})


def test_bm25() -> None:
    """A rare word counts more than a common one, a short text more than a long one; 7 is a word."""
    stored = memories(
        long="The dog of ward 7 barks at the other dogs of the ward all night and all day.",
        short="A dog barks.",
        ward="Ward 7 is closed.",
        none="Soup again.",
    )
    barks, seven, cat = Bm25().rank(stored, [asks("barking dog"), asks("7"), asks("A cat?")], 9)
    assert barks == ("short", "long")
    assert seven == ("ward", "long")
    assert cat == ()


def test_terms_of_bm25_keep_repeats() -> None:
    """In order, stemmed, numbers by their digits, without words of grammar."""
    assert words("The dogs, the dog and two cats") == ["dog", "dog", "2", "cat"]


def test_ties_go_to_the_one_written_first() -> None:
    """Scores that differ below the sixth digit are equal; 0 is not found."""
    stored = memories(a="x", b="y", c="z", d="w")
    assert best(stored, [1.0, 1.0 + 1e-9, 2.0, 0.0], 3) == ("c", "a", "b")


class Fixed:
    """A ranking given beforehand."""

    name, about, peeks = "fixed", "given", False

    def __init__(self, *ids: str) -> None:
        self._ids = ids

    def rank(
        self, memories: list[StoredMemory], questions: list[Question], k: int
    ) -> list[tuple[str, ...]]:
        assert memories
        return [self._ids[:k] for _ in questions]


def test_fusion() -> None:
    """b: 1/62 + 1/61, a: 1/61 + 1/63, c: 1/62, d: 1/63; 1/61 + 1/62 is the most."""
    stored = memories(a="", b="", c="", d="")
    fused = Hybrid([Fixed("a", "b", "d"), Fixed("b", "c", "a")])
    assert fused.rank(stored, [asks("?")], 9) == [("b", "a", "c", "d")]
    assert fused.rank(stored, [asks("?")], 2) == [("b", "a")]


def test_recency() -> None:
    """Newest first."""
    assert Recency().rank(ALL, [asks("?")], 2) == [("m-open", "m-dog")]


def test_oracle() -> None:
    """What adds most first, until nothing is missing; more of the same is not taken."""
    stored = [
        StoredMemory("half", "", {"a": HALF}),
        StoredMemory("b", "", {"b": Fraction(1)}),
        StoredMemory("both", "", {"a": Fraction(1), "b": HALF}),
        StoredMemory("again", "", {"a": Fraction(1)}),
        StoredMemory("other", "", {"c": Fraction(1)}),
    ]
    needs = asks("?", a=Fraction(1), b=Fraction(1))
    assert Oracle().rank(stored, [needs], 9) == [("both", "b")]
    assert Oracle().rank(stored, [needs], 1) == [("both",)]
    assert Oracle().rank(stored[:2], [needs], 9) == [("b", "half")]
    assert Oracle().rank(stored, [asks("?")], 9) == [()]


def test_dense_reads_the_model_in_the_wheel() -> None:
    """No shared word is needed."""
    pytest.importorskip("wordllama", reason="pip install 'memaudit[embeddings]'")
    stored = memories(tax="The tax office wants the form by Monday.", pet="Rex the puppy barks.")
    (ranking,) = RETRIEVERS["dense"].rank(stored, [asks("Which dog does Bob have?")], 1)
    assert ranking == ("pet",)
