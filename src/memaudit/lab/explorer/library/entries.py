"""What a library lists: entries that are recognised by reading little of a file, not opened."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.strict_json import unique_keys
from memaudit.kernel.package.package import TABLES
from memaudit.show.page_kit import one_file_title

Kind = Literal["run", "package", "store", "scores", "diagnosis", "certificate", "page"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Facts = Mapping[str, int | str]
"""Facts known without opening the file: counts, a digest."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """Something on disk. `place` is its path below the given folders; `part` names one of several
    packages in a folder or a run; `stamp` changes when the file does."""

    kind: Kind
    slug: str
    name: str
    place: str
    path: Path
    part: str = ""
    bytes: int = 0
    stamp: tuple[int, ...] = ()
    facts: Facts = field(default_factory=dict)

    def count(self, fact: str) -> int | None:
        """A fact that is a number."""
        value = self.facts.get(fact)
        return value if isinstance(value, int) else None

    def text(self, fact: str) -> str:
        """A fact that is a text. Empty if it is absent."""
        value = self.facts.get(fact, "")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that looks like ours and cannot be read, with the reason in one line."""

    place: str
    reason: str


WHOLE = 1 << 25
"""Files up to this size are parsed. Of longer ones the beginning is read."""
HEAD, PAGE_HEAD = 1 << 16, 1 << 11
DEEPEST = "nests too deeply"

_FORMAT = re.compile(r'"format"\s*:\s*"(memaudit-[a-z-]+)"')
_OURS: tuple[Kind, ...] = ("package", "store", "scores", "certificate")
_KINDS: dict[str, Kind] = {f"memaudit-{kind}": kind for kind in _OURS}
_NAMELESS = ("certificate", "scores")
"""Kinds of files whose first field "name" is not their own name."""
MOST_EXAMPLES = 3
_FIELD = r'"{}"\s*:\s*("(?:[^"\\]|\\.)*")'


@dataclass(frozen=True, slots=True)
class Recognised:
    """A recognised file or folder: its kind, its name and some facts.

    An entry of a folder may be a `file` in it, or a `part` of it, one of several packages.
    """

    kind: Kind
    name: str
    facts: Facts = field(default_factory=dict)
    file: str = ""
    part: str = ""


def regular(path: Path) -> Path:
    """The path of a regular file: reading a pipe or a device might never end."""
    if path.exists() and not path.is_file():
        raise MemAuditError("cannot be read: it is not a regular file")
    return path


def recognise(path: Path, size: int) -> Recognised | None:
    """Recognise a JSON file. None if it is not one of ours, an error if it is not JSON."""
    try:
        with regular(path).open("rb") as file:
            data = file.read(size if size <= WHOLE else HEAD)
    except OSError as error:
        raise MemAuditError(f"cannot be read: {error.strerror or error}") from None
    if size <= WHOLE:
        return _recognise_parsed(data.decode("utf-8-sig", "replace"), path)
    return _recognise_long(data, path)


def recognise_page(path: Path) -> Recognised | None:
    """Recognise an HTML file: a report, a board or another page of ours in one file."""
    title = one_file_title(read_page(path, PAGE_HEAD))
    return None if title is None else Recognised("page", path.stem, {"title": title})


def read_page(path: Path, most: int = -1) -> str:
    """The text of an HTML file, or its beginning."""
    try:
        with regular(path).open(encoding="utf-8", errors="replace", newline="") as file:
            return file.read(most)
    except OSError as error:
        raise MemAuditError(f"cannot be read: {error.strerror or error}") from None


def read_object(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty if it holds something else."""
    try:
        data = json.loads(regular(path).read_text("utf-8-sig"), object_pairs_hook=unique_keys)
    except OSError as error:
        raise MemAuditError(f"cannot be read: {error.strerror or error}") from None
    except RecursionError:
        raise MemAuditError(f"is not readable JSON: it {DEEPEST}") from None
    except ValueError as error:
        raise MemAuditError(f"is not JSON: {error}") from None
    return data if isinstance(data, dict) else {}


def _recognise_parsed(text: str, path: Path) -> Recognised | None:
    try:
        data = json.loads(text, object_pairs_hook=unique_keys)
    except RecursionError:
        raise MemAuditError(f"is not readable JSON: it {DEEPEST}") from None
    except ValueError as error:
        raise MemAuditError(f"is not JSON: {error}") from None
    # Certificates come as a list.
    first = data[0] if isinstance(data, list) and data else data
    if not isinstance(first, dict):
        return None
    kind = _kind_of(first)
    if kind is None:
        return None
    if kind == "certificate":
        facts: Facts = {
            "certificates": len(data) if isinstance(data, list) else 1,
            "package": _text(first.get("package")),
        }
        return Recognised(kind, path.stem, facts)
    return Recognised(kind, _text(first.get("name")) or path.stem, _facts(kind, first))


def _kind_of(data: dict[str, Any]) -> Kind | None:
    named = str(data.get("format", ""))
    if named:
        return _KINDS.get(named)
    return "scores" if "scores" in data and "judge" in data else None


def _facts(kind: Kind, data: dict[str, Any]) -> Facts:
    if kind == "package":
        counts = {table: len(data[table]) for table in TABLES if isinstance(data.get(table), list)}
        return {**counts, "digest": _text(data.get("digest"))}
    if kind == "store":
        origin, memories = data.get("origin"), data.get("memories")
        system = _text(origin.get("system")) if isinstance(origin, dict) else ""
        rows = memories if isinstance(memories, list) else []
        named = (_text(row.get("example")) for row in rows if isinstance(row, dict))
        return {"memories": len(rows), "system": system, **_examples(named)}
    sheets = data.get("packages")
    known = sheets if isinstance(sheets, list) else [data]
    names = [sheet for sheet in known if isinstance(sheet, dict)]
    return {"packages": len(names), "package": _text(names[0].get("package")) if names else ""}


def _recognise_long(data: bytes, path: Path) -> Recognised | None:
    text = data.decode("utf-8", "replace")
    match = _FORMAT.search(text)
    kind = _KINDS.get(match[1]) if match else None
    if kind is None:
        return None
    facts: dict[str, int | str] = {
        name: value for name in ("digest", "package", "system") if (value := _field(text, name))
    }
    # Their first "name" is that of a store or a rater further down.
    name = "" if kind in _NAMELESS else _field(text, "name")
    return Recognised(kind, name or path.stem, facts)


def _examples(named: Iterable[str]) -> dict[str, int | str]:
    """The packages that memories were written for, a few of them by name."""
    names = list(dict.fromkeys(filter(None, named)))
    more = f" and {len(names) - MOST_EXAMPLES} more" if len(names) > MOST_EXAMPLES else ""
    return {"examples": ", ".join(names[:MOST_EXAMPLES]) + more} if names else {}


def _field(text: str, name: str) -> str:
    """A text field near the beginning of a long file."""
    match = re.search(_FIELD.format(name), text)
    try:
        return _text(json.loads(match[1])) if match else ""
    except ValueError:
        return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
