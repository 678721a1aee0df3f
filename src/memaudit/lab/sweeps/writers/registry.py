"""Every writer by name. A new writer is a file and a line in _ALL."""

from functools import lru_cache
from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.writers.estimated import EstimatedGreedy, EstimatedGvt, Utilities
from memaudit.lab.sweeps.writers.estimators.embedding import Embedding
from memaudit.lab.sweeps.writers.estimators.lexical import CuePrior
from memaudit.lab.sweeps.writers.estimators.ridge import Ridge, read_model
from memaudit.lab.sweeps.writers.gvt import DensityOnly, Greedy, Gvt, GvtGeometric, SingleKind
from memaudit.lab.sweeps.writers.protocol import Writer
from memaudit.lab.sweeps.writers.proxies import AMacStyle, AMemStyle, Mem0Style, MemGptStyle
from memaudit.lab.sweeps.writers.references import (
    GenericOpt,
    NoTombstoneGvt,
    NoTombstoneOpt,
    Opt,
    RandomFeasible,
    RecencyRaw,
    ReservoirRaw,
)

RIDGE, RIDGE_GREEDY = "estimated_gvt_ridge", "estimated_greedy_ridge"

_ALL: tuple[Writer, ...] = (
    Opt(),
    Gvt(),
    GvtGeometric(),
    Greedy(),
    DensityOnly(),
    SingleKind("fact"),
    SingleKind("summary"),
    NoTombstoneOpt(),
    NoTombstoneGvt(),
    GenericOpt(),
    RandomFeasible(),
    RecencyRaw(),
    ReservoirRaw(),
    EstimatedGvt(CuePrior(), "estimated_gvt", "Estimated GVT"),
    EstimatedGvt(Ridge(), RIDGE, "Estimated GVT, ridge"),
    EstimatedGvt(Embedding(), "estimated_gvt_embedding", "Estimated GVT, embeddings"),
    EstimatedGreedy(CuePrior(), "estimated_greedy", "Estimated greedy"),
    EstimatedGreedy(Ridge(), RIDGE_GREEDY, "Estimated greedy, ridge"),
    EstimatedGreedy(Embedding(), "estimated_greedy_embedding", "Estimated greedy, embeddings"),
    MemGptStyle(),
    Mem0Style(),
    AMemStyle(),
    AMacStyle(),
)
WRITERS: dict[str, Writer] = {writer.name: writer for writer in _ALL}


@lru_cache(maxsize=64)
def named_writer(name: str) -> Writer:
    """A writer by name; estimated_gvt_ridge:FILE uses the ridge model in a file, and
    estimated_gvt:FILE the utilities that a model gave."""
    base, colon, path = name.partition(":")
    if colon and base == "estimated_gvt":
        return EstimatedGvt(Utilities(Path(path)), name, "Estimated GVT, a model's utilities")
    if colon and base == "estimated_greedy":
        label = "Estimated greedy, a model's utilities"
        return EstimatedGreedy(Utilities(Path(path)), name, label)
    if colon and base == RIDGE:
        return EstimatedGvt(Ridge(read_model(Path(path))), name, "Estimated GVT, own ridge")
    if colon and base == RIDGE_GREEDY:
        return EstimatedGreedy(Ridge(read_model(Path(path))), name, "Estimated greedy, own ridge")
    if name not in WRITERS:
        raise MemAuditError(f"unknown writer {name!r}; known writers: {', '.join(WRITERS)}")
    return WRITERS[name]
