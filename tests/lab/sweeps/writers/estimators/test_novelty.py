"""Cues, content words, their overlap and novelty by hand; the embedding where it is installed."""

import logging
import subprocess
import sys
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memaudit.kernel.errors import MissingTool
from memaudit.lab.sweeps.writers.estimated import EstimatedGreedy, EstimatedGvt
from memaudit.lab.sweeps.writers.estimators import embedding
from memaudit.lab.sweeps.writers.estimators.embedding import (
    Embedding,
    EmbeddingNovelty,
    cosines,
    embedded,
)
from memaudit.lab.sweeps.writers.estimators.lexical import (
    CuePrior,
    contained_share,
    content_words,
    cue_worth,
    jaccard,
    lexical_novelty,
    text_cues,
)
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.lab.sweeps.writers.running import missing_model, view_of
from tests.strategies import texts


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I no longer eat meat.", {"first_person", "update"}),
        ("It may rain", {"unsure"}),
        ("Dentist: 12 May at 14:00.", {"number", "date"}),
        ("Tuesday", {"date"}),
        ("Please delete my number", {"first_person", "update", "deletion"}),
        ("Who prefers tea?", {"liking", "question"}),
        ("known, knowing", set()),
        ("", set()),
    ],
)
def test_flags(text: str, shown: set[str]) -> None:
    """Whole words only: known is not now."""
    flags = asdict(text_cues(text))
    assert {name for name, value in flags.items() if value is True} == shown


def test_names_stand_inside_a_sentence() -> None:
    """Leeds, Ana and Émile; not the word that starts a sentence, nor a lone I."""
    assert text_cues("We met in Leeds. Then Ana, Émile and I left.").names == 3
    assert text_cues("Nobody came. Nothing happened").names == 0


def test_the_prior_by_hand() -> None:
    """Fact 0.6; number 0.2, date 0.2, six words 0.1 * 6 / 16; half as sure, half of it."""
    text = "Dentist: 12 May, ten o'clock"  # dentist, 12, may, ten, o, clock
    worth = 0.2 + 0.2 + 0.1 * 6 / 16
    assert cue_worth(text) == pytest.approx(worth)
    view = view_of([("fact", text, 5), ("fact", text, 5, Fraction(1, 2)), ("odd", "", 1)])
    assert CuePrior().values(view) == pytest.approx((0.6 + worth, (0.6 + worth) / 2, 0.5))


def test_all_cues_add_up_to_one_at_most() -> None:
    """A very long text with every cue comes close to 1."""
    text = "Today I moved to Leeds with Ana, room 7. " + "word " * 5000
    assert 0.99 < cue_worth(text) < 1


@given(text=texts | st.text())
def test_worth_lies_between_0_and_1(text: str) -> None:
    assert 0 <= cue_worth(text) <= 1


def test_content_words() -> None:
    """Lower case, no grammar, no status words; underscores join nothing."""
    assert content_words("I'm in Leeds NOW, no longer in 14_Elm_Street.") == {
        "leeds",
        "14",
        "elm",
        "street",
    }
    assert content_words("It is not.") == frozenset()
    assert content_words("我住在杭州") == {"住", "杭州"}
    assert content_words("Café 東京") == {"café", "東京"}


def test_jaccard() -> None:
    first, second = content_words("Ann works at Acme"), content_words("Ann works at Zeta")
    assert jaccard(first, second) == pytest.approx(2 / 4)
    assert jaccard(first, first) == 1
    assert jaccard(first, frozenset()) == jaccard(frozenset(), frozenset()) == 0


def test_contained_share() -> None:
    """One of the two words of the tombstone is in the fact."""
    ended = content_words("Leeds address: no longer valid.")
    assert contained_share(ended, content_words("Lives at 14 Elm Street, Leeds.")) == 1 / 2
    assert contained_share(frozenset(), ended) == 0


def test_novelty_is_the_share_of_new_words() -> None:
    """A tombstone is new beside the statement it ends; a compound update says both."""
    view = view_of(
        [("fact", "vegetarian meals", 1), ("fact", "vegetarian soup", 1)],
        [("tombstone", "Vegetarian: no longer valid", 1)],
        [("compound_update", "fish, no longer vegetarian", 1), ("fact", "", 1)],
    )
    start = lexical_novelty(view)
    novelty = start()
    assert [novelty.share(p) for p in range(5)] == [1, 1, 1, 1, 1]
    novelty.keep(0)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 1, 3 / 4, 1]
    novelty.keep(2)
    assert [novelty.share(p) for p in range(5)] == [0, 1 / 2, 0, 2 / 4, 1]
    assert start().share(0) == 1  # each pass starts anew


needs_model = pytest.mark.skipif(bool(missing_model()), reason=missing_model())


def test_novelty_by_hand() -> None:
    """Cosines 0.6 and, towards the other side, none; the nearest kept one counts."""
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0], [0.0, 0.0]])
    novelty = EmbeddingNovelty(4, lambda place: cosines(vectors, place))
    assert [novelty.share(p) for p in range(4)] == [1, 1, 1, 1]
    novelty.keep(0)
    assert [novelty.share(p) for p in range(4)] == pytest.approx([0, 0.4, 1, 1])
    novelty.keep(1)
    assert [novelty.share(p) for p in range(4)] == pytest.approx([0, 0, 1, 1])


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:

    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(embedding, "import_module", absent)
    embedding._model.cache_clear()
    embedding._nearness.cache_clear()
    try:
        with pytest.raises(MissingTool, match=r"pip install '\.\[embeddings\]'"):
            Embedding().novelty(view_of([("fact", "apples", 1)]))
    finally:
        embedding._model.cache_clear()


class Letters:
    """A model without a file: a vector counts a's and b's. It remembers what it was asked."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        self.batches.append(texts)
        counts = [[text.count("a"), text.count("b"), 1] for text in texts]
        return np.array(counts, dtype=np.float32)


@pytest.fixture
def letters(monkeypatch: pytest.MonkeyPatch) -> Letters:
    model = Letters()
    monkeypatch.setattr(embedding, "_model", lambda: model)
    embedding._nearness.cache_clear()
    return model


def test_a_package_is_embedded_once(letters: Letters) -> None:
    """By both writers and at every budget; another package is embedded again."""
    view = view_of([("fact", "aab", 1), ("fact", "bb", 2)], [("fact", "ab", 1)])
    gvt, greedy = WRITERS["estimated_gvt_embedding"], WRITERS["estimated_greedy_embedding"]
    assert isinstance(gvt, EstimatedGvt)
    assert isinstance(greedy, EstimatedGreedy)
    for budget in (1, 2, 3):
        gvt.write(view, Fraction(budget), 0)
        greedy.write(view, Fraction(budget), 0)
    assert letters.batches == [["bb", "ab", "aab"]]
    greedy.write(view_of([("fact", "b", 1)]), Fraction(1), 0)
    assert letters.batches[1:] == [["b"]]


def test_a_long_text_does_not_pad_the_others(letters: Letters) -> None:
    """Texts of about one length share a batch. The vectors are in the order of the texts."""
    many = ["a" * 60_000, *["ab"] * 100, "b" * 60_000]
    vectors = embedded(many)
    assert [len(batch) for batch in letters.batches] == [64, 36, 1, 1]
    assert vectors[0] == pytest.approx([1, 0, 0], abs=1e-4)
    assert vectors[1] == pytest.approx(np.full(3, 3**-0.5))
    assert vectors[-1] == pytest.approx([0, 1, 0], abs=1e-4)


@needs_model
def test_near_texts_are_near() -> None:
    """Vectors have length 1; a text without tokens has none."""
    vectors = embedded(["The cat sat on the mat.", "A cat sits on a mat.", "Tax rates rise.", ""])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0])
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.6 > 0.3 > far


@needs_model
def test_values_are_the_cue_prior() -> None:
    """Nothing kept: everything is new."""
    view = view_of([("fact", "Ann works at Acme", 3)], [("fact", "Ann works at Acme", 3)])
    novelty = Embedding().novelty(view)()
    assert Embedding().values(view) == CuePrior().values(view)
    assert novelty.share(1) == 1
    novelty.keep(0)
    assert novelty.share(1) == pytest.approx(0, abs=1e-6)


@needs_model
def test_logging_stays_as_it_was() -> None:
    """The model's library must not set up logging for the whole program."""
    script = (
        "import logging; from memaudit.lab.sweeps.writers.estimators.embedding import embedded; "
        "embedded(['apples']); print(logging.getLogger().handlers, logging.getLogger().level)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["[]", str(logging.WARNING)]
