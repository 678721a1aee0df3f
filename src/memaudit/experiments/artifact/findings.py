"""What the parts found, read back from their files: documents are made of this alone."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.experiments.artifact.board import Board, board
from memaudit.experiments.artifact.index import Index, index_of
from memaudit.experiments.artifact.label_audit import AGREEMENT, RATIOS, RELIABILITY
from memaudit.experiments.artifact.layout import (
    DOWNSTREAM,
    LABELS,
    NATURAL,
    SENSITIVITY,
    SOLVERS,
    STRESS,
    SUMMARY,
    SWEEP,
)
from memaudit.experiments.artifact.settings import Settings
from memaudit.experiments.sweep import read_run
from memaudit.io.strict_json import read_object

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """One field a file, and the scoreboard that follows from them."""

    settings: Settings
    runs: dict[str, Data]
    summaries: dict[str, Data]
    solvers: Data
    natural: Data
    sensitivity: Data
    agreement: Data
    ratios: Data
    reliability: Data
    downstream: Data
    index: Index
    board: Board


def findings(folder: Path, settings: Settings) -> Findings:
    """Read every part."""
    runs = {"sweep": read_run(folder / SWEEP), "stress": read_run(folder / STRESS)}
    summaries = {
        "sweep": _read(folder / SWEEP / SUMMARY), "stress": _read(folder / STRESS / SUMMARY)
    }  # fmt: skip
    solvers = _read(folder / SOLVERS / SUMMARY)
    return Findings(
        settings=settings,
        runs=runs,
        summaries=summaries,
        solvers=solvers,
        natural=_read(folder / NATURAL / SUMMARY),
        sensitivity=_read(folder / SENSITIVITY / SUMMARY),
        agreement=_read(folder / LABELS / AGREEMENT),
        ratios=_read(folder / LABELS / RATIOS),
        reliability=_read(folder / LABELS / RELIABILITY),
        downstream=_read(folder / DOWNSTREAM / SUMMARY),
        index=index_of(folder),
        board=board(settings.to_json(), runs["sweep"]["budgets"], summaries, solvers),
    )


def _read(path: Path) -> Data:
    return read_object(path, "make it again")
