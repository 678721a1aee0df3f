"""A package as read from disk, before it is checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memaudit.core.errors import Problem
from memaudit.core.exact import plain
from memaudit.core.package import TABLES, Package
from memaudit.io.strict_json import JsonRow

FORMAT = "memaudit-package"
VERSION = 1
WEIGHT_ON_DISK = "query_weight"
"""Unit rows on disk also carry the weight the queries give, next to an explicit one."""

HEADER = ("name", "group_cap", "cost_rule", "budgets", "attributes")


@dataclass(slots=True)
class PackageDraft:
    """The header, the rows with their places, and the problems found while reading.

    `digest` is what the file claims. A table in `partial` lost rows to problems already listed,
    so references into it are not checked. `spelling` is how the files name our fields, per table.
    `added_prefix` means that the ids were prefixed with the name when they were written.
    """

    header: JsonRow
    tables: dict[str, list[JsonRow]]
    problems: list[Problem] = field(default_factory=list)
    digest: str | None = None
    partial: set[str] = field(default_factory=set)
    spelling: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    added_prefix: bool = False


def open_header(document: Mapping[str, Any], file: str, own: set[str]) -> tuple[PackageDraft, bool]:
    """A draft from a manifest or one-file package, and whether it is a package at all.

    `own` are the further fields this form of a package has.
    """
    fields = {name: document[name] for name in HEADER if name in document}
    draft = PackageDraft(JsonRow(fields, file, 0), {table: [] for table in TABLES})
    if document.get("format") != FORMAT:
        message = f'is not a package: it lacks the line "format": "{FORMAT}"'
        draft.problems.append(Problem(message, "see memaudit schema", file=file))
        return draft, False
    if document.get("version") != VERSION:
        message = f"has format version {str(document.get('version', 'none'))[:20]}"
        draft.problems.append(Problem(message, f"this program reads {VERSION}", file=file))
        return draft, False
    known = {*HEADER, "format", "version", "digest", *own}
    draft.problems += [
        Problem(
            f"has the unknown field {name!r}",
            f"known fields: {', '.join(sorted(known))}",
            file=file,
        )
        for name in document
        if name not in known
    ]
    if document.get("digest") is not None:
        draft.digest = str(document["digest"])
    return draft, True


def header_data(package: Package) -> dict[str, Any]:
    """Format, version and what the package holds outside its tables."""
    data = package.model_dump(include=set(HEADER))
    return {"format": FORMAT, "version": VERSION, **{name: data[name] for name in HEADER}}


def table_data(package: Package) -> dict[str, list[dict[str, Any]]]:
    """Every table as plain rows, in the package's order; defaults are left out."""
    tables = {
        table: [row.model_dump(exclude_defaults=True) for row in getattr(package, table)]
        for table in TABLES
    }
    for row, experience in zip(tables["experiences"], package.experiences, strict=True):
        row["index"] = experience.index
    for row, unit in zip(tables["units"], package.units, strict=True):
        if "response" in row:  # in full: leaving defaults out would drop the shape
            row["response"] = unit.response.model_dump()
        row[WEIGHT_ON_DISK] = plain(package.query_weights[unit.id])
    return {
        table: [{"id": row["id"], **row} if "id" in row else row for row in rows]
        for table, rows in tables.items()
    }
