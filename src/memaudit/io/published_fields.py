"""The published artifact's names for our fields, and the few that need more than a new name."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

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
        "experience_id": "id", "session_id": "session", "timestamp": "timestamp", "text": "text",
        "speaker": "speaker", "stream_index": "index",
    },
    "candidates": {
        "candidate_id": "id", "experience_id": "experience", "representation_type": "kind",
        "text": "text", "cost": "cost", "generator_id": "generator", "confidence": "confidence",
    },
    "units": {
        "unit_id": "id", "kind": "kind", "canonical_text": "text", "source_spans": "sources",
        "timestamp": "timestamp", "unit_weight": "weight", "response": "response",
    },
    "queries": {
        "query_id": "id", "question": "text", "answer": "answer", "category": "kind",
        "required_unit_ids": "required", "importance": "importance",
    },
    "coverage": {
        "candidate_id": "candidate", "unit_id": "unit", "coverage": "value",
        "coverage_label": "label", "rationale": "rationale", "provenance": "provenance",
    },
}  # fmt: skip
"""Their field to ours, per table. `stream_index`, `response`, `importance`, `speaker` and
`provenance` are additions of ours, absent from published folders."""

KEYS = {table: next(iter(fields)) for table, fields in FIELDS.items()}
"""The field whose id says which example a row belongs to."""

FROM_QUERIES = "weight_from_queries"
"""Marks a unit whose weight is not explicit."""

_TEXTUAL = {"text", "answer", "kind", "label", "rationale", "session", "timestamp", "generator"}


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
    if table == "candidates" and "candidate_group" in data:
        row.setdefault("experience", data["candidate_group"])
        if data["candidate_group"] == row["experience"]:
            attributes.pop("candidate_group")
    if table == "units":
        if attributes.pop(FROM_QUERIES, False):
            row.pop("weight", None)
        _read_sources(row, attributes)
    if table == "coverage" and "provenance" not in data:
        row["provenance"] = provenance(attributes)
    return {**row, "attributes": attributes}


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
    nested = {name: value for name, value in attributes.items() if name in reserved}
    data |= {name: value for name, value in attributes.items() if name not in reserved}
    return {**data, "attributes": nested} if nested else data


def provenance(attributes: Mapping[str, Any]) -> str | None:
    """Who says what a coverage cell says, in one line."""
    annotators = attributes.get("annotator_ids")
    names = ", ".join(map(str, annotators)) if isinstance(annotators, list) else ""
    status = attributes.get("adjudication_status")
    return "; ".join(part for part in (names, str(status or "")) if part) or None


def _as_text(value: Any) -> Any:
    """Numbers as text: published answers and times are sometimes bare numbers."""
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return str(value) if is_number else value


def _read_sources(row: dict[str, Any], attributes: dict[str, Any]) -> None:
    """Source spans as our sources; spans with further fields are also kept whole."""
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


def renamed(table: str, row: dict[str, Any], rename: Callable[[str], str]) -> dict[str, Any]:
    """Our row with every id in it renamed."""
    changed = dict(row)
    for field in ("id", "experience", "candidate", "unit"):
        if isinstance(row.get(field), str):
            changed[field] = rename(row[field])
    required = row.get("required")
    if table == "queries" and isinstance(required, list | tuple):
        changed["required"] = [rename(id) if isinstance(id, str) else id for id in required]
    return changed
