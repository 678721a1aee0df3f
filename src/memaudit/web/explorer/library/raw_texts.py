"""The texts of a thing for search, read without checking: a thousand packages take no second."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.io.folder import FILES
from memaudit.web.explorer.library.entries import Found, read_object, regular

TABLES = ("experiences", "candidates", "units", "queries")


@dataclass(frozen=True, slots=True)
class Text:
    """One text: the table it stands in, whose it is, and what it says."""

    table: str
    id: str
    text: str


def raw_texts(found: Found) -> list[Text]:
    """Every text of a package or a store; a row that is none is left out."""
    if found.kind == "store":
        return list(_rows("memories", read_object(found.path).get("memories")))
    if found.kind != "package" or found.part:
        return []  # many packages in one folder: they are opened to be told apart
    if found.path.is_dir():
        return [one for table in TABLES for one in _rows(table, _lines(found.path / FILES[table]))]
    data = read_object(found.path)
    return [one for table in TABLES for one in _rows(table, data.get(table))]


def _rows(table: str, rows: object) -> Iterator[Text]:
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            continue
        said = [row[name] for name in ("text", "answer") if isinstance(row.get(name), str)]
        yield Text(table, row["id"], "\n".join(said))


def _lines(path: Path) -> list[Any]:
    try:
        return [
            json.loads(line)
            for line in regular(path).read_text("utf-8").splitlines()
            if line.strip()
        ]
    except OSError as error:
        raise MemAuditError(f"cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise MemAuditError(f"{path.name} is not JSON") from None
