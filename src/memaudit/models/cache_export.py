"""The cache as JSONL: to replay a run elsewhere with zero calls."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.io.atomic import write_file
from memaudit.io.files import read_text
from memaudit.io.strict_json import floats, parse_lines
from memaudit.models.cache import Cache
from memaudit.models.cache_rows import Answer, Attempt
from memaudit.models.client import RECORDED, parsed_json
from memaudit.models.request import Request, canonical_json, request_from_json
from memaudit.models.schema_check import schema_problem
from memaudit.models.secret import hide_known_keys


@dataclass(slots=True)
class CacheImport:
    """What happened to the lines of a file."""

    counts: Counter[str] = field(default_factory=Counter)
    """answers, attempts, known (already in the cache), refused."""
    problems: list[str] = field(default_factory=list)
    """One line per refused row."""


def export_cache(cache: Cache, path: Path) -> dict[str, int]:
    """Write every answer and failed attempt in order of key; equal caches give equal files."""
    answers = [_line("answer", answer) for answer in cache.all_answers()]
    attempts = [_line("attempt", attempt) for attempt in cache.all_attempts()]
    write_file(path, "".join(answers + attempts))
    return {"answers": len(answers), "attempts": len(attempts)}


def _line(type: str, row: Answer | Attempt) -> str:
    return canonical_json({"type": type, **asdict(row), "request": json.loads(row.request)}) + "\n"


def import_cache(cache: Cache, path: Path) -> CacheImport:
    """Import the rows whose key, reply and schema agree; the others are refused and listed."""
    rows, problems = parse_lines(read_text(path), path.name)
    result = CacheImport(problems=[str(problem) for problem in problems])
    with cache.transaction():
        for row in rows:
            try:
                record = _checked(floats(row.data))
            except MemAuditError as error:
                result.problems.append(f"{row.file}:{row.line}: {error}")
                continue
            if isinstance(record, Answer):
                kind, new = "answers", cache.keep_answer(record)
            else:
                kind, new = "attempts", cache.keep_attempt(record)
            result.counts[kind if new else "known"] += 1
    result.counts["refused"] = len(result.problems)
    return result


def _checked(data: dict[str, Any]) -> Answer | Attempt:
    kind, fields = data.pop("type", None), data
    if not isinstance(fields.get("request"), dict):
        raise MemAuditError("the field 'request' is missing or has the wrong type")
    request = request_from_json(fields["request"])
    fields["request"] = canonical_json(request.to_json())
    if kind == "answer":
        return _checked_answer(Answer.from_json(fields), request)
    if kind == "attempt":
        return _checked_attempt(Attempt.from_json(fields), request)
    raise MemAuditError(f"the row has the type {str(kind)[:40]!r}; expected answer or attempt")


def _checked_answer(answer: Answer, request: Request) -> Answer:
    named = (request.model, request.template.id, request.template.version)
    _check_key(answer, request)
    if (answer.model, answer.template, answer.template_version) != named:
        raise MemAuditError("the model or template named beside the request is not the request's")
    if parsed_json(answer.raw) != answer.parsed:
        raise MemAuditError("the parsed reply is not what the raw reply says")
    if problem := schema_problem(request.reply_schema, json.loads(answer.parsed)):
        raise MemAuditError(f"the reply does not fit its schema: {problem}")
    return answer


def _checked_attempt(attempt: Attempt, request: Request) -> Attempt:
    _check_key(attempt, request)
    if attempt.kind not in [kind.value for kind in RECORDED]:
        raise MemAuditError(f"an attempt of kind {attempt.kind[:40]!r} is not recorded")
    if attempt.content_id() != attempt.id:
        raise MemAuditError("the attempt's id is not the hash of its content")
    return attempt


def _check_key(row: Answer | Attempt, request: Request) -> None:
    said = "\n".join(str(value) for name, value in asdict(row).items() if name != "request")
    if hide_known_keys(said) != said:
        raise MemAuditError("the row holds an API key of this environment; remove it")
    if row.key != request.key:
        raise MemAuditError(
            f"the key {row.key[:16]!r} is not the request's, which is {request.key[:16]}: "
            "the row was changed"
        )
    try:
        cost = exact(row.cost)
    except ValueError as error:
        raise MemAuditError(f"the cost is not a number: {error}") from None
    if cost < 0:
        raise MemAuditError("the cost is below zero")
