"""Kinds of folders that are one entry or contain several, and how each is recognised."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.package import TABLES
from memaudit.downstream.run import FORMAT as DIAGNOSIS
from memaudit.experiments.summary import SUMMARY
from memaudit.experiments.sweep import FORMAT as RUN
from memaudit.io.files import read_text
from memaudit.io.package_check import FORMAT as PACKAGE
from memaudit.io.package_folder import FILES as TABLE_FILES
from memaudit.io.package_folder import MANIFEST
from memaudit.io.packages import BUILD_FORMAT
from memaudit.io.published_folder import DECISIONS, FILES, MARKS
from memaudit.io.published_folder import MANIFEST as GENERATION
from memaudit.io.run_folder import ROWS
from memaudit.io.strict_json import parse_lines
from memaudit.label_audit.frame_files import CELL_LINES, CELLS, KEY, PASSES, PUBLISHED
from memaudit.label_audit.frame_files import MANIFEST as FRAME
from memaudit.web.explorer.library.entries import Facts, Recognised, read_object
from memaudit.web.explorer.library.label_audits import label_files
from memaudit.web.explorer.library.run_packages import rows_written

Names = frozenset[str]

WRITTEN = "written"
"""The fact of an unfinished run: how many rows it has."""


@dataclass(frozen=True, slots=True)
class FolderPart:
    """One entry of a folder: the folder itself, or a file in it; `part` names one of several."""

    recognised: Recognised
    file: str = ""
    part: str = ""


@dataclass(frozen=True, slots=True)
class FolderContent:
    """The entries of a folder, and the files that belong to them."""

    parts: tuple[FolderPart, ...]
    files: Names


@dataclass(frozen=True, slots=True)
class FolderKind:
    """A kind of folder: it has one of the files `marks`; `recognise` returns its content."""

    marks: Names
    recognise: Callable[[Path, Names], FolderContent | None]


def _manifest(folder: Path, names: Names) -> FolderContent | None:  # noqa: ARG001
    """A build folder, or a package as a folder of tables."""
    data = _read(folder, MANIFEST)
    own = frozenset({MANIFEST, *TABLE_FILES.values()})
    if data.get("format") == PACKAGE:
        facts = {**_counts(data.get("counts")), "digest": _text(data.get("digest"))}
        package = Recognised("package", _text(data.get("name")) or folder.name, facts)
        return FolderContent((FolderPart(package),), own)
    if data.get("format") != BUILD_FORMAT:
        return None
    rows = data.get("packages")
    parts = [
        FolderPart(
            Recognised(
                "package",
                _text(row.get("name")) or file,
                {**_counts(row.get("counts")), "digest": _text(row.get("digest"))},
            ),
            file,
        )
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, dict) and (file := _text(row.get("file"))) and Path(file).name == file
    ]
    return FolderContent(tuple(parts), frozenset({MANIFEST, *(part.file for part in parts)}))


def _artifact(folder: Path, names: Names) -> FolderContent | None:
    """The published layout: one package per query. A folder with a manifest is not one."""
    if MANIFEST in names:
        return None
    # Which rows belong to which package is decided on opening: that takes as long as reading.
    parts = tuple(
        FolderPart(Recognised("package", name), "", name) for name in _examples(folder, names)
    )
    return FolderContent(parts, frozenset({*MARKS, *FILES.values(), DECISIONS}))


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
    return FolderContent((FolderPart(Recognised("run", folder.name, facts)),), own)


def _diagnosis(folder: Path, names: Names) -> FolderContent | None:  # noqa: ARG001
    data = _read(folder, "spec.json")
    if data.get("format") != DIAGNOSIS:
        return None
    spec = _object(data.get("spec"))
    packages = spec.get("packages")
    facts: Facts = {"packages": len(packages)} if isinstance(packages, dict) else {}
    own = frozenset({"spec.json", "memories.jsonl", "rows.jsonl", "summary.json"})
    return FolderContent((FolderPart(Recognised("diagnosis", folder.name, facts)),), own)


def _frame(folder: Path, names: Names) -> FolderContent | None:
    facts: Facts = {}
    if FRAME in names:
        cells = _read(folder, FRAME).get("cells")
        facts = {"cells": cells} if isinstance(cells, int) else {}
    own = frozenset({FRAME, CELLS, CELL_LINES, PUBLISHED, KEY, PASSES})
    own |= {path.name for path in label_files(folder)}
    return FolderContent((FolderPart(Recognised("frame", folder.name, facts)),), own)


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


FOLDERS = (
    FolderKind(frozenset({"run.json"}), _run),
    FolderKind(frozenset({"spec.json"}), _diagnosis),
    FolderKind(frozenset({MANIFEST}), _manifest),
    FolderKind(frozenset(MARKS), _artifact),
    FolderKind(frozenset({FRAME, CELLS, CELL_LINES, PUBLISHED}), _frame),
)
"""Every kind of folder. Any other folder is just walked."""
