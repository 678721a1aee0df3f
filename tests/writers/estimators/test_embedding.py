"""Embedding novelty: the arithmetic always, the model where it is installed."""

import logging
import subprocess
import sys

import numpy as np
import pytest

from memaudit.core.errors import MissingTool
from memaudit.writers.estimators import embedding
from memaudit.writers.estimators.cue_prior import CuePrior
from memaudit.writers.estimators.embedding import Embedding, EmbeddingNovelty, cosines, embedded
from tests.writers.running import missing_model, view_of

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
    try:
        with pytest.raises(MissingTool, match=r"pip install 'memaudit\[embeddings\]'"):
            Embedding().novelty(view_of([("fact", "apples", 1)]))
    finally:
        embedding._model.cache_clear()


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
        "import logging; from memaudit.writers.estimators.embedding import embedded; "
        "embedded(['apples']); print(logging.getLogger().handlers, logging.getLogger().level)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["[]", str(logging.WARNING)]
