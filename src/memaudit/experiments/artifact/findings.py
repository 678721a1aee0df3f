"""What the parts found, read back from their files: documents are made of this alone."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.experiments.artifact.board import Board, board
from memaudit.experiments.artifact.index import Index, index_of
from memaudit.experiments.artifact.label_audit import AGREEMENT, RATIOS, RELIABILITY
from memaudit.experiments.artifact.layout import (
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
    index: Index
    board: Board


def findings(folder: Path, settings: Settings) -> Findings:
    """Read every part."""
    runs = {"sweep": read_run(folder / SWEEP), "stress": read_run(folder / STRESS)}
    summaries = {
        "sweep": read_json(folder / SWEEP / SUMMARY), "stress": read_json(folder / STRESS / SUMMARY)
    }  # fmt: skip
    solvers = read_json(folder / SOLVERS / SUMMARY)
    return Findings(
        settings=settings,
        runs=runs,
        summaries=summaries,
        solvers=solvers,
        natural=read_json(folder / NATURAL / SUMMARY),
        sensitivity=read_json(folder / SENSITIVITY / SUMMARY),
        agreement=read_json(folder / LABELS / AGREEMENT),
        ratios=read_json(folder / LABELS / RATIOS),
        reliability=read_json(folder / LABELS / RELIABILITY),
        index=index_of(folder),
        board=board(settings.to_json(), runs["sweep"]["budgets"], summaries, solvers),
    )


def read_json(path: Path) -> Data:
    """A JSON object from a file."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError:
        raise MemAuditError(f"{path} is not JSON; make it again") from None
    if not isinstance(data, dict):
        raise MemAuditError(f"{path} holds no JSON object; make it again")
    return data
