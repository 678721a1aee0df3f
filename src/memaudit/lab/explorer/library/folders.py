"""Walk the given folders and recognise what is there; an unreadable file does not end the walk."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.package_check import FORMAT as PACKAGE
from memaudit.kernel.io.package_folder import FILES as TABLE_FILES
from memaudit.kernel.io.package_folder import MANIFEST
from memaudit.kernel.io.packages import BUILD_FORMAT
from memaudit.kernel.io.published_folder import DECISIONS, FILES, MARKS
from memaudit.kernel.io.published_folder import MANIFEST as GENERATION
from memaudit.kernel.io.strict_json import parse_lines
from memaudit.kernel.package.package import TABLES
from memaudit.lab.downstream.run import FORMAT as DIAGNOSIS
from memaudit.lab.explorer.addresses import slug
from memaudit.lab.explorer.library.entries import (
    Facts,
    LibraryEntry,
    Recognised,
    Unreadable,
    read_object,
    recognise,
    recognise_page,
)
from memaudit.lab.explorer.library.packages import rows_written
from memaudit.lab.sweeps.runs.summary import SUMMARY
from memaudit.lab.sweeps.runs.sweep import FORMAT as RUN
from memaudit.workspace.run_folder import ROWS

Names = frozenset[str]

WRITTEN = "written"
"""The fact of an unfinished run: how many rows it has."""


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The entries of a folder, and the files that belong to them."""

    entries: tuple[Recognised, ...]
    files: Names


def _manifest(folder: Path, names: Names) -> FolderContent | None:  # noqa: ARG001
    """A build folder, or a package as a folder of tables."""
    data = _read(folder, MANIFEST)
    if data.get("format") == PACKAGE:
        facts = {**_counts(data.get("counts")), "digest": _text(data.get("digest"))}
        package = Recognised("package", _text(data.get("name")) or folder.name, facts)
        return FolderContent((package,), frozenset({MANIFEST, *TABLE_FILES.values()}))
    if data.get("format") != BUILD_FORMAT:
        return None
    rows = data.get("packages")
    packages = tuple(
        Recognised(
            "package",
            _text(row.get("name")) or file,
            {**_counts(row.get("counts")), "digest": _text(row.get("digest"))},
            file,
        )
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and (file := _text(row.get("file"))) and Path(file).name == file
    )
    return FolderContent(packages, frozenset({MANIFEST, *(package.file for package in packages)}))


def _artifact(folder: Path, names: Names) -> FolderContent | None:
    """The published layout: one package per query. A folder with a manifest is not one."""
    if MANIFEST in names:
        return None
    # Which rows belong to which package is decided on opening: that takes as long as reading.
    packages = (Recognised("package", name, part=name) for name in _examples(folder, names))
    return FolderContent(tuple(packages), frozenset({*MARKS, *FILES.values(), DECISIONS}))


def _examples(folder: Path, names: Names) -> list[str]:
    """The packages of a published folder: named by its manifest if we wrote it, else by query."""
    ours = _read(folder, GENERATION).get("memaudit") if GENERATION in names else None
    entries = ours.get("packages") if isinstance(ours, dict) else None
    if isinstance(entries, list):
        names_written = (entry.get("name") for entry in entries if isinstance(entry, dict))
        return list(dict.fromkeys(filter(None, map(_text, names_written))))
    try:
        rows, _ = parse_lines(read_text(folder / FILES["queries"]), FILES["queries"])
    except InvalidPackage as error:
        raise MemAuditError(str(error)) from None
    return list(dict.fromkeys(filter(None, (_text(row.data.get("query_id")) for row in rows))))


def _run(folder: Path, names: Names) -> FolderContent | None:
    data = _read(folder, "run.json")
    if data.get("format") != RUN:
        return None
    spec = _object(data.get("spec"))
    facts: dict[str, int | str] = {
        f"{name}": len(spec[name])
        for name in ("distributions", "writers", "budgets")
        if isinstance(spec.get(name), list)
    }
    facts["seeds"] = _text(spec.get("seeds"))
    if isinstance(data.get("rows"), int):
        facts["rows"] = data["rows"]
        # The summary is written last: with it, the rows need not be counted.
        if SUMMARY not in names and (written := rows_written(folder)) < data["rows"]:
            facts[WRITTEN] = written
    own = frozenset({"run.json", ROWS, SUMMARY})
    return FolderContent((Recognised("run", folder.name, facts),), own)


def _diagnosis(folder: Path, names: Names) -> FolderContent | None:  # noqa: ARG001
    data = _read(folder, "spec.json")
    if data.get("format") != DIAGNOSIS:
        return None
    spec = _object(data.get("spec"))
    packages = spec.get("packages")
    facts: Facts = {"packages": len(packages)} if isinstance(packages, dict) else {}
    own = frozenset({"spec.json", "memories.jsonl", "rows.jsonl", "summary.json"})
    return FolderContent((Recognised("diagnosis", folder.name, facts),), own)


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        return read_object(folder / name)
    except MemAuditError as error:
        raise MemAuditError(f"{name} {error}") from None


def _counts(counts: object) -> dict[str, int | str]:
    if not isinstance(counts, dict):
        return {}
    return {table: counts[table] for table in TABLES if isinstance(counts.get(table), int)}


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


FOLDERS: tuple[tuple[Names, Callable[[Path, Names], FolderContent | None]], ...] = (
    (frozenset({"run.json"}), _run),
    (frozenset({"spec.json"}), _diagnosis),
    (frozenset({MANIFEST}), _manifest),
    (frozenset(MARKS), _artifact),
)
"""Every kind of folder: the files one of which it has, and what finds its content."""


SITE, SITE_FORMAT = "site.json", "memaudit-site"
"""The manifest of a bundle."""

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
        # Linked files inside are read; what leads out could be anything on this machine.
        out = frozenset(entry.name for entry in items if _leads_out(entry, root))
        names = frozenset(entry.name for entry in items) - out
        if SITE in names and is_site(folder):
            return  # an earlier bundle, with copies of packages in it
        taken: set[str] = set()
        for marks, recognise_folder in FOLDERS:
            if not names & marks:
                continue
            try:
                content = recognise_folder(folder, names)
            except MemAuditError as error:
                yield Unreadable(place, str(error))
                taken |= marks
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
            # A linked folder is listed where it lies, and a link to a parent would never end.
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
        for seen in content.entries:
            if seen.file:
                path, where = folder / seen.file, f"{place}/{seen.file}"
                yield _entry(seen, path, where, _stamp([path]))
            else:
                yield _entry(seen, folder, place, folder_stamp)

    def _file(self, path: Path, place: str) -> Iterator[LibraryEntry | Unreadable]:
        try:
            status = path.stat()
        except OSError as error:
            yield Unreadable(place, f"cannot be read: {error.strerror or error}")
            return
        if not stat.S_ISREG(status.st_mode):
            return
        # Time and size, not content: a scan happens on every visit of the first page.
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


def _entry(seen: Recognised, path: Path, place: str, stamp: tuple[int, ...]) -> LibraryEntry:
    # A folder called run is not informative, so its parent is named as well.
    name = "/".join(place.split("/")[-2:]) if seen.kind == seen.name == "run" else seen.name
    key = slug(name, seen.kind, place, seen.part)
    return LibraryEntry(seen.kind, key, name, place, path, seen.part, stamp[1], stamp, seen.facts)
