"""All parts into one folder, one after the other. Parts that are done and intact are kept."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memaudit.engines import Engine
from memaudit.lab.reproduce.controlled import Sweeper, make_solver_audit, reproduce_controlled
from memaudit.lab.reproduce.folder import (
    ARCHIVE,
    CONTROLLED,
    DOWNSTREAM,
    FIGURES,
    LABELS,
    NATURAL,
    SENSITIVITY,
    SOLVERS,
    STORES,
    Ledger,
    remove_leftovers,
)
from memaudit.lab.reproduce.manifest import documents, make_manifest, write_documents
from memaudit.lab.reproduce.own_set import (
    make_downstream,
    make_label_audit,
    make_natural_run,
    make_sensitivity,
    make_stores,
)
from memaudit.lab.reproduce.results import read_results
from memaudit.lab.reproduce.scoreboard import Scoreboard
from memaudit.lab.reproduce.settings import Settings, versions
from memaudit.workspace.run_folder import locked, make_own_folder


@dataclass(frozen=True, slots=True)
class Tools:
    """What the layers above lend: a runner of sweeps, one of tasks, a drawer of figures, a clock.

    `draw` gets the folder of everything and the one for figures. `announce` gets a part and whether
    it has to be computed.
    """

    sweep: Sweeper
    engine: Engine
    draw: Callable[[Path, Path], object]
    announce: Callable[[str, bool], None]
    clock: Callable[[], float] = time.monotonic


def reproduce_all(
    folder: Path,
    settings: Settings,
    tools: Tools,
    date: str,
    make_archive: Callable[[Path], object] | None = None,
) -> Scoreboard:
    """Compute what is missing, then write the documents and the manifest.

    `make_archive` makes the part of the paper's archive, where there is one.
    """
    makers: dict[str, Callable[[Path], object]] = {
        CONTROLLED: lambda part: reproduce_controlled(part, tools.sweep, settings.seeds),
        SOLVERS: lambda part: make_solver_audit(part, settings.rows, tools.engine),
        NATURAL: lambda part: make_natural_run(part, settings.packages, tools.engine),
        SENSITIVITY: lambda part: make_sensitivity(part, settings.packages, tools.engine),
        LABELS: lambda part: make_label_audit(part, settings.packages, tools.engine),
        STORES: lambda part: make_stores(part, settings.packages, tools.engine),
        DOWNSTREAM: lambda part: make_downstream(part, settings.packages),
        FIGURES: lambda part: tools.draw(folder, part),
    }
    if make_archive is not None:
        makers[ARCHIVE] = make_archive
    with locked(folder):
        # Under the lock: another process may be writing such a file.
        remove_leftovers(folder)
        ledger = Ledger(folder, settings.identity(), date)
        for name, make in makers.items():
            _make_part(ledger, name, make, tools)
        results = read_results(folder, settings)
        hashes = {path: sha256 for part in ledger.files.values() for path, sha256 in part.items()}
        # Documents come last, since tables and the card hold numbers of all parts; the manifest
        # after them vouches for every byte.
        texts = documents(results, hashes, ledger.date, versions()["memaudit"])
        write_documents(folder, texts)
        times = {"date": ledger.date, "seconds": ledger.seconds}
        ledger.finish(make_manifest(ledger.identity, times, ledger.files, results, texts))
    return results.scoreboard


def _make_part(ledger: Ledger, name: str, make: Callable[[Path], object], tools: Tools) -> None:
    """Compute a part unless it is done and intact.

    A part whose files changed after it was done starts from nothing. An interrupted one resumes
    after its last row.
    """
    intact = ledger.verified(name)
    tools.announce(name, not intact)
    if intact:
        return
    folder = ledger.folder / name
    # A file that was changed by hand cannot be repaired row by row.
    if ledger.is_broken(name):
        ledger.forget(name)
        shutil.rmtree(folder, ignore_errors=True)
    make_own_folder(folder)
    started = tools.clock()
    make(folder)
    ledger.record(name, tools.clock() - started)
