"""Folders of the published layout as MemAudit 0.1 wrote them, for tests of reading them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.kernel.io.atomic import write_folder
from memaudit.kernel.io.files import sha256
from memaudit.kernel.io.package_check import HEADER, header_data, table_data
from memaudit.kernel.io.published_folder import (
    FIELDS,
    FILES,
    FROM_QUERIES,
    MANIFEST,
    provenance,
    renamed,
)
from memaudit.kernel.io.strict_json import json_lines, json_text
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package


def write_artifact(packages: Sequence[Package], folder: Path) -> None:
    """All packages in one folder; ids that do not start with the package's name get it."""
    rows: dict[str, list[dict[str, Any]]] = {file: [] for file in FILES.values()}
    headers = []
    for package in packages:
        header = header_data(package)
        entry = {name: header[name] for name in HEADER if name in header}
        prefix = f"{package.name}::"
        ids = [row.id for row in (*package.experiences, *package.candidates, *package.units)]
        ids += [query.id for query in package.queries if query.id != package.name]
        added = not all(id.startswith(prefix) for id in ids)
        headers.append({**entry, "digest": digest(package), "added_prefix": added})
        for table, own in table_data(package).items():
            if added:
                own = [renamed(table, row, prefix.__add__) for row in own]
            rows[FILES[table]] += [_published(table, row) for row in own]
    files = {file: json_lines(data) for file, data in rows.items()}
    manifest = {
        "counts": {file: len(data) for file, data in rows.items()},
        "file_hashes": {file: sha256(text.encode()) for file, text in files.items()},
        "memaudit": {"version": 1, "packages": headers, "manifest": None},
    }
    files[MANIFEST] = json_text(manifest, indent=2) + "\n"
    write_folder(folder, files, files.keys())


def _published(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Their row for one of ours. Attributes stand beside the fields; one that is called like a
    field goes one level down, so that reading the row back tells them apart."""
    data = {name: row[field] for name, field in FIELDS[table].items() if field in row}
    reserved = {*FIELDS[table], "attributes"}
    attributes = row.get("attributes", {})
    if table == "candidates":
        data["candidate_group"] = row["experience"]
        reserved.add("candidate_group")
    if table == "units":
        reserved.add(FROM_QUERIES)
        if "weight" not in row:
            data |= {"unit_weight": row["query_weight"], FROM_QUERIES: True}
        names = {"id": "span_id", "session": "session_id", "text": "text"}
        sources = row.get("sources", ())
        data["source_spans"] = [{names[key]: source[key] for key in source} for source in sources]
    if table == "coverage" and row.get("provenance") != provenance(attributes):
        data["provenance"] = row.get("provenance")
    elif table == "coverage":
        data.pop("provenance", None)
    nested = {name: value for name, value in attributes.items() if name in reserved}
    data |= {name: value for name, value in attributes.items() if name not in reserved}
    return {**data, "attributes": nested} if nested else data
