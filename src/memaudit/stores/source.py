"""The files of an export: read once, bounded, and classified by content as JSON, JSONL or text.

CSV cannot be told from text by its content, so its name decides.
"""

import codecs
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from memaudit.conversations.records import IdRegistry
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import decode, read_bytes, sha256
from memaudit.kernel.io.foreign_json import LENIENT, encodable, fault, loads
from memaudit.kernel.io.strict_json import RefusedJson
from memaudit.stores.csv_rows import csv_rows
from memaudit.stores.sqlite_files import MAGIC, schema

MAX_BYTES = 256 << 20
"""Of one file, and of all memory files in a folder: an export is parsed in memory."""

MAX_FILES = 10_000

ALONE = ("written_stores.jsonl", "textual_memory.json")
"""Files that are the store of their folder: the published layout, a MemOS cube."""

EXPORTS = (".af", ".json", ".jsonl", ".db", ".sqlite", ".sqlite3")
TEXTS = (".md", ".txt", ".xml")
TABLES = (".csv", ".tsv")
GENERATED = "memory_filesystem.md"
"""Letta Code's own index of the folder: not a memory."""

_REFUSED = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    **dict.fromkeys((b"PK\x03\x04", b"PK\x05\x06"), "a zip archive"),
}
"""Never opened: a pickle runs code when it is read, an archive may unpack to anything."""

_MEMORIES = re.compile(r"(?:[^/]+/)?memories(?:\.json|/[^/.][^/]*\.json)")
_COMPANIONS = ("conversations.json", "users.json", "projects.json")
"""The memories of a Claude.ai export, and the files beside them."""

_LABELLED = re.compile(rb"\s*\[[^\[\]{}\"]{1,40}\][ \t]*(?:[-:]|\xe2\x80[\x93\x94])[ \t]+\S")
"""Text of lines `[date] - words`, which begins as a JSON list does and cannot be one."""


@dataclass(frozen=True, slots=True)
class JsonlLine:
    """One line of a JSONL or CSV file: its value, or what is wrong with it."""

    number: int
    value: object = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    kind: Literal["json", "lines", "text"] = "text"
    document: object = None
    lines: tuple[JsonlLine, ...] = ()
    text: str = ""
    wrapped: bool = False
    """The JSON was inside a JSON string."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """One file: its `tables` if it is SQLite, else its `parsed` content."""

    path: Path
    name: str
    kind: Literal["json", "lines", "text", "sqlite"]
    parsed: ParsedFile = field(default_factory=ParsedFile)
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ExportSource:
    """The files of one export, in order; a folder's files are named by their path in it."""

    name: str
    parts: tuple[ExportFile, ...]
    folder: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    """Files of a folder that were not read, and why."""


def open_source(paths: Sequence[Path]) -> ExportSource:
    """Read the files, or the one folder."""
    if not paths:
        raise MemAuditError("no file given; give the export of a memory system")
    if len(paths) == 1 and os.path.isdir(paths[0]):  # never raises, unlike Path.is_dir
        return _open_folder(paths[0])
    plain = [encodable(path.name) for path in paths]
    # Warnings name files, so two of them never have one name.
    names = IdRegistry()
    parts: list[ExportFile] = []
    for path, name in zip(paths, plain, strict=True):
        # Without the folder, unless two files have the same name.
        own = name if plain.count(name) == 1 else encodable(f"{path.parent.name}/{path.name}")
        own = names.assign(own)
        parts.append(_open_file(path, own))
    return ExportSource(encodable(paths[0].stem) or "store", tuple(parts))


def _open_file(path: Path, name: str, as_text: bool = False) -> ExportFile:
    """Read one file; as text if its folder says so, or if it is Markdown."""
    return _classified(read_bytes(path, MAX_BYTES, name), path, name, as_text)


def _classified(data: bytes, path: Path, name: str, as_text: bool = False) -> ExportFile:
    """Some bytes as JSON, JSONL, CSV, SQLite or text; the path is where they come from."""
    digest = sha256(data)
    data = data.removeprefix(codecs.BOM_UTF8)  # editors write it, and it says nothing
    # By the first bytes and not by the name: databases are called .db, .sqlite or nothing.
    if data.startswith(MAGIC):
        return ExportFile(path, name, "sqlite", tables=schema(path, name), digest=digest)
    for mark, what in _REFUSED.items():
        if data.startswith(mark):
            fix = "export JSON instead" if what == "a pickle" else "unpack it first"
            raise MemAuditError(f"{name}: is {what}, which is not opened ({fix})")
    if path.suffix.lower() in TABLES and data.strip():
        parsed = ParsedFile("lines", lines=_table(decode(data, name), name))
    else:
        parsed = parse(data, name, as_text or is_markdown(name))
    return ExportFile(path, name, parsed.kind, parsed, digest=digest)


def _open_folder(folder: Path) -> ExportSource:
    """A store's one file, all memory files, or the exports side by side."""
    paths = _files_below(folder)
    name = encodable(folder.resolve().name) or "folder"
    if not paths:
        raise MemAuditError(f"{name}: is an empty folder (a store was expected)")
    top = [path for path in paths if "/" not in path]
    if alone := [path for path in ALONE if path in top]:
        wanted = alone[:1]
    elif any(path.endswith(TEXTS) for path in paths):
        return _open_memory_files(folder, name, paths)
    else:
        # A link may lead out of the folder that was given.
        own = [path for path in paths if not (folder / path).is_symlink()]
        wanted = [path for path in own if path in top and path.endswith(EXPORTS)]
        claude = [path for path in own if _MEMORIES.fullmatch(path)]
        if claude and set(wanted) <= {*claude, *_COMPANIONS}:
            wanted = claude
    if not wanted:
        raise MemAuditError(f"{name}: holds no export and no memory file (found {paths[0]!r})")
    left_out = {
        encodable(path): "another file of the folder" for path in paths if path not in wanted
    }
    parts = tuple(_open_file(folder / path, encodable(path)) for path in wanted)
    return ExportSource(name, parts, left_out=left_out)


def _open_memory_files(folder: Path, name: str, paths: list[str]) -> ExportSource:
    """Every memory file below, by its path; links, the index and other files are left out."""
    parts: list[ExportFile] = []
    left_out: dict[str, str] = {}
    total = 0
    for below in paths:
        path = folder / below
        if path.is_symlink():
            left_out[encodable(below)] = "symbolic link"
        elif path.name == GENERATED:
            left_out[encodable(below)] = "generated index"
        elif not below.endswith(TEXTS):
            left_out[encodable(below)] = "not a memory file"
        else:
            total += path.stat().st_size
            if total > MAX_BYTES:
                raise MemAuditError(f"{name}: its files hold more than {MAX_BYTES} bytes")
            parts.append(_open_file(path, encodable(below), as_text=True))
    return ExportSource(name, tuple(parts), folder=True, left_out=left_out)


def _files_below(folder: Path) -> list[str]:
    """The paths of all files below, sorted; hidden files and folders (.git) are left out."""

    def refuse(error: OSError) -> None:  # without this folder the store would be incomplete
        raise error

    paths: list[str] = []
    try:
        for place, folders, files in os.walk(folder, onerror=refuse, followlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            links = [name for name in folders if os.path.islink(os.path.join(place, name))]
            below = os.path.relpath(place, folder)
            paths += [
                (Path(below) / name).as_posix()
                for name in [*files, *links]
                if not name.startswith(".")
            ]
            if len(paths) > MAX_FILES:
                raise MemAuditError(f"{folder.name}: holds more than {MAX_FILES} files")
    except OSError as error:
        name = encodable(os.path.relpath(error.filename or folder, folder.parent))
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None
    return sorted(paths)


def parse(data: bytes, name: str, as_text: bool = False) -> ParsedFile:
    """JSON, JSONL or text, by the first line. A broken line of JSONL is named, not guessed."""
    # Text may begin with a bracket too, as lists that ChatGPT printed do.
    if as_text or data.lstrip()[:1] not in (b"{", b"[", b'"') or _LABELLED.match(data):
        return ParsedFile("text", text=decode(data, name))
    if _is_jsonl(data):
        return ParsedFile("lines", lines=_lines(data))
    value = _json(decode(data, name), name)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):  # seen in a published .af
        document = _json(value, f"{name} (JSON inside a string)")
        return ParsedFile("json", document=document, wrapped=True)
    return ParsedFile("json", document=value)


def is_markdown(name: str) -> bool:
    """By its name: the content may be any text, also one that begins as JSON does."""
    return name.lower().endswith(".md")


def text_lines(text: str) -> list[str]:
    """The lines of a text as editors count them.

    str.splitlines also cuts at form feeds, U+2028 and the like, which occur inside memories.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _is_jsonl(data: bytes) -> bool:
    """Whether the first line is an object of its own and something follows it."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not rest.strip() or not first.startswith(b"{"):
        return False
    try:
        return isinstance(loads(first.decode("utf-8", "replace")), dict)
    except ValueError:  # a broken first line: JSONL if the second is an object of its own
        second = rest.lstrip().partition(b"\n")[0]
        try:
            return second.startswith(b"{") and isinstance(loads(second.decode()), dict)
        except ValueError:
            return False


def _lines(data: bytes) -> tuple[JsonlLine, ...]:
    lines = []
    at = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        start, at = at, at + len(line) + 1
        if not line.strip():
            continue
        try:
            lines.append(JsonlLine(number, loads(line.decode("utf-8"))))
        except UnicodeDecodeError as error:
            lines.append(JsonlLine(number, problem=f"not UTF-8: at byte {start + error.start}"))
        except ValueError as error:
            lines.append(JsonlLine(number, problem=str(error)))
    return tuple(lines)


def _table(text: str, name: str) -> tuple[JsonlLine, ...]:
    """The rows of a CSV file as objects with a text for every column."""
    return tuple(
        JsonlLine(line, dict(zip(header, cells, strict=True)))
        if len(cells) == len(header)
        else JsonlLine(line, problem=f"wrong number of cells: {len(cells)} of {len(header)}")
        for line, header, cells in csv_rows(text, name)
    )


def _json(text: str, name: str) -> object:
    try:
        return LENIENT.decode(text)
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode("utf-8", "replace"))
        cut = ", or the file was cut off" if error.pos >= len(text.rstrip()) else ""
        raise MemAuditError(
            f"{name}:{error.lineno}: is not valid JSON: {fault(error)} (at byte {at}{cut})"
        ) from None
    except RecursionError:
        raise MemAuditError(f"{name}: nests too deeply") from None
    except RefusedJson as error:
        raise MemAuditError(f"{name}: {error}") from None
