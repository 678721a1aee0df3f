"""All parts into one folder, one after the other; those that are done and whole are kept."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memaudit.experiments.engines.local import Engine
from memaudit.io.run_folder import locked
from memaudit.reproduce.board import Board
from memaudit.reproduce.controlled import Sweeper, reproduce_controlled
from memaudit.reproduce.documents import documents, write_documents
from memaudit.reproduce.findings import findings
from memaudit.reproduce.folder import (
    CONTROLLED,
    DOWNSTREAM,
    FIGURES,
    LABELS,
    NATURAL,
    SENSITIVITY,
    SOLVERS,
    Ledger,
    remove_leftovers,
)
from memaudit.reproduce.label_results import make_label_audit
from memaudit.reproduce.manifest import manifest
from memaudit.reproduce.natural_results import make_natural_results
from memaudit.reproduce.sensitivity_results import make_sensitivity
from memaudit.reproduce.settings import Settings, versions
from memaudit.reproduce.solver_results import make_solver_audit
from memaudit.reproduce.tables import make_downstream


@dataclass(frozen=True, slots=True)
class Tools:
    """What the layers above lend: a runner of sweeps, one of tasks, a pen, and a clock.

    `draw` is called with the folder of everything and the one for figures, `told` with a part and
    whether it has to be made.
    """

    sweep: Sweeper
    engine: Engine
    draw: Callable[[Path, Path], object]
    told: Callable[[str, bool], None]
    clock: Callable[[], float] = time.monotonic


def reproduce_all(folder: Path, settings: Settings, tools: Tools, date: str) -> Board:
    """Make what is missing, then the documents and the manifest; the scoreboard comes back."""
    makers: dict[str, Callable[[Path], object]] = {
        CONTROLLED: lambda own: reproduce_controlled(own, tools.sweep, settings.seeds),
        SOLVERS: lambda own: make_solver_audit(own, settings.rows, tools.engine),
        NATURAL: lambda own: make_natural_results(own, settings.packages, tools.engine),
        SENSITIVITY: lambda own: make_sensitivity(own, settings.packages, tools.engine),
        LABELS: lambda own: make_label_audit(own, settings.packages, tools.engine),
        DOWNSTREAM: lambda own: make_downstream(own, settings.packages),
        FIGURES: lambda own: tools.draw(folder, own),
    }
    with locked(folder):
        remove_leftovers(folder)
        ledger = Ledger(folder, settings.identity(), date)
        for name, make in makers.items():
            _part(ledger, name, make, tools)
        found = findings(folder, settings)
        hashes = {path: sha256 for part in ledger.files.values() for path, sha256 in part.items()}
        texts = documents(found, hashes, ledger.date, versions()["memaudit"])
        write_documents(folder, texts)
        times = {"date": ledger.date, "seconds": ledger.seconds}
        ledger.finish(manifest(ledger.identity, times, ledger.files, found, texts))
    return found.board


def _part(ledger: Ledger, name: str, make: Callable[[Path], object], tools: Tools) -> None:
    """Make a part unless it is done and whole. One that was done and is no longer what it was is
    made from nothing; one that was interrupted goes on where its rows end."""
    tools.told(name, not ledger.verified(name))
    if ledger.verified(name):
        return
    own = ledger.folder / name
    if ledger.is_broken(name):
        ledger.forget(name)
        shutil.rmtree(own, ignore_errors=True)
    own.mkdir(exist_ok=True)
    started = tools.clock()
    make(own)
    ledger.record(name, tools.clock() - started)
