"""Answers of a batch queue into the cache: every line is counted as what it turned out to be."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from memaudit.io.files import read_text
from memaudit.io.strict_json import floats, parse_lines
from memaudit.models.batch import PROVIDER
from memaudit.models.cache import Cache
from memaudit.models.cached import now
from memaudit.models.completion import Completion, MalformedBody, read_completion, whole_text
from memaudit.models.outcome import Failure, FailureKind, Usage
from memaudit.models.price import Price
from memaudit.models.records import Answer, attempt_of
from memaudit.models.reply_text import Invalid, parsed_json
from memaudit.models.request import Request, canonical_json, request_from_json
from memaudit.models.schema_check import schema_problem
from memaudit.models.secret import hidden


class Row(StrEnum):
    """What a line of responses turned out to be."""

    ANSWERED = "answered"
    ALREADY_ANSWERED = "already answered"
    DUPLICATE = "duplicate id"
    UNKNOWN = "unknown id"
    ERROR = "error row"
    REFUSED = "refused"
    INVALID_JSON = "reply is not JSON"
    INVALID_SCHEMA = "reply breaks its schema"
    UNREADABLE = "unreadable line"


@dataclass(slots=True)
class BatchImported:
    """The outcome of one import."""

    counts: Counter[Row] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    """File, line and reason of everything that brought no answer."""
    unanswered: list[str] = field(default_factory=list)
    """Keys that were pending and had no line in the file."""
    failed: list[str] = field(default_factory=list)
    """Keys that were pending, had a line, and still have no answer."""
    usage: Usage = field(default_factory=Usage)

    @property
    def pending(self) -> int:
        """Requests that still wait for an answer."""
        return len(self.unanswered) + len(self.failed)


def import_batch(
    cache: Cache, path: Path, price: Price | None = None, clock: Callable[[], str] = now
) -> BatchImported:
    """Read OpenAI Batch output, validate it by each request's schema, and store the answers."""
    rows, unreadable = parse_lines(read_text(path), path.name)
    result = BatchImported()
    for problem in unreadable:
        result.counts[Row.UNREADABLE] += 1
        result.problems.append(str(problem))
    answered: set[str] = set()
    seen: set[str] = set()
    with cache.together():
        waiting = cache.pending()
        for row in rows:
            data = floats(row.data)
            key, detail = data.get("custom_id"), ""
            if not isinstance(key, str):
                kind, detail = Row.UNREADABLE, "the line has no custom_id"
            elif key in answered:
                kind, detail = Row.DUPLICATE, f"{key[:16]} was answered on an earlier line"
            elif key in waiting:
                request = request_from_json(json.loads(waiting[key]))
                kind, detail = _take(cache, request, data, price, clock(), result)
                seen.add(key)
                answered |= {key} if kind is Row.ANSWERED else set()
            elif cache.answer(key) is not None:
                kind = Row.ALREADY_ANSWERED
            else:
                kind, detail = Row.UNKNOWN, f"{key[:64]!r} was not asked from this cache"
            result.counts[kind] += 1
            if detail:
                result.problems.append(f"{path.name}:{row.line}: {kind.value}: {detail}")
    result.unanswered = sorted(waiting.keys() - seen)
    result.failed = sorted(seen - answered)
    return result


def _take(
    cache: Cache,
    request: Request,
    data: dict[str, Any],
    price: Price | None,
    at: str,
    result: BatchImported,
) -> tuple[Row, str]:
    """Store what one line says about a pending request."""

    def failed(row: Row, kind: FailureKind, detail: str, raw: str, usage: Usage) -> tuple[Row, str]:
        failure = Failure(request.key, kind, detail, raw, usage, PROVIDER)
        cache.keep_attempt(attempt_of(request, failure, at))
        return row, f"{request.key[:16]}: {detail}"

    try:
        completion = _completion(data, price)
    except MalformedBody as error:
        return failed(Row.ERROR, FailureKind.HTTP, str(error), "", Usage(calls=1))
    usage, raw = completion.usage, completion.text
    result.usage += usage
    if completion.refusal:
        detail = completion.refusal
        return failed(Row.REFUSED, FailureKind.REFUSED, detail, raw or detail, usage)
    parsed = parsed_json(raw)
    if isinstance(parsed, Invalid):
        cut = "cut off at max_tokens; " if completion.cut_off else ""
        detail = f"{cut}{parsed.reason}"
        return failed(Row.INVALID_JSON, FailureKind.INVALID, detail, raw, usage)
    if problem := schema_problem(request.reply_schema, json.loads(parsed)):
        return failed(Row.INVALID_SCHEMA, FailureKind.INVALID, problem, raw, usage)
    cache.keep_answer(_answer(request, completion, parsed, at))
    return Row.ANSWERED, ""


def _completion(data: dict[str, Any], price: Price | None) -> Completion:
    """The completion of a line; an error row is a MalformedBody."""
    error, response = data.get("error"), data.get("response")
    if error:
        words = error.get("message") if isinstance(error, dict) else error
        raise MalformedBody(hidden(whole_text(f"the queue reports: {words}"))[:500])
    if not isinstance(response, dict):
        raise MalformedBody("the line has neither response nor error")
    status = response.get("status_code", 200)
    if status != 200:
        text = canonical_json(response.get("body"))
        raise MalformedBody(hidden(f"the queue reports HTTP {status}: {text}")[:500])
    return read_completion(response.get("body"), price)


def _answer(request: Request, completion: Completion, parsed: str, at: str) -> Answer:
    usage = completion.usage
    return Answer(
        key=request.key, request=canonical_json(request.to_json()), model=request.model,
        template=request.template.id, template_version=request.template.version,
        raw=completion.text, parsed=parsed, calls=usage.calls, prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens, cost=str(usage.cost), unpriced=usage.unpriced,
        unmeasured=usage.unmeasured, provider=PROVIDER, served_model=completion.served_model,
        wire="json_schema", seconds=0.0, at=at,
    )  # fmt: skip
