"""Walk the given folders and recognise what is there. An unreadable file does not end the walk."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.web.explorer.addresses import slug
from memaudit.web.explorer.library.entries import (
    LibraryEntry,
    Recognised,
    Unreadable,
    read_object,
    recognise,
    recognise_page,
)
from memaudit.web.explorer.library.folders import FOLDERS, FolderContent

SITE, SITE_FORMAT = "site.json", "memaudit-site"
"""The manifest of a bundle."""

MOST_FILES = 200_000
DEEPEST = 24
"""Deeper folders are not scanned, since results are never nested so deeply."""
LEADS_OUT = "is a link that leads out of the folder"
"""Its target is outside the given folders, so it is neither shown nor put into a bundle."""


@dataclass(slots=True)
class Scan:
    """One walk. `seen` caches earlier results: a file that did not change is not read again."""

    seen: dict[tuple[str, tuple[int, ...]], Recognised | MemAuditError | None] = field(
        default_factory=dict
    )
    files: int = 0

    def walk(self, root: Path, label: str) -> Iterator[LibraryEntry | Unreadable]:
        """Everything at a path; `label` is how the path itself is shown."""
        if root.is_dir():
            # Links are followed here, since the folder given may be one itself.
            yield from self._folder(root, label, 0, Path(os.path.realpath(root)))
        elif root.is_file():
            yield from self._file(root, label)
        else:
            yield Unreadable(label, "does not exist; check the path")

    def _folder(
        self, folder: Path, place: str, depth: int, root: Path
    ) -> Iterator[LibraryEntry | Unreadable]:
        try:
            with os.scandir(folder) as entries:
                items = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Unreadable(place, f"cannot be read: {error.strerror or error}")
            return
        out = frozenset(entry.name for entry in items if _leads_out(entry, root))
        names = frozenset(entry.name for entry in items) - out
        if SITE in names and is_site(folder):
            return  # an earlier bundle, with copies of packages in it
        taken: set[str] = set()
        for kind in FOLDERS:
            if not names & kind.marks:
                continue
            try:
                content = kind.recognise(folder, names)
            except MemAuditError as error:
                yield Unreadable(place, str(error))
                taken |= kind.marks
                continue
            if content is None:
                continue
            taken |= content.files
            if linked := sorted(content.files & out):
                yield Unreadable(place, f"{linked[0]} {LEADS_OUT}")
            else:
                yield from self._parts(content, folder, place, names)
        for entry in items:
            if entry.name in taken or entry.name.startswith("."):
                continue
            path, where = folder / entry.name, f"{place}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if depth < DEEPEST:
                    yield from self._folder(path, where, depth + 1, root)
                else:
                    yield Unreadable(
                        where, f"is nested deeper than {DEEPEST} folders; give it itself"
                    )
            elif entry.name.endswith((".json", ".html")):
                if entry.name in out:
                    yield Unreadable(where, LEADS_OUT)
                else:
                    yield from self._file(path, where)

    def _parts(
        self, content: FolderContent, folder: Path, place: str, names: frozenset[str]
    ) -> Iterator[LibraryEntry | Unreadable]:
        """The entries of a recognised folder."""
        folder_stamp = _stamp(folder / name for name in sorted(content.files & names))
        for part in content.parts:
            path = folder / part.file if part.file else folder
            where = f"{place}/{part.file}" if part.file else place
            stamp = _stamp([path]) if part.file else folder_stamp
            yield _entry(part.recognised, path, where, stamp, part.part)

    def _file(self, path: Path, place: str) -> Iterator[LibraryEntry | Unreadable]:
        self.files += 1
        if self.files > MOST_FILES:
            if self.files == MOST_FILES + 1:
                yield Unreadable(
                    place,
                    f"and what follows: more than {MOST_FILES:,} files; give "
                    "folders with fewer files",
                )
            return
        try:
            status = path.stat()
        except OSError as error:
            yield Unreadable(place, f"cannot be read: {error.strerror or error}")
            return
        if not stat.S_ISREG(status.st_mode):
            return
        key = (str(path), (status.st_mtime_ns, status.st_size))
        if key not in self.seen:
            try:
                is_page = path.suffix == ".html"
                self.seen[key] = (
                    recognise_page(path) if is_page else recognise(path, status.st_size)
                )
            except MemAuditError as error:
                self.seen[key] = error
        known = self.seen[key]
        if isinstance(known, MemAuditError):
            yield Unreadable(place, str(known))
        elif known is not None:
            yield _entry(known, path, place, key[1])


def _leads_out(entry: os.DirEntry[str], root: Path) -> bool:
    return entry.is_symlink() and not Path(os.path.realpath(entry)).is_relative_to(root)


def is_site(folder: Path) -> bool:
    """Whether a folder is a bundle."""
    try:
        return read_object(folder / SITE).get("format") == SITE_FORMAT
    except MemAuditError:
        return False


def _stamp(paths: Iterable[Path]) -> tuple[int, ...]:
    """A value that changes when one of the files does: (latest change, bytes)."""
    latest, size = 0, 0
    for path in paths:
        with suppress(OSError):  # listed by a manifest and not there: opening it will say so
            status = path.stat()
            latest, size = max(latest, status.st_mtime_ns), size + status.st_size
    return latest, size


def _entry(
    seen: Recognised, path: Path, place: str, stamp: tuple[int, ...], part: str = ""
) -> LibraryEntry:
    # A folder called run is not informative, so its parent is named as well.
    name = "/".join(place.split("/")[-2:]) if seen.kind == seen.name == "run" else seen.name
    key = slug(name, seen.kind, place, part)
    return LibraryEntry(seen.kind, key, name, place, path, part, stamp[1], stamp, seen.facts)
