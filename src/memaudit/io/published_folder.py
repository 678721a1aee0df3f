"""The published artifact's folder layout: many examples in one set of files, read and written."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import InvalidPackage, MemAuditError, Problem
from memaudit.core.package import TABLES, Package
from memaudit.io.atomic import write_folder
from memaudit.io.draft import HEADER, Draft, header_data, line, lines, table_data
from memaudit.io.files import read_text, sha256
from memaudit.io.folder import read_table_file
from memaudit.io.published_fields import (
    DECISIONS,
    FIELDS,
    FILES,
    KEYS,
    MANIFEST,
    from_artifact,
    renamed,
    to_artifact,
)
from memaudit.io.strict_json import Row, kind_of, parse_json

MARKS = frozenset(FILES.values()) - {"experiences.jsonl", "queries.jsonl"} | {MANIFEST}
"""Files only this layout has."""

MOST_REPEATED = 256 << 20
"""Bytes that the manifest may take in all packages together: every one of them carries it."""

MOST_PARTS = 64
"""Pieces of an id between `::` that are looked at: a name of more would be an attack."""

SPELLING = {table: {ours: theirs for theirs, ours in FIELDS[table].items()} for table in TABLES}


def example_of(id: object, names: Mapping[str, Any]) -> str | None:
    """The example an id belongs to: the longest name it equals or starts with, before `::`."""
    if not isinstance(id, str):
        return None
    if id in names:
        return id
    found, cut = None, id.find("::", 1)
    for _ in range(MOST_PARTS):
        if cut < 0:
            break
        if id[:cut] in names:
            found = id[:cut]
        cut = id.find("::", cut + 1)
    return found


def example_of_decision(row: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """The example an annotation decision names; one that names none stays with the first."""
    found = (example_of(value, names) for value in row.values())
    return next((name for name in found if name), next(iter(names)))


def read_artifact(folder: Path) -> tuple[list[Draft], list[Problem]]:
    """One draft per example, and the problems of the folder as a whole."""
    try:
        manifest, ours = _manifest(folder / MANIFEST)
    except InvalidPackage as error:
        return [], list(error.problems)
    tables: dict[str, list[Row]] = {}
    problems: list[Problem] = []
    partial = set()
    checked = ours or {}
    for table, file in [*FILES.items(), ("decisions", DECISIONS)]:
        if table == "decisions" and not os.path.exists(folder / file):
            tables[table] = []
            continue
        expected = [checked.get(part, {}).get(file) for part in ("counts", "file_hashes")]
        tables[table], found, complete = read_table_file(folder / file, *expected)
        problems += found
        if not complete:
            partial.add(table)
    drafts = _drafts(tables["queries"], manifest, ours)
    if manifest is not None and len(drafts) * _size(folder / MANIFEST) > MOST_REPEATED:
        problem = f"is too large to be repeated in each of {len(drafts)} packages"
        return [], [Problem(problem, "shorten it, or split the folder", file=MANIFEST)]
    if not drafts:
        problems.append(Problem("holds no query, so no example", file=FILES["queries"]))
        return [], problems
    for table in TABLES:
        if strays := _share_out(table, tables[table], drafts):
            problems += strays
            partial.add(table)
    for row in tables["decisions"]:
        draft = drafts[example_of_decision(row.data, drafts)]
        draft.header.data["attributes"].setdefault("annotation_decisions", []).append(row.data)
    for draft in drafts.values():
        draft.partial = partial
    return list(drafts.values()), problems


def _size(path: Path) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _manifest(path: Path) -> tuple[Any, dict[str, Any] | None]:
    """What the manifest said when published, and what we added, where there is any."""
    if not os.path.exists(path):
        return None, None
    manifest = parse_json(read_text(path), MANIFEST)
    if not isinstance(manifest, dict):
        problem = Problem(f"holds {kind_of(manifest)}", "an object was expected", file=MANIFEST)
        raise InvalidPackage([problem], MANIFEST)
    ours = manifest.get("memaudit")
    if ours is None:
        return manifest, None
    facts = {part: manifest.get(part) for part in ("counts", "file_hashes")}
    whole = isinstance(ours, dict) and isinstance(ours.get("packages"), list)
    if not whole or not all(isinstance(fact, dict) for fact in facts.values()):
        message = "has a damaged part 'memaudit'"
        raise InvalidPackage([Problem(message, "write the folder again", file=MANIFEST)], MANIFEST)
    return ours.get("manifest"), {**ours, **facts}


def _drafts(
    queries: Iterable[Row], manifest: Any, ours: Mapping[str, Any] | None
) -> dict[str, Draft]:
    """An empty draft per example, by name."""
    if ours is None:
        shared = {} if manifest is None else {"candidate_generation_manifest": manifest}
        headers = [
            replace(row, data={"name": row.data["query_id"], "attributes": dict(shared)})
            for row in queries
            if isinstance(row.data.get("query_id"), str)
        ]
        return {row.data["name"]: _draft(row, None) for row in headers}
    drafts = {}
    for entry in ours["packages"]:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            continue
        data = {name: entry[name] for name in HEADER if name in entry}
        extra = entry.get("attributes")
        data["attributes"] = dict(extra) if isinstance(extra, dict) else {}
        if entry.get("shared_manifest"):
            data["attributes"]["candidate_generation_manifest"] = manifest
        drafts[entry["name"]] = _draft(Row(data, MANIFEST, 0), entry.get("digest"))
        drafts[entry["name"]].added_prefix = bool(entry.get("added_prefix"))
    return drafts


def _draft(header: Row, digest: Any) -> Draft:
    tables: dict[str, list[Row]] = {table: [] for table in TABLES}
    claimed = None if digest is None else str(digest)
    return Draft(header, tables, digest=claimed, spelling=SPELLING)


def _share_out(table: str, rows: Iterable[Row], drafts: Mapping[str, Draft]) -> list[Problem]:
    """Give every row to its example; rows of no example are problems."""
    problems = []
    for row in rows:
        id = row.data.get(KEYS[table])
        name = example_of(id, drafts)
        if name is None:
            message = f"lacks the field {KEYS[table]!r}" if id is None else "belongs to no example"
            fix = "" if id is None else "ids start with a query id and ::"
            shown = id if isinstance(id, str) else ""
            problems.append(Problem(message, fix, shown, file=row.file, line=row.line))
            continue
        data = from_artifact(table, row.data)
        if drafts[name].added_prefix:
            data = renamed(table, data, lambda id: id.removeprefix(f"{name}::"))  # noqa: B023
        drafts[name].tables[table].append(replace(row, data=data))
    return problems


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
