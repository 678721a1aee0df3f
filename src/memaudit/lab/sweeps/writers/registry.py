"""Every writer by name. A new writer is a file and a line in _ALL."""

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.writers.estimated import EstimatedGreedy, EstimatedGvt
from memaudit.lab.sweeps.writers.gvt import DensityOnly, Greedy, Gvt, GvtGeometric, SingleKind
from memaudit.lab.sweeps.writers.protocol import Writer
from memaudit.lab.sweeps.writers.proxies import Mem0Style, MemGptStyle
from memaudit.lab.sweeps.writers.references import (
    GenericOpt,
    NoTombstoneGvt,
    NoTombstoneOpt,
    Opt,
    RandomFeasible,
    RecencyRaw,
    ReservoirRaw,
)

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
    EstimatedGvt(),
    EstimatedGreedy(),
    MemGptStyle(),
    Mem0Style(),
)
WRITERS: dict[str, Writer] = {writer.name: writer for writer in _ALL}


def named_writer(name: str) -> Writer:
    if name not in WRITERS:
        raise MemAuditError(f"unknown writer {name!r}; known writers: {', '.join(WRITERS)}")
    return WRITERS[name]
