"""The published artifact's folder layout: many examples in one set of files.

Examples are distinguished by id prefix. Each becomes one package named after its query; ids keep
their full form. A folder written by MemAudit also says, under "memaudit" in its manifest, what that
layout has no place for.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.io.atomic import write_folder
from memaudit.kernel.io.files import read_text, sha256
from memaudit.kernel.io.package_check import HEADER, PackageDraft, header_data, table_data
from memaudit.kernel.io.package_folder import read_table_file
from memaudit.kernel.io.strict_json import JsonRow, json_lines, json_text, kind_of, parse_json
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package

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
    partial = set()
    checked = ours or {}
    # Only the decisions may be missing. Counts and hashes are checked where a manifest of ours has
    # them.
    for table, file in [*FILES.items(), ("decisions", DECISIONS)]:
        if table == "decisions" and not os.path.exists(folder / file):
            tables[table] = []
            continue
        expected = [checked.get(part, {}).get(file) for part in ("counts", "file_hashes")]
        tables[table], more, complete = read_table_file(folder / file, *expected)
        problems += more
        if not complete:
            partial.add(table)
    drafts = _drafts(tables["queries"], manifest, ours)
    # Every package carries the manifest: a small file with many examples could fill the memory.
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


def write_artifact(packages: Sequence[Package], folder: Path) -> None:
    """All packages in one folder; ids that do not start with the package's name get it."""
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
    files = {file: json_lines(data) for file, data in rows.items()}
    facts: dict[str, Any] = {
        "counts": {file: len(data) for file, data in rows.items()},
        "file_hashes": {file: sha256(text.encode()) for file, text in files.items()},
    }
    ours = {"version": 1, "packages": headers, "manifest": shared}
    published = shared if isinstance(shared, dict) else {}
    files[MANIFEST] = json_text({**published, **facts, "memaudit": ours}, indent=2) + "\n"
    write_folder(folder, files, files.keys())


def _refuse_clashes(names: Sequence[str]) -> None:
    """Examples are distinguished by the start of their ids, so no name may start another."""
    if not names:
        raise MemAuditError("there is no package to write")
    others: dict[str, None] = {}
    # From the shortest on, every name that could start this one is among `others` already.
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
        **{name: header[name] for name in HEADER if name in header},
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


def to_artifact(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Their row for one of ours, as `plain_rows` gives it."""
    data = {name: row[field] for name, field in FIELDS[table].items() if field in row}
    reserved = {*FIELDS[table], "attributes"}
    attributes = row.get("attributes", {})
    if table == "candidates":
        data["candidate_group"] = row["experience"]
        if attributes.get("candidate_group", row["experience"]) == row["experience"]:
            reserved.add("candidate_group")
    if table == "units":
        reserved.add(FROM_QUERIES)
        if "weight" not in row:
            data |= {"unit_weight": row["query_weight"], FROM_QUERIES: True}
        spans = row.get("sources", ())
        names = {"id": "span_id", "session": "session_id", "text": "text"}
        data["source_spans"] = [{names[key]: span[key] for key in span} for span in spans]
    if table == "coverage" and row.get("provenance") != provenance(attributes):
        data["provenance"] = row.get("provenance")
    elif table == "coverage":
        data.pop("provenance", None)
    # Attributes stand beside the fields in this layout; one that is called like a field goes one
    # level down, so that reading the row back tells them apart.
    nested = {name: value for name, value in attributes.items() if name in reserved}
    data |= {name: value for name, value in attributes.items() if name not in reserved}
    return {**data, "attributes": nested} if nested else data


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
