"""Every writer by name; a new one is a file and a line here."""

from memaudit.core.errors import MemAuditError
from memaudit.writers.density_only import DensityOnly
from memaudit.writers.generic_opt import GenericOpt
from memaudit.writers.greedy import Greedy
from memaudit.writers.gvt import Gvt
from memaudit.writers.gvt_geometric import GvtGeometric
from memaudit.writers.no_tombstone import NoTombstoneGvt, NoTombstoneOpt
from memaudit.writers.one_kind import OneKind
from memaudit.writers.protocol import Writer
from memaudit.writers.random_feasible import RandomFeasible
from memaudit.writers.recency_raw import RecencyRaw
from memaudit.writers.reservoir_raw import ReservoirRaw

_ALL: tuple[Writer, ...] = (
    Gvt(),
    GvtGeometric(),
    Greedy(),
    DensityOnly(),
    OneKind("fact"),
    OneKind("summary"),
    NoTombstoneOpt(),
    NoTombstoneGvt(),
    GenericOpt(),
    RandomFeasible(),
    RecencyRaw(),
    ReservoirRaw(),
)
WRITERS: dict[str, Writer] = {writer.name: writer for writer in _ALL}


def named_writer(name: str) -> Writer:
    """The writer of that name, or an error that lists them."""
    if name not in WRITERS:
        raise MemAuditError(f"unknown writer {name!r}; known writers: {', '.join(WRITERS)}")
    return WRITERS[name]
