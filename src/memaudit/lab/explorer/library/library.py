"""The library: everything recognised in the given folders, opened on demand and cached."""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.certificates import read_certificates
from memaudit.kernel.io.packages import read_package, read_packages
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.budgets import is_share
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.words.text import counted
from memaudit.lab.explorer.library.entries import KINDS, Kind, LibraryEntry, Unreadable, read_object
from memaudit.lab.explorer.library.folders import Scan
from memaudit.lab.explorer.library.packages import IS_OF_RUN, IndexedPackage, remade, run_packages
from memaudit.lab.explorer.library.records import (
    DiagnosisFolder,
    ScoreLines,
    read_diagnosis_folder,
    read_score_lines,
)
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, open_run
from memaudit.stores.registry import read_imported

MOST_CACHED = 24
"""Opened entries kept in memory. The least recently used one is dropped first."""
DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError)
"""What reading a run raises if its files are not those of a run."""

Thing = TypeVar("Thing")
Stamp = tuple[int, ...]


class NotInLibrary(MemAuditError):
    """An address that leads to nothing in the library."""


class Library:
    """Folders as typed records. `items` is in the order of kinds, then of places."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = _labelled(roots)
        self._scan = Scan()
        self._lock = threading.RLock()
        self._cache: dict[tuple[str, str, Stamp], object] = {}
        self._failed: dict[tuple[str, Stamp], MemAuditError] = {}
        self.items: tuple[LibraryEntry, ...] = ()
        self._skipped: tuple[Unreadable, ...] = ()
        self._named: dict[tuple[Kind, str], LibraryEntry] = {}
        self.refresh()

    def refresh(self) -> None:
        """Scan the folders again. What changed is read again when a page needs it."""
        with self._lock:
            seen = [item for root, label in self._roots for item in self._scan.walk(root, label)]
            entries = {item.slug: item for item in seen if isinstance(item, LibraryEntry)}
            order = {kind: place for place, kind in enumerate(KINDS)}
            before = self.items
            self.items = tuple(
                sorted(
                    entries.values(), key=lambda entry: (order[entry.kind], entry.place, entry.name)
                )
            )
            self._skipped = tuple(item for item in seen if isinstance(item, Unreadable))
            if self.items != before:
                self._named = {(entry.kind, entry.slug): entry for entry in self.items}

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Entries that could not be read, during the scan or when a page opened them."""
        places = {(entry.slug, entry.stamp): entry.place for entry in self.items}
        failed = [
            Unreadable(places[key], str(error))
            for key, error in self._failed.items()
            if key in places
        ]
        return tuple(
            Unreadable(item.place, self.without_paths(item.reason))
            for item in (*self._skipped, *failed)
        )

    def without_paths(self, text: str) -> str:
        """A message with folder names in place of full paths, which pages do not reveal."""
        for root, label in self._roots:
            text = text.replace(str(root), label)
        return text

    def of(self, kind: Kind) -> tuple[LibraryEntry, ...]:
        return tuple(entry for entry in self.items if entry.kind == kind)

    def named(self, kind: Kind, slug: str) -> LibraryEntry:
        """The entry of an address, including the packages of runs."""
        if (kind, slug) not in self._named and kind == "package":
            made = [package for run in self.of("run") for package in self.packages_of(run)]
            self._named |= {(kind, package.slug): package for package in made}
        if (kind, slug) not in self._named:
            raise NotInLibrary(f"there is no {kind} of this name in the library: {slug}")
        return self._named[kind, slug]

    def with_digest(self, digest: str) -> LibraryEntry | None:
        """The package that a certificate names. Files that do not say their digest are opened."""
        packages = self.of("package")
        likely = [entry for entry in packages if entry.text("digest") == digest]
        unknown = [entry for entry in packages if not entry.text("digest")]
        for entry in (*likely, *unknown):
            try:
                if self.package(entry).digest == digest:
                    return entry
            except MemAuditError:  # listed as unreadable
                continue
        return None

    def packages_of(self, run: LibraryEntry) -> tuple[LibraryEntry, ...]:
        """The packages of a run, which are generated again from their seeds when opened."""
        try:
            return self._opened(run, "packages", run_packages)
        except MemAuditError:  # a damaged manifest: the run's own page says so
            return ()

    def package(self, entry: LibraryEntry) -> IndexedPackage:
        """A package, read and checked; a folder of many is read once for all of them."""
        if not entry.part or entry.text(IS_OF_RUN):
            return self._opened(entry, "package", _open_package)
        folder = replace(entry, slug=entry.place, part="")

        def part(entry: LibraryEntry) -> IndexedPackage:
            packages = self._opened(folder, "folder", _open_folder)
            if entry.part not in packages:
                raise MemAuditError(f"{entry.place}: has no package named {entry.part!r}")
            return IndexedPackage(entry, packages[entry.part])

        return self._opened(entry, "package", part)

    def run(self, entry: LibraryEntry) -> FinishedRunData:
        return self._opened(entry, "run", _open_finished_run)

    def store(self, entry: LibraryEntry) -> ExportedStore:
        """An exported store."""
        return self._opened(entry, "store", lambda entry: read_imported(entry.path))

    def scores(self, entry: LibraryEntry) -> ScoreLines:
        """What `memaudit score --json` wrote."""
        return self._opened(
            entry, "scores", lambda entry: read_score_lines(read_object(entry.path), entry.place)
        )

    def diagnosis(self, entry: LibraryEntry) -> DiagnosisFolder:
        """Questions through retrieval and reading, finished or not."""
        return self._opened(
            entry, "diagnosis", lambda entry: read_diagnosis_folder(entry.path, entry.place)
        )

    def certificates(self, entry: LibraryEntry) -> tuple[Certificate, ...]:
        """The certificates of a file, not checked yet."""
        return self._opened(
            entry, "certificates", lambda entry: tuple(read_certificates(entry.path))
        )

    @property
    def contents(self) -> str:
        """The contents of the library as text: `1 run, 6 packages, 1 score file`."""
        nouns = {**{kind: kind for kind in KINDS}, "scores": "score file", "page": "report"}
        counts = (counted(len(self.of(kind)), nouns[kind]) for kind in KINDS if self.of(kind))
        return ", ".join(counts) or "nothing"

    def _opened(
        self, entry: LibraryEntry, what: str, opener: Callable[[LibraryEntry], Thing]
    ) -> Thing:
        """Open an entry unless it is cached; one that cannot be opened is listed as unreadable."""
        # The stamp is part of the key: what changed on disk is simply not there.
        key = (what, entry.slug, entry.stamp)
        with self._lock:
            if key in self._cache:
                # Put in again at the end: a dictionary keeps order, so the first key is the oldest.
                self._cache[key] = thing = self._cache.pop(key)
                return thing  # type: ignore[return-value]  # cached under its opener's name
            try:
                made = opener(entry)
            except MemAuditError as error:
                self._failed[entry.slug, entry.stamp] = error
                raise
            self._failed.pop((entry.slug, entry.stamp), None)
            self._cache[key] = made
            while len(self._cache) > MOST_CACHED:
                del self._cache[next(iter(self._cache))]
            return made


def _open_package(entry: LibraryEntry) -> IndexedPackage:
    """The package of a file, of a folder of tables, or of a run."""
    is_of_run = IS_OF_RUN in entry.facts
    return IndexedPackage(entry, remade(entry) if is_of_run else read_package(entry.path))


def _open_folder(entry: LibraryEntry) -> dict[str, Package]:
    """All packages of a folder in the published layout, by name."""
    return {package.name: package for package in read_packages(entry.path)}


def _open_finished_run(entry: LibraryEntry) -> FinishedRunData:
    """A run. A damaged one is a one-line error."""
    try:
        run = open_run(entry.path)
        fits = bool(run.grids) and len(list(map(is_share, run.given))) == len(run.amounts)
    except DAMAGED as error:
        cause = f"{type(error).__name__}: {error}"[:200]
        raise MemAuditError(f"{entry.place}: its files do not fit together ({cause})") from None
    if not fits:
        raise MemAuditError(f"{entry.place}: its rows are not those of its manifest")
    return run


def _labelled(roots: Sequence[Path]) -> list[tuple[Path, str]]:
    """Each folder with the name it is shown by: its own, numbered where two have the same."""
    if not roots:
        raise MemAuditError("no folder was given; name one or more with runs or packages")
    labels: list[tuple[Path, str]] = []
    for root in dict.fromkeys(Path(os.path.abspath(root)) for root in roots):
        if not root.exists():
            raise MemAuditError(f"{root}: does not exist; give folders with runs or packages")
        if not (root.is_dir() or root.is_file()):
            raise MemAuditError(f"{root}: is neither a folder nor a regular file")
        name, taken = root.name or "root", {label for _, label in labels}
        number = 1
        while name in taken:
            number += 1
            name = f"{root.name or 'root'} ({number})"
        labels.append((root, name))
    return labels
