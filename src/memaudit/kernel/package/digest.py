"""The content digest that names a package: canonical JSON, independent of row order.

Rows are by id, numbers are exact, and what has its default is left out. Scoring a package takes the
digests of a dozen unions of it, so the text of a row is remembered.
"""

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from memaudit.kernel.exact import exact, plain
from memaudit.kernel.package.package import Candidate, Experience, Package

ROWS_KEPT = 1 << 14


def digest(package: Package) -> str:
    """The SHA-256 of the canonical form, in hex."""
    # The order of the stream is content, the numbers that give it are not.
    by_index = sorted(package.experiences, key=lambda experience: experience.index)
    stream = [(row.id, _experience(row, position)) for position, row in enumerate(by_index)]
    parts = {name: [_json(value)] for name, value in _small_parts(package).items()}
    parts["experiences"] = _list(row for _, row in sorted(stream))
    by_id = sorted(package.candidates, key=lambda row: row.id)
    parts["candidates"] = _list(map(_candidate, by_id))
    pieces = [b"{"]
    for name in sorted(parts):
        pieces += (b"," if len(pieces) > 1 else b"", b'"%s":' % name.encode(), *parts[name])
    return hashlib.sha256(b"".join((*pieces, b"}"))).hexdigest()


def _small_parts(package: Package) -> dict[str, Any]:
    """Everything but the two tables that hold most of the text, as plain data."""
    data = package.model_dump(exclude_defaults=True, exclude={"experiences", "candidates"})
    data["name"] = package.name
    for table in ("units", "queries"):
        data[table] = sorted(data.get(table, ()), key=lambda row: str(row["id"]))
    responses = {unit.id: unit.response for unit in package.units}
    for unit in data["units"]:
        if "response" in unit:  # in full: the shape is a default too, and distinguishes the h
            unit["response"] = responses[unit["id"]].model_dump(exclude_none=True)
    for query in data["queries"]:
        query["required"] = sorted(set(query.get("required", ())))
    # A cell of 0 says what its absence says, unless it has more to tell, such as who judged it.
    cells = [
        cell for cell in data.get("coverage", ()) if exact(cell["value"]) != 0 or len(cell) > 3
    ]
    data["coverage"] = sorted(cells, key=lambda cell: (cell["candidate"], cell["unit"]))
    data["budgets"] = sorted({str(exact(budget)) for budget in package.budgets})
    return data


def _experience(row: Experience, position: int) -> tuple[bytes, ...]:
    """With its rank in the stream: gaps in the numbering mean nothing."""
    start, end = _around_index(row.id, row.text, row.session, row.timestamp, row.speaker)
    return _attributes(row), start, b"%d" % position, end


@lru_cache(maxsize=ROWS_KEPT)
def _around_index(
    id: str, text: str, session: str | None, timestamp: str | None, speaker: str | None
) -> tuple[bytes, bytes]:
    after = {"session": session, "speaker": speaker, "text": text or None, "timestamp": timestamp}
    known = [f',"{name}":{_quoted(value)}' for name, value in after.items() if value is not None]
    return f'"id":{_quoted(id)},"index":'.encode(), f"{''.join(known)}}}".encode()


def _candidate(row: Candidate) -> tuple[bytes, ...]:
    confidence = row.confidence
    fields = _candidate_fields(
        row.id,
        row.experience,
        row.kind,
        row.text,
        row.cost.as_integer_ratio(),
        None if confidence is None else plain(confidence),
        row.generator,
        row.parts,
    )
    return _attributes(row), fields


@lru_cache(maxsize=ROWS_KEPT)
def _candidate_fields(
    id: str,
    experience: str,
    kind: str,
    text: str,
    cost: tuple[int, int],
    confidence: int | float | str | None,
    generator: str | None,
    parts: tuple[str, ...],
) -> bytes:
    fields = {
        "confidence": None if confidence is None else _ENCODER.encode(confidence),
        "cost": cost[0] if cost[1] == 1 else _ENCODER.encode(plain(Fraction(*cost))),
        "experience": _quoted(experience),
        "generator": None if generator is None else _quoted(generator),
        "id": _quoted(id),
        "kind": _quoted(kind),
        "parts": _ENCODER.encode(sorted(parts)) if parts else None,
        "text": _quoted(text) if text else None,
    }
    body = ",".join(f'"{name}":{value}' for name, value in fields.items() if value is not None)
    return f"{body}}}".encode()


def _attributes(row: Experience | Candidate) -> bytes:
    """How a row begins. Attributes other than texts are not remembered: 1 equals True and 1.0."""
    if not row.attributes:
        return b"{"
    if all(isinstance(value, str) for value in row.attributes.values()):
        return _text_attributes(tuple(row.attributes.items()))
    return b'{"attributes":%s,' % _json(row.attributes)


@lru_cache(maxsize=ROWS_KEPT)
def _text_attributes(items: tuple[tuple[str, Any], ...]) -> bytes:
    return b'{"attributes":%s,' % _json(dict(items))


def _list(rows: Iterable[Iterable[bytes]]) -> list[bytes]:
    pieces = [b"["]
    for row in rows:
        pieces += (b"," if len(pieces) > 1 else b"", *row)
    return [*pieces, b"]"]


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=str)
_quoted = json.encoder.encode_basestring_ascii


def _json(value: Any) -> bytes:
    return _ENCODER.encode(value).encode()
