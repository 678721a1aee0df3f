"""The published artifact's folder: many examples in one set of files, told apart by id prefix.

Each example becomes one package named after its query; ids keep their full form. A folder we
wrote ourselves also says, under "memaudit" in its manifest, what that layout has no place for.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, Problem
from memaudit.core.package import TABLES
from memaudit.io.artifact_fields import (
    DECISIONS,
    FIELDS,
    FILES,
    KEYS,
    MANIFEST,
    from_artifact,
    renamed,
)
from memaudit.io.draft import HEADER, Draft
from memaudit.io.files import read_text
from memaudit.io.strict_json import Row, kind_of, parse_json
from memaudit.io.table_files import read_table_file

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
