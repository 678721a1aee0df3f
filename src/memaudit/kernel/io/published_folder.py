"""The published artifact's folder layout: many examples in one set of files.

Examples are distinguished by id prefix. Each becomes one package named after its query; ids keep
their full form. Folders that MemAudit 0.1 wrote also say, under "memaudit" in their manifest, what
that layout has no place for.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, Problem
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.package_check import HEADER, PackageDraft
from memaudit.kernel.io.package_folder import read_table_file
from memaudit.kernel.io.strict_json import JsonRow, kind_of, parse_json
from memaudit.kernel.package.package import TABLES

FILES = {
    "experiences": "experiences.jsonl",
    "candidates": "candidate_memories.jsonl",
    "units": "evidence_units.jsonl",
    "queries": "queries.jsonl",
    "coverage": "coverage_matrix.jsonl",
}
DECISIONS = "annotation_decisions.jsonl"
MANIFEST = "candidate_generation_manifest.json"

FIELDS: dict[str, dict[str, str]] = {
    "experiences": {
        "experience_id": "id",
        "session_id": "session",
        "timestamp": "timestamp",
        "text": "text",
        "speaker": "speaker",
        "stream_index": "index",
    },
    "candidates": {
        "candidate_id": "id",
        "experience_id": "experience",
        "representation_type": "kind",
        "text": "text",
        "cost": "cost",
        "generator_id": "generator",
        "confidence": "confidence",
        "part_candidate_ids": "parts",
    },
    "units": {
        "unit_id": "id",
        "kind": "kind",
        "canonical_text": "text",
        "source_spans": "sources",
        "timestamp": "timestamp",
        "unit_weight": "weight",
        "response": "response",
        "part_of_unit_id": "part_of",
        "part_name": "part",
        "part_share": "share",
        "part_is_core": "core",
    },
    "queries": {
        "query_id": "id",
        "question": "text",
        "answer": "answer",
        "category": "kind",
        "required_unit_ids": "required",
        "importance": "importance",
    },
    "coverage": {
        "candidate_id": "candidate",
        "unit_id": "unit",
        "coverage": "value",
        "coverage_label": "label",
        "rationale": "rationale",
        "provenance": "provenance",
        "upper": "upper",
    },
}
"""Their field to ours, per table. `stream_index`, `response`, `importance`, `speaker`, `provenance`
and `upper` are additions of ours, absent from published folders; so is everything about parts."""

KEYS = {table: next(iter(fields)) for table, fields in FIELDS.items()}
"""The field whose id says which example a row belongs to."""

FROM_QUERIES = "weight_from_queries"
"""Marks a unit whose weight is not explicit."""

_TEXTUAL = {"text", "answer", "kind", "label", "rationale", "session", "timestamp", "generator"}


MARKS = frozenset(FILES.values()) - {"experiences.jsonl", "queries.jsonl"} | {MANIFEST}
"""Files only this layout has."""

MOST_REPEATED = 256 << 20
"""Bytes that the manifest may take in all packages together: each of them carries it."""

MOST_PARTS = 64
"""Pieces of an id between `::` that are looked at: a name of more would be an attack."""

SPELLING = {table: {ours: theirs for theirs, ours in FIELDS[table].items()} for table in TABLES}


def read_artifact(folder: Path) -> tuple[list[PackageDraft], list[Problem]]:
    """One draft per example, and the problems of the folder as a whole."""
    try:
        manifest, ours = _manifest(folder / MANIFEST)
    except InvalidPackage as error:
        return [], list(error.problems)
    tables: dict[str, list[JsonRow]] = {}
    problems: list[Problem] = []
    checked = ours or {}
    # Only the decisions may be missing. Counts and hashes are checked where a manifest of ours has
    # them.
    for table, file in [*FILES.items(), ("decisions", DECISIONS)]:
        if table == "decisions" and not os.path.exists(folder / file):
            tables[table] = []
            continue
        expected = [checked.get(part, {}).get(file) for part in ("counts", "file_hashes")]
        tables[table], more = read_table_file(folder / file, *expected)
        problems += more
    drafts = _drafts(tables["queries"], manifest, ours)
    # Every package carries the manifest: a small file with many examples could fill the memory.
    if manifest is not None and len(drafts) * _size(folder / MANIFEST) > MOST_REPEATED:
        problem = f"is too large to be repeated in each of {len(drafts)} packages"
        return [], [Problem(problem, "shorten it, or split the folder", file=MANIFEST)]
    if not drafts:
        problems.append(Problem("holds no query, so no example", file=FILES["queries"]))
        return [], problems
    for table in TABLES:
        problems += _share_out(table, tables[table], drafts)
    for row in tables["decisions"]:
        draft = drafts[example_of_decision(row.data, drafts)]
        draft.header.data["attributes"].setdefault("annotation_decisions", []).append(row.data)
    return ([] if problems else list(drafts.values())), problems


def _size(path: Path) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _manifest(path: Path) -> tuple[Any, dict[str, Any] | None]:
    """The manifest as published, and what we added to it, if anything."""
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
    lists_packages = isinstance(ours, dict) and isinstance(ours.get("packages"), list)
    if not lists_packages or not all(isinstance(fact, dict) for fact in facts.values()):
        message = "has a damaged part 'memaudit'"
        raise InvalidPackage([Problem(message, "write the folder again", file=MANIFEST)], MANIFEST)
    return ours.get("manifest"), {**ours, **facts}


def _drafts(
    queries: Iterable[JsonRow], manifest: Any, ours: Mapping[str, Any] | None
) -> dict[str, PackageDraft]:
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
        drafts[entry["name"]] = _draft(JsonRow(data, MANIFEST, 0), entry.get("digest"))
        drafts[entry["name"]].added_prefix = bool(entry.get("added_prefix"))
    return drafts


def _draft(header: JsonRow, digest: Any) -> PackageDraft:
    tables: dict[str, list[JsonRow]] = {table: [] for table in TABLES}
    claimed = None if digest is None else str(digest)
    return PackageDraft(header, tables, digest=claimed, spelling=SPELLING)


def _share_out(
    table: str, rows: Iterable[JsonRow], drafts: Mapping[str, PackageDraft]
) -> list[Problem]:
    """Assign every row to its example; rows of no example are problems."""
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


def example_of(id: object, names: Mapping[str, Any]) -> str | None:
    """The example an id belongs to: the longest name it equals or starts with, before `::`."""
    if not isinstance(id, str):
        return None
    if id in names:
        return id
    # Names may hold `::` themselves, so the first one does not tell where the name ends.
    longest, cut = None, id.find("::", 1)
    for _ in range(MOST_PARTS):
        if cut < 0:
            break
        if id[:cut] in names:
            longest = id[:cut]
        cut = id.find("::", cut + 1)
    return longest


def example_of_decision(row: Mapping[str, Any], names: Mapping[str, Any]) -> str:
    """The example an annotation decision names; one that names none stays with the first."""
    examples = (example_of(value, names) for value in row.values())
    return next((name for name in examples if name), next(iter(names)))


def from_artifact(table: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Our row for one of theirs; whatever has no field of ours is kept in the attributes."""
    names, row = FIELDS[table], {}
    attributes = dict(data["attributes"]) if isinstance(data.get("attributes"), dict) else {}
    for name, value in data.items():
        if name in names:
            if value is not None:
                row[names[name]] = _as_text(value) if names[name] in _TEXTUAL else value
        elif not (name == "attributes" and isinstance(value, dict)):
            attributes[name] = value
    # A published candidate names its group as experience_id, as candidate_group, or both. The
    # second is kept as an attribute only where they differ.
    if table == "candidates" and "candidate_group" in data:
        row.setdefault("experience", data["candidate_group"])
        if data["candidate_group"] == row["experience"]:
            attributes.pop("candidate_group")
    if table == "units":
        # We write `unit_weight` for every unit, as the layout has it. Taken as explicit, the sum of
        # the queries would stay when queries change.
        if attributes.pop(FROM_QUERIES, False):
            row.pop("weight", None)
        _read_sources(row, attributes)
    if table == "coverage" and "provenance" not in data:
        row["provenance"] = provenance(attributes)
    return {**row, "attributes": attributes}


def _read_sources(row: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Source spans as our sources; spans with further fields are also kept unchanged."""
    spans = row.get("sources")
    if not isinstance(spans, list) or not all(isinstance(span, dict) for span in spans):
        return
    names = {"span_id": "id", "session_id": "session", "text": "text"}
    row["sources"] = [
        {
            names[key]: _as_text(value)
            for key, value in span.items()
            if key in names and value is not None
        }
        for span in spans
    ]
    if any(span.keys() - names.keys() for span in spans):
        attributes["source_spans"] = spans


def _as_text(value: Any) -> Any:
    """Numbers as text: published answers and times are sometimes bare numbers."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


def provenance(attributes: Mapping[str, Any]) -> str | None:
    """Who labelled a coverage cell, in one line."""
    annotators = attributes.get("annotator_ids")
    names = ", ".join(map(str, annotators)) if isinstance(annotators, list) else ""
    status = attributes.get("adjudication_status")
    return "; ".join(part for part in (names, str(status or "")) if part) or None


def renamed(table: str, row: dict[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """Our row with every id in it renamed."""
    changed = dict(row)
    for field in ("id", "experience", "candidate", "unit", "part_of"):
        if isinstance(row.get(field), str):
            changed[field] = rename(row[field])
    for list_table, field in (("queries", "required"), ("candidates", "parts")):
        ids = row.get(field)
        if table == list_table and isinstance(ids, list | tuple):
            changed[field] = [rename(id) if isinstance(id, str) else id for id in ids]
    return changed
