"""All parts into one folder, one after the other, and the verification of such a folder.

Parts that are done and intact are kept. Verification compares every file with its hash, then makes
everything again. What is made again depends on nothing in the folder but its settings, its date
and, since no archive is shipped, the numbers of one. Its optima are certified, so every proof has
passed the checker once more. A folder may be anybody's work: whatever it holds is one line per
problem, never a traceback.
"""

import json
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from memaudit.kernel.words.text import counted
from memaudit.lab.reproduce.controlled import (
    Sweeper,
    make_solver_audit,
    reproduce_controlled,
    solver_keys,
)
from memaudit.lab.reproduce.folder import (
    ARCHIVE,
    ARCHIVE_NUMBERS,
    CONTROLLED,
    DOWNSTREAM,
    FIGURES,
    LABELS,
    MANIFEST,
    NATURAL,
    PARTS,
    ROWS,
    SENSITIVITY,
    SOLVERS,
    STORES,
    Ledger,
    Settings,
    file_sha256,
    remove_leftovers,
    source_digest,
    versions,
)
from memaudit.lab.reproduce.manifest import (
    Manifest,
    documents,
    make_manifest,
    read_manifest,
    write_documents,
)
from memaudit.lab.reproduce.own_set import (
    make_downstream,
    make_label_audit,
    make_natural_run,
    make_sensitivity,
    make_stores,
)
from memaudit.lab.reproduce.results import read_results
from memaudit.lab.reproduce.scoreboard import Scoreboard
from memaudit.workspace.engines import Engine
from memaudit.workspace.run_folder import entries, locked, make_own_folder


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


LONGEST = 160
"""Characters of a name that a folder gives. Longer ones are cut."""

STATED = ("identity", "times", "versions", "parts", "documents")
"""Fields of the manifest that say who made it, or are hashes of files compared one by one."""

VERSIONED = ("version", "versions", "crc")
"""Names of values that another program writes otherwise, wherever they stand in a file."""

MakeAgain = Callable[[Path, Manifest, Callable[[Path], object] | None], object]
"""Makes the reproduction of a manifest's settings and date in a new folder; the last argument, if
there is one, makes the part of the archive."""


@dataclass(slots=True)
class VerifyReport:
    """Problems make it fail, notes do not. `unverified` files only another program could remake."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unverified: dict[str, str] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)

    def problem(self, where: str, what: str) -> None:
        shown = where if len(where) <= LONGEST else f"{where[:LONGEST]}..."
        self.problems.append(f"{shown}: {what}")

    @property
    def headline(self) -> str:
        if self.problems:
            return counted(len(self.problems), "problem")
        if self.unverified:
            return f"holds, with {counted(len(self.unverified), 'file')} not verified"
        return "OK"

    @property
    def verdict(self) -> str:
        """The headline, and how much was checked."""
        checked = ", ".join(f"{number:,} {what}" for what, number in self.checked.items())
        return f"{self.headline}: {checked}"

    def to_json(self) -> dict[str, Any]:
        return {
            "valid": not self.problems,
            "headline": self.headline,
            "problems": self.problems,
            "not_verified": self.unverified,
            "notes": self.notes,
            "checked": dict(self.checked),
        }


def verify_reproduction(folder: Path, make_again: MakeAgain | None) -> VerifyReport:
    """Check a folder that `reproduce all` wrote, whoever ran it; by hashes only without a maker."""
    manifest = read_manifest(folder)
    report = VerifyReport(notes=list(_stated_only(manifest)))
    if not _check_files(folder, manifest, report):
        report.notes.append("files are missing or not plain: nothing was recomputed")
        return report
    listed, settings = len(manifest.packages.get("base", {})), manifest.settings
    if listed != settings.seeds:  # what is recomputed must be of the size that is there
        report.problem(MANIFEST, f"lists {listed} packages of base for {settings.seeds} seeds")
        return report
    due = len(solver_keys(settings.rows))
    # Counted before anything is made again: settings of a foreign folder may ask for a year of
    # work.
    with (folder / SOLVERS / ROWS).open("rb") as rows:
        count = sum(1 for _ in rows)
    if count != due:
        report.problem(f"{SOLVERS}/{ROWS}", f"has {count} rows, the settings ask for {due}")
        return report
    if make_again is None:
        report.notes.append("checked by hash only: nothing was recomputed")
        return report
    with tempfile.TemporaryDirectory() as temporary:
        again = Path(temporary, "again")
        copy: Callable[[Path], object] | None = None
        if ARCHIVE in manifest.parts:
            # Documents hold numbers of the archive, which only the archive itself could confirm.
            copy = partial(_copy_archive, folder)
            report.unverified[f"{ARCHIVE}/{ARCHIVE_NUMBERS}"] = "recomputing it needs the archive"
        make_again(again, manifest, copy)
        _compare(folder, again, manifest, report)
    return report


def _copy_archive(folder: Path, part: Path) -> None:
    (part / ARCHIVE_NUMBERS).write_bytes((folder / ARCHIVE / ARCHIVE_NUMBERS).read_bytes())


def _stated_only(manifest: Manifest) -> Iterator[str]:
    """What only the manifest says, and whether another program made the folder."""
    made_by, here = manifest.identity, source_digest()
    if made_by.source != here:
        yield (
            f"made by another program: memaudit {made_by.memaudit}, source "
            f"{made_by.source[:12]}; this is {versions()['memaudit']}, {here[:12]}"
        )
    libraries = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    seconds = ", ".join(f"{part} {took:g} s" for part, took in manifest.times.seconds.items())
    yield f"stated, not checked: made on {manifest.times.date} with {libraries}; took {seconds}"


def _check_files(folder: Path, manifest: Manifest, report: VerifyReport) -> bool:
    """Compare all hashes. True if every file is there and plain, so that it can be read."""
    present = dict(entries(folder))
    plain = {name for name, wrong in present.items() if not wrong}
    for name, wrong in present.items():
        if wrong or name not in {MANIFEST, *manifest.files}:
            report.problem(name, wrong or "is not in the manifest")
    for name, sha256 in manifest.files.items():
        if name not in present:
            report.problem(name, "is missing")
        elif name in plain and file_sha256(folder / name) != sha256:
            report.problem(name, "its SHA-256 is not the manifest's")
        report.checked["files"] += 1
    if sorted(set(manifest.parts) - {ARCHIVE}) != sorted(PARTS):
        report.problem(MANIFEST, "its list of parts is not that of a reproduction")
    for part, names in manifest.parts.items():
        for name in names:
            if not name.startswith(f"{part}/"):
                report.problem(MANIFEST, f"lists {name[:80]!r} in the part {part[:80]!r}")
    return manifest.files.keys() | {MANIFEST} <= plain


def _compare(folder: Path, again: Path, manifest: Manifest, report: VerifyReport) -> None:
    """Every file with the one made again, and what the manifest says of them."""
    remade = read_manifest(again)
    here = {**versions(), "the program": source_digest()[:12]}
    # Another version of a library may change a last digit, which is no fraud: rows must be the same
    # even then, other files are listed as not verified.
    made_with = {**manifest.versions, "the program": manifest.identity.source[:12]}
    other = next((name for name in here if made_with.get(name) != here[name]), "")
    for name in sorted(manifest.files.keys() | remade.files.keys()):
        if name not in remade.files:
            report.problem(name, "is not part of a reproduction with these settings")
            continue
        if name not in manifest.files:
            report.problem(MANIFEST, f"does not list {name}")
            continue
        if name in report.unverified:
            continue
        if (folder / name).read_bytes() == (again / name).read_bytes():
            report.checked["files made again"] += 1
            continue
        difference = _difference(folder / name, again / name)
        # Rows hold what is computed, without drawings and texts that a version changes.
        if difference and (not other or name.endswith(".jsonl")):
            report.problem(name, difference)
        elif other:
            was = made_with.get(other, "unknown")
            report.unverified[name] = f"by hash only: {other} was {was}, here it is {here[other]}"
        else:
            report.problem(name, "differs from what is recomputed")
    stated, expected = (data.model_dump(mode="json") for data in (manifest, remade))
    for field_name in sorted(expected.keys() - set(STATED)):
        if stated[field_name] == expected[field_name]:
            continue
        if other and field_name in ("prompts", "data"):
            report.unverified[MANIFEST] = f"its {field_name} are those of another program"
        else:
            report.problem(MANIFEST, f"its {field_name} do not follow from the files")
    same_source = manifest.identity.source == remade.identity.source
    if same_source and manifest.identity.memaudit != remade.identity.memaudit:
        made_by = manifest.identity.memaudit
        report.problem(MANIFEST, f"names version {made_by}, which did not make this")


def _difference(path: Path, remade: Path) -> str:
    """Where a file differs beyond versions; empty if it does not. Rows are named by their line."""
    if path.suffix != ".jsonl":
        try:
            same = _unversioned(path.read_bytes()) == _unversioned(remade.read_bytes())
        except (ValueError, RecursionError):
            same = False
        return "" if same else "differs from what is recomputed"
    with path.open("rb") as rows, remade.open("rb") as rows_again:
        line = 0
        for line, expected in enumerate(rows_again, 1):
            row = rows.readline()
            if row == expected:
                continue
            try:
                difference = _changed(_unversioned(row), _unversioned(expected))
            except (ValueError, RecursionError):
                difference = "is damaged or cut off"
            if difference:
                return f"line {line} {difference}"
        return f"has more than {line} rows" if rows.readline() else ""


def _unversioned(text: bytes) -> Any:
    """JSON without the values that another program writes otherwise."""

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if name not in VERSIONED}

    return json.loads(text, object_pairs_hook=kept)


def _changed(row: Any, expected: Any) -> str:
    # As JSON, in which 1, 1.0 and true differ.
    if not isinstance(row, dict):
        return "is not a row"
    for name in sorted(row.keys() | expected.keys()):
        here, there = (json.dumps(data.get(name), sort_keys=True) for data in (row, expected))
        if here != there or (name in row) != (name in expected):
            return f"has {name} {_shortened(here)}, recomputed {_shortened(there)}"
    return ""


def _shortened(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
