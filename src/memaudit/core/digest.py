"""The content digest that names a package: canonical JSON, independent of row order."""

import hashlib
import json
from typing import Any

from memaudit.core.exact import exact
from memaudit.core.package import Package


def canonical(package: Package) -> dict[str, Any]:
    """The package as plain data in canonical order: rows by id, numbers as exact text."""
    data = package.model_dump(mode="python", exclude_defaults=True)
    data["name"] = package.name
    for table in ("experiences", "candidates", "units", "queries"):
        data[table] = sorted(data.get(table, ()), key=lambda row: str(row["id"]))
    for experience, position in zip(data["experiences"], _positions(package), strict=True):
        experience["index"] = position
    for candidate in data["candidates"]:
        if "parts" in candidate:
            candidate["parts"] = sorted(candidate["parts"])
    responses = {unit.id: unit.response for unit in package.units}
    for unit in data["units"]:
        if "response" in unit:  # in full: the shape is a default too, and distinguishes the h
            unit["response"] = responses[unit["id"]].model_dump(exclude_none=True)
    for query in data["queries"]:
        query["required"] = sorted(set(query.get("required", ())))
    cells = [
        cell for cell in data.get("coverage", ()) if exact(cell["value"]) != 0 or len(cell) > 3
    ]
    data["coverage"] = sorted(cells, key=lambda cell: (cell["candidate"], cell["unit"]))
    data["budgets"] = sorted({str(exact(budget)) for budget in package.budgets})
    return data


def _positions(package: Package) -> list[int]:
    """Each experience's rank in the stream, in id order: gaps in the numbering mean nothing."""
    by_index = sorted(package.experiences, key=lambda experience: experience.index)
    rank = {experience.id: position for position, experience in enumerate(by_index)}
    return [rank[id] for id in sorted(rank)]


def digest(package: Package) -> str:
    """The SHA-256 of the canonical form, in hex."""
    text = json.dumps(
        canonical(package), sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str
    )
    return hashlib.sha256(text.encode()).hexdigest()
