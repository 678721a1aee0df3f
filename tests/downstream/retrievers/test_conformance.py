"""What holds for every retriever in the registry; a new one is found by itself."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.downstream.holding import StoredMemory
from memaudit.downstream.question import Question
from memaudit.downstream.retrievers import RETRIEVERS, named_retriever
from tests.downstream.small import ALL, ASKED, ONE

pytest.importorskip("wordllama", reason="pip install 'memaudit[embeddings]'")

NAMES = sorted(RETRIEVERS)
QUESTIONS = tuple(ASKED.values())
WORDS = st.text(st.sampled_from("ab 7.é\n"), max_size=12)

every_retriever = pytest.mark.parametrize("name", NAMES)


def question(text: str) -> Question:
    """A question with some text, that requires nothing."""
    return Question("q", text, "", None, False, {}, {})


@every_retriever
def test_describes_itself(name: str) -> None:
    """Name and one line."""
    found = named_retriever(name)
    assert found.name == name
    assert found.about
    assert "\n" not in found.about


@every_retriever
def test_finds_at_most_k_of_what_is_there(name: str) -> None:
    """Known ids, none twice; a larger k only adds to the end, but for the fusion of rankings."""
    for k in (1, 2, 99):
        rankings = RETRIEVERS[name].rank(ALL, QUESTIONS, k)
        assert len(rankings) == len(QUESTIONS)
        for ranking in rankings:
            assert len(ranking) == len(set(ranking)) <= k
            assert set(ranking) <= {memory.id for memory in ALL}
    if name != "hybrid":
        short, long = (RETRIEVERS[name].rank(ALL, QUESTIONS, k) for k in (2, 99))
        assert [found[:2] for found in long] == short


@every_retriever
def test_nothing_to_find(name: str) -> None:
    """An empty store, no question, and texts without a word are no errors."""
    found = RETRIEVERS[name]
    assert found.rank([], QUESTIONS, 3) == [()] * len(QUESTIONS)
    assert found.rank(ALL, [], 3) == []
    blank = [StoredMemory(str(at), text, {}) for at, text in enumerate(("", " \n", "...", "the"))]
    if name != "recency":
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
    if name != "recency":
        for text in set(texts):
            same = [int(id) for id in ranking if texts[int(id)] == text]
            first = [at for at, one in enumerate(texts) if one == text]
            assert same == first[: len(same)]


def test_the_same_in_another_process() -> None:
    """The order of sets does not decide: two hash seeds give one ranking."""
    code = (
        "from memaudit.downstream.retrievers import RETRIEVERS\n"
        "from tests.downstream.small import ALL, ASKED\n"
        "print([RETRIEVERS[n].rank(ALL, list(ASKED.values()), 3) for n in sorted(RETRIEVERS)])"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(printed) == 1


def test_names_that_are_none() -> None:
    """An unknown one, and an address without a model."""
    with pytest.raises(MemAuditError, match="unknown retriever 'bm26'; known retrievers: bm25"):
        named_retriever("bm26")
    with pytest.raises(MemAuditError, match="write dense:URL#MODEL"):
        named_retriever("dense:http://localhost/v1")
