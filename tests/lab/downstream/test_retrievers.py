"""One conformance suite for every retriever, and rankings worked by hand."""

import logging
import os
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.lab.downstream import retrievers
from memaudit.lab.downstream.question import PackageQuestion, StoredMemory
from memaudit.lab.downstream.retrievers import (
    RETRIEVERS,
    Bm25,
    Oracle,
    best,
    named_retriever,
    words,
)
from tests.lab.downstream.small import ALL, ASKED, ONE

pytest.importorskip("wordllama", reason="pip install '.[embeddings]'")

NAMES = sorted(RETRIEVERS)
QUESTIONS = tuple(ASKED.values())
WORDS = st.text(st.sampled_from("ab 7.é\n"), max_size=12)

every_retriever = pytest.mark.parametrize("name", NAMES)


def question(text: str) -> PackageQuestion:
    """A question with some text, that requires nothing."""
    return PackageQuestion("q", text, "", None, False, {}, {})


@every_retriever
def test_describes_itself(name: str) -> None:
    """Name and one line."""
    found = named_retriever(name)
    assert found.name == name
    assert found.about
    assert "\n" not in found.about


@every_retriever
def test_finds_at_most_k_of_what_is_there(name: str) -> None:
    """Known ids, none twice; a larger k only adds to the end."""
    for k in (1, 2, 99):
        rankings = RETRIEVERS[name].rank(ALL, QUESTIONS, k)
        assert len(rankings) == len(QUESTIONS)
        for ranking in rankings:
            assert len(ranking) == len(set(ranking)) <= k
            assert set(ranking) <= {memory.id for memory in ALL}
    short, long = (RETRIEVERS[name].rank(ALL, QUESTIONS, k) for k in (2, 99))
    assert [found[:2] for found in long] == short


@every_retriever
def test_nothing_to_find(name: str) -> None:
    """An empty store, no question, and texts without a word are no errors."""
    found = RETRIEVERS[name]
    assert found.rank([], QUESTIONS, 3) == [()] * len(QUESTIONS)
    assert found.rank(ALL, [], 3) == []
    blank = [StoredMemory(str(at), text, {}) for at, text in enumerate(("", " \n", "...", "the"))]
    assert found.rank(blank[:2], [question(""), question("Why?")], 3) == [(), ()]
    for ranking in found.rank(blank, [question("?!"), question("Who is Ann?")], 3):
        assert len(ranking) <= 3


@every_retriever
def test_questions_do_not_disturb_each_other(name: str) -> None:
    """All at once, one at a time, and after the first few: a resumed run finds the same."""
    found = RETRIEVERS[name]
    at_once = found.rank(ALL, QUESTIONS, 3)
    assert [found.rank(ALL, [one], 3)[0] for one in QUESTIONS] == at_once
    assert found.rank(ALL, QUESTIONS[2:], 3) == at_once[2:]


@every_retriever
def test_only_an_oracle_peeks(name: str) -> None:
    """Without coverage, answers and requirements the others find the same."""
    found = RETRIEVERS[name]
    blind = [replace(memory, covers={}) for memory in ALL]
    asked = [question(one.text) for one in QUESTIONS]
    same = found.rank(blind, asked, 3) == found.rank(ALL, QUESTIONS, 3)
    assert same is not found.peeks


@every_retriever
@settings(max_examples=25)
@given(texts=st.lists(WORDS, max_size=5), asked=WORDS)
def test_any_text(name: str, texts: list[str], asked: str) -> None:
    """Never an error, always the same ranking, and equal texts in order of writing."""
    memories = [StoredMemory(str(at), text, {"u": ONE}) for at, text in enumerate(texts)]
    ask = replace(question(asked), needs={"u": ONE})
    (ranking,) = RETRIEVERS[name].rank(memories, [ask], 3)
    assert RETRIEVERS[name].rank(memories, [ask], 3) == [ranking]
    for text in set(texts):
        same = [int(id) for id in ranking if texts[int(id)] == text]
        first = [at for at, other in enumerate(texts) if other == text]
        assert same == first[: len(same)]


def test_the_same_in_another_process() -> None:
    """The order of sets does not decide: two hash seeds give one ranking."""
    code = (
        "from memaudit.lab.downstream.retrievers import RETRIEVERS\n"
        "from tests.lab.downstream.small import ALL, ASKED\n"
        "print([RETRIEVERS[n].rank(ALL, list(ASKED.values()), 3) for n in sorted(RETRIEVERS)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


def test_names_that_are_none() -> None:
    with pytest.raises(MemAuditError, match="unknown retriever 'bm26'; known retrievers: bm25"):
        named_retriever("bm26")


HALF = Fraction(1, 2)


def memories(**texts: str) -> list[StoredMemory]:
    """One a text."""
    return [StoredMemory(id, text, {}) for id, text in texts.items()]


def asks(text: str, **needs: Fraction) -> PackageQuestion:
    """A question that requires units."""
    return PackageQuestion("q", text, "", None, False, needs, {})


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
    pytest.importorskip("wordllama", reason="pip install '.[embeddings]'")
    stored = memories(tax="The tax office wants the form by Monday.", pet="Rex the puppy barks.")
    (ranking,) = RETRIEVERS["dense"].rank(stored, [asks("Which dog does Bob have?")], 1)
    assert ranking == ("pet",)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """And logging is as it was before the library was imported."""

    def absent(name: str) -> None:
        logging.getLogger().setLevel(logging.DEBUG)
        raise ImportError(name)

    level = logging.getLogger().level
    monkeypatch.setattr(retrievers, "import_module", absent)
    retrievers._wordllama.cache_clear()
    with pytest.raises(MissingTool, match=r"pip install '\.\[embeddings\]'"):
        retrievers.embedded(["apples"])
    assert logging.getLogger().level == level
