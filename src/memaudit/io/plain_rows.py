"""A package's rows as plain JSON data, the same in every form we write."""

import json
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import TABLES, Package
from memaudit.io.draft import FORMAT, HEADER, VERSION, WEIGHT_ON_DISK


def header_data(package: Package) -> dict[str, Any]:
    """Format, version and what the package says outside its tables."""
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


def line(data: Any, indent: int | None = None) -> str:
    """One value as JSON text."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
        text.encode()
    except ValueError:  # only free-form attributes can hold such things
        raise MemAuditError("an attribute holds NaN or broken text, which JSON cannot") from None
    return text


def lines(rows: list[dict[str, Any]]) -> str:
    """Rows as JSONL."""
    return "".join(f"{line(row)}\n" for row in rows)
