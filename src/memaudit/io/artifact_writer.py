"""Writing packages in the published artifact's folder layout."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.io.artifact import example_of, example_of_decision
from memaudit.io.artifact_fields import DECISIONS, FILES, MANIFEST, renamed, to_artifact
from memaudit.io.atomic import write_folder
from memaudit.io.draft import HEADER
from memaudit.io.files import sha256
from memaudit.io.plain_rows import header_data, line, lines, table_data


def write_artifact(packages: Sequence[Package], folder: Path) -> None:
    """All packages in one folder; ids that do not start with the package's name are made to."""
    _refuse_clashes([package.name for package in packages])
    names = {package.name: package for package in packages}
    shared = packages[0].attributes.get("candidate_generation_manifest") if packages else None
    rows: dict[str, list[dict[str, Any]]] = {file: [] for file in (*FILES.values(), DECISIONS)}
    headers = []
    for package in packages:
        header, decisions = _header(package, names, shared)
        headers.append(header)
        rows[DECISIONS] += decisions
        for table, data in _tables(package, header["added_prefix"]).items():
            rows[FILES[table]] += data
    files = {file: lines(data) for file, data in rows.items()}
    facts: dict[str, Any] = {
        "counts": {file: len(data) for file, data in rows.items()},
        "file_hashes": {file: sha256(text.encode()) for file, text in files.items()},
    }
    ours = {"version": 1, "packages": headers, "manifest": shared}
    published = shared if isinstance(shared, dict) else {}
    files[MANIFEST] = line({**published, **facts, "memaudit": ours}, indent=2) + "\n"
    write_folder(folder, files, files.keys())


def _refuse_clashes(names: Sequence[str]) -> None:
    """Examples are told apart by the start of their ids, so no name may start another."""
    if not names:
        raise MemAuditError("there is no package to write")
    others: dict[str, None] = {}
    for name in sorted(names, key=len):
        if (other := example_of(name, others)) is not None:
            raise MemAuditError(
                f"packages {other!r} and {name!r} cannot share a folder: rename one of them"
            )
        others[name] = None


def _has_own_prefix(package: Package) -> bool:
    """Whether every id already starts with the package's name."""
    start = f"{package.name}::"
    ids = [
        row.id
        for table in ("experiences", "candidates", "units")
        for row in getattr(package, table)
    ]
    queries = [query.id for query in package.queries if query.id != package.name]
    return all(id.startswith(start) for id in [*ids, *queries])


def _tables(package: Package, add_prefix: bool) -> dict[str, list[dict[str, Any]]]:
    """The package's rows under the published names."""

    def rename(id: str) -> str:
        return f"{package.name}::{id}" if add_prefix else id

    return {
        table: [to_artifact(table, renamed(table, row, rename)) for row in rows]
        for table, rows in table_data(package).items()
    }


def _header(
    package: Package, names: Mapping[str, Any], shared: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The package's entry in the manifest, and its annotation decisions."""
    header = header_data(package)
    attributes = dict(header["attributes"])
    share = shared is not None and attributes.get("candidate_generation_manifest") == shared
    if share:
        del attributes["candidate_generation_manifest"]
    decisions: Any = attributes.get("annotation_decisions")
    if _can_be_rows(decisions, package.name, names):
        del attributes["annotation_decisions"]
    else:
        decisions = []
    entry = {
        **{name: header[name] for name in HEADER},
        "attributes": attributes,
        "digest": digest(package),
        "added_prefix": not _has_own_prefix(package),
        "shared_manifest": share,
    }
    return entry, decisions


def _can_be_rows(decisions: Any, name: str, names: Mapping[str, Any]) -> bool:
    """Whether reading the decisions back would give them to the same package."""
    return (
        isinstance(decisions, list)
        and bool(decisions)
        and all(
            isinstance(row, dict) and example_of_decision(row, names) == name for row in decisions
        )
    )
