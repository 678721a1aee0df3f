"""Reading makes many objects and no rubbish; looking for some takes a third of the time."""

import gc
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Certificate
from memaudit.core.text import counted
from memaudit.formats.score_file import ScoreFile
from memaudit.label_audit.cells import Frame
from memaudit.report.run_report.run_data import Run
from memaudit.web.explorer.library import open_entries
from memaudit.web.explorer.library.diagnosis_folder import Diagnosed
from memaudit.web.explorer.library.entries import KINDS, Found, Kind, Unreadable
from memaudit.web.explorer.library.label_audits import AuditTables, LabelledFrame, labels_stamp
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.library.run_packages import IS_OF_RUN, run_packages
from memaudit.web.explorer.library.scan import Scan
from memaudit.web.explorer.library.score_file import Scores


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection inside; what was on stays on afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


FEW, FEW_BYTES = 3, 8_000_000
MOST_OPENED = 24
"""Opened things that are kept in memory; the least recently used one goes first."""

Thing = TypeVar("Thing")


class NotHere(MemAuditError):
    """An address that leads to nothing in the library."""


class Library:
    """Folders as typed records. `items` is in the order of kinds, then of places."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = _labelled(roots)
        self._scan = Scan()
        self._lock = threading.RLock()
        self._opened: dict[tuple[str, tuple[int, ...]], object] = {}
        self._failed: dict[tuple[str, tuple[int, ...]], MemAuditError] = {}
        self.items: tuple[Found, ...] = ()
        self._skipped: tuple[Unreadable, ...] = ()
        self._named: dict[tuple[Kind, str], Found] = {}
        self.refresh()

    def refresh(self) -> bool:
        """Look again; whether anything is there that was not, or is gone, or changed."""
        with self._lock:
            self._scan.files = 0
            seen = [one for root, label in self._roots for one in self._scan.walk(root, label)]
            order = {kind: place for place, kind in enumerate(KINDS)}
            items = sorted(
                {one.slug: one for one in seen if isinstance(one, Found)}.values(),
                key=lambda one: (order[one.kind], one.place, one.name),
            )
            skipped = tuple(one for one in seen if isinstance(one, Unreadable))
            changed = (tuple(items), skipped) != (self.items, self._skipped)
            self.items, self._skipped = tuple(items), skipped
            if changed:
                self._named = {(one.kind, one.slug): one for one in items}
            return changed

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read, when it was looked at or when a page tried to open it."""
        places = {(one.slug, one.stamp): one.place for one in self.items}
        late = [
            Unreadable(places[key], str(error))
            for key, error in self._failed.items()
            if key in places
        ]
        return tuple(
            Unreadable(one.place, self.without_paths(one.reason)) for one in (*self._skipped, *late)
        )

    def without_paths(self, text: str) -> str:
        """A message with the folders given by their names: pages do not say where they lie."""
        for root, label in self._roots:
            text = text.replace(str(root), label)
        return text

    def of(self, kind: Kind) -> tuple[Found, ...]:
        """Everything of one kind."""
        return tuple(one for one in self.items if one.kind == kind)

    def now(self, kind: Kind) -> tuple[Found, ...]:
        """Everything of one kind that was found, as it is on disk now."""
        if any(self._changed(one) for one in self.of(kind)):
            self.refresh()
        return self.of(kind)

    def named(self, kind: Kind, slug: str) -> Found:
        """What an address means, as it is on disk now; packages of runs are found as well."""
        known = self._named.get((kind, slug))
        if known is not None and self._changed(known):
            self.refresh()
            known = self._named.get((kind, slug))
        if known is None and kind == "package":
            made = [one for run in self.of("run") for one in self.packages_of(run)]
            self._named |= {(kind, one.slug): one for one in made}
            known = self._named.get((kind, slug))
        if known is None:
            raise NotHere(f"there is no {kind} of this name in the library: {slug}")
        return known

    def forget(self) -> None:
        """Whatever is asked for next is read from disk."""
        with self._lock:
            self._opened.clear()
            self.refresh()

    def read_ahead(self) -> None:
        """Open a few packages now: whoever serves one or two is about to look at them."""
        packages = self.of("package")
        if len(packages) <= FEW and sum(one.bytes for one in packages) <= FEW_BYTES:
            for one in packages:
                with suppress(MemAuditError):  # its page says so
                    self.package(one)

    def with_digest(self, digest: str) -> Found | None:
        """The package that a certificate names. Files that do not say their digest are opened."""
        packages = self.of("package")
        likely = [one for one in packages if one.text("digest") == digest]
        silent = [one for one in packages if not one.text("digest")]
        for one in (*likely, *silent):
            try:
                if self.package(one).digest == digest:
                    return one
            except MemAuditError:  # listed as unreadable
                continue
        return None

    def packages_of(self, run: Found) -> tuple[Found, ...]:
        """The packages of a run, which are made again from their seeds when they are opened."""
        try:
            return self._once(run, "packages", run_packages)
        except MemAuditError:  # a damaged manifest: the run's own page says so
            return ()

    def package(self, found: Found) -> Opened:
        """A package, read and checked; a folder of many is read once for all of them."""
        if found.part and not found.text(IS_OF_RUN):
            whole = replace(found, slug=found.place, part="")
            try:
                return open_entries.part_of(
                    self._kept(whole, "folder", open_entries.open_folder), found
                )
            except MemAuditError as error:
                self._failed[found.slug, found.stamp] = error
                raise
        return self._once(found, "package", open_entries.open_package)

    def run(self, found: Found) -> Run:
        """A finished run."""
        return self._once(found, "run", open_entries.open_finished_run)

    def store(self, found: Found) -> ExportedStore:
        """What a memory system wrote."""
        return self._once(found, "store", open_entries.open_store)

    def scores(self, found: Found) -> tuple[ScoreFile, ...]:
        """Scores by `memaudit score --json`: one sheet a package."""
        return self._once(found, "scores", open_entries.open_scores)

    def score_sheets(self, found: Found) -> Scores:
        """The same with lost units, cells and means, as far as the file holds them."""
        return self._once(found, "score sheets", open_entries.open_score_sheets)

    def frame(self, found: Found) -> Frame:
        """Cells to be labelled."""
        return self._once(found, "frame", open_entries.open_frame)

    def labelled_frame(self, found: Found) -> LabelledFrame:
        """A frame and its labels, compared again whenever one of their files changes."""
        stamp = (*found.stamp, *labels_stamp(found.path))
        return self._kept(replace(found, stamp=stamp), "labels", open_entries.open_labelled_frame)

    def label_audit(self, found: Found) -> AuditTables:
        """What `memaudit audit ... --json` wrote."""
        return self._once(found, "label audit", open_entries.open_label_audit)

    def diagnosis(self, found: Found) -> Diagnosed:
        """Questions through retrieval and reading."""
        return self._once(found, "diagnosis", open_entries.open_diagnosis)

    def certificates(self, found: Found) -> tuple[Certificate, ...]:
        """The certificates of a file."""
        return self._once(found, "certificates", open_entries.open_certificates)

    @property
    def contents(self) -> str:
        """What it holds, in words: `1 run, 6 packages, 1 score file`."""
        nouns = {kind: "score file" if kind == "scores" else kind for kind in KINDS}
        found = (counted(len(self.of(kind)), noun) for kind, noun in nouns.items() if self.of(kind))
        return ", ".join(found) or "nothing"

    def _changed(self, found: Found) -> bool:
        """Whether files of a thing changed since it was found, or are gone."""
        if found.path.is_dir():
            # A walk says first what the folder itself is: no more of it is looked at.
            kind = "run" if found.text(IS_OF_RUN) else found.kind
            stamps = (
                one.stamp
                for one in self._scan.walk(found.path, found.place)
                if isinstance(one, Found) and (one.kind, one.place) == (kind, found.place)
            )
            return next(stamps, None) != found.stamp
        try:
            status = found.path.stat()
        except OSError:
            return True
        return (status.st_mtime_ns, status.st_size) != found.stamp

    def _once(self, found: Found, what: str, opener: Callable[[Found], Thing]) -> Thing:
        """A thing as it is on disk now, opened unless it is open."""
        return self._kept(self.named(found.kind, found.slug), what, opener)

    def _kept(self, found: Found, what: str, opener: Callable[[Found], Thing]) -> Thing:
        """Open a thing unless it is open; one that cannot be opened is listed as unreadable."""
        key = (f"{what} {found.slug}", found.stamp)
        with self._lock:
            if key in self._opened:
                self._opened[key] = thing = self._opened.pop(key)
                return thing  # type: ignore[return-value]  # kept under its opener's name
            try:
                with uncollected():
                    made = opener(found)
            except MemAuditError as error:
                self._failed[found.slug, found.stamp] = error
                raise
            self._failed.pop((found.slug, found.stamp), None)
            self._opened[key] = made
            while len(self._opened) > MOST_OPENED:
                del self._opened[next(iter(self._opened))]
            return made


def _labelled(roots: Sequence[Path]) -> list[tuple[Path, str]]:
    """Each folder with the name it is shown by: its own, numbered where two have the same."""
    if not roots:
        raise MemAuditError("no folder was given; name one or more with runs or packages")
    labels: list[tuple[Path, str]] = []
    for root in dict.fromkeys(Path(os.path.abspath(root)) for root in roots):
        if not root.exists():
            raise MemAuditError(f"{root}: does not exist; give folders with runs or packages")
        name, taken = root.name or "root", {label for _, label in labels}
        number = 1
        while name in taken:
            number += 1
            name = f"{root.name or 'root'} ({number})"
        labels.append((root, name))
    return labels
