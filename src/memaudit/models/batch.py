"""Answers from a batch queue: requests go to a file, the run stops, answers are imported later."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import Waiting
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import floats, parse_lines
from memaudit.kernel.words.text import counted
from memaudit.models.cache import Cache, now
from memaudit.models.cache_rows import Attempt, attempt_of
from memaudit.models.completions import (
    Completion,
    MalformedBody,
    escape_surrogates,
    read_completion,
    request_body,
)
from memaudit.models.request import (
    Failure,
    FailureKind,
    Invalid,
    Reply,
    ReplyT,
    Request,
    Usage,
    canonical_json,
    parsed_json,
    request_from_json,
)
from memaudit.models.schema_check import schema_problem
from memaudit.models.secret import hide_keys, hide_known_keys
from memaudit.models.spending import Price
from memaudit.workspace.overwrite import may_write

PROVIDER = "batch"
URL = "/v1/chat/completions"
MOST_REQUESTS = 50_000
MOST_BYTES = 100 << 20
"""About the largest files that providers accept; larger runs are split."""

# A refusal repeats itself, an invalid reply is asked for once more with what was wrong, and a
# failure of the queue says nothing about the request.
TRIES = {FailureKind.REFUSED: 1, FailureKind.INVALID: 2, FailureKind.HTTP: 3}
"""After this many failures of a kind, a request counts as failed instead of waiting."""


class BatchClient:
    """Behind a CachedClient: a request without a cached answer waits for one."""

    def __init__(self, cache: Cache, retry_failures: bool = False) -> None:
        self._cache = cache
        self._retry_failures = retry_failures
        self._lock = threading.Lock()
        self._waiting: dict[str, Request] = {}

    @property
    def spent(self) -> Usage:
        return Usage()  # a batch is paid for where it is sent

    def stop(self) -> None:
        """Nothing to stop."""

    def ask(
        self,
        request: Request,
        reply_type: type[ReplyT],  # noqa: ARG002
    ) -> Reply[ReplyT] | Failure:
        """Waiting, unless earlier batches failed too often."""
        tried = self._tried(request.key)
        for kind, limit in TRIES.items():
            failures = [attempt for attempt in tried if attempt.kind == kind]
            if len(failures) >= limit and not self._retry_failures:
                self._cache.give_up(request.key)
                return failures[-1].failure
        with self._lock:
            self._waiting[request.key] = request
        return Failure(
            request.key, FailureKind.WAITING, "waits for a batch answer", provider=PROVIDER
        )

    def _tried(self, key: str) -> list[Attempt]:
        return [attempt for attempt in self._cache.attempts(key) if attempt.provider == PROVIDER]

    def stop_if_waiting(self, path: Path) -> None:
        """If requests wait, write them and stop with a message that says what to do."""
        with self._lock:
            requests = [self._waiting[key] for key in sorted(self._waiting)]
        if not requests:
            return
        self._cache.await_answers(requests)
        paths = write_batch(path, (self._line(request) for request in requests))
        models = ", ".join(sorted({request.model for request in requests}))
        prompts = ", ".join(sorted({request.template.id for request in requests}))
        raise Waiting(
            f"waiting for {counted(len(requests), 'reply')} of {models} ({prompts}): submit "
            f"{' '.join(map(str, paths))} to a batch queue if you have not, run `memaudit model "
            f"batch RESPONSES --set model.cache={self._cache.path}`, then run this command again"
        )

    def _line(self, request: Request) -> str:
        """A request, with its last answer and what was wrong with it if that was invalid."""
        tried = self._tried(request.key)
        invalid = [attempt for attempt in tried if attempt.kind == FailureKind.INVALID]
        return batch_line(request, (invalid[-1].raw, invalid[-1].detail) if invalid else None)


def batch_line(request: Request, rejected: tuple[str, str] | None = None) -> str:
    data = {
        "custom_id": request.key,
        "method": "POST",
        "url": URL,
        "body": request_body(request, rejected=rejected),
    }
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")) + "\n"


def write_batch(path: Path, lines: Iterable[str]) -> list[Path]:
    """The file, or numbered files where one would be too large for a queue."""
    parts = list(_parts(lines))
    paths = [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(parts) + 1)]
    if len(parts) == 1:
        paths = [path]
    # All names are checked before the first file is written.
    for part_path in paths:
        may_write(part_path, "batch of requests")
    for part_path, text in zip(paths, parts, strict=True):
        write_file(part_path, text)
    return paths


def _parts(lines: Iterable[str]) -> Iterator[str]:
    part: list[str] = []
    size = 0
    for line in lines:
        if part and (len(part) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
            yield "".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield "".join(part)


class BatchRowKind(StrEnum):
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
class BatchImport:
    counts: Counter[BatchRowKind] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    """File, line and reason for every line without an answer."""
    unanswered: list[str] = field(default_factory=list)
    """Waiting keys without a line in the file."""
    failed: list[str] = field(default_factory=list)
    """Waiting keys with a line but still without an answer."""
    usage: Usage = field(default_factory=Usage)

    @property
    def waiting(self) -> int:
        return len(self.unanswered) + len(self.failed)


def import_batch(
    cache: Cache, path: Path, price: Price | None = None, clock: Callable[[], str] = now
) -> BatchImport:
    """Read OpenAI Batch output, validate it by each request's schema, and store the answers."""
    rows, unreadable = parse_lines(read_text(path), path.name)
    result = BatchImport()
    for problem in unreadable:
        result.counts[BatchRowKind.UNREADABLE] += 1
        result.problems.append(str(problem))
    answered: set[str] = set()
    seen: set[str] = set()
    with cache.transaction():
        waiting = cache.pending()
        for row in rows:
            data = floats(row.data)
            key, detail = data.get("custom_id"), ""
            if not isinstance(key, str):
                kind, detail = BatchRowKind.UNREADABLE, "the line has no custom_id"
            elif key in answered:
                kind, detail = BatchRowKind.DUPLICATE, f"{key[:16]} was answered on an earlier line"
            elif key in waiting:
                request = request_from_json(json.loads(waiting[key]))
                kind, detail = _store_line(cache, request, data, price, clock(), result)
                seen.add(key)
                answered |= {key} if kind is BatchRowKind.ANSWERED else set()
            elif cache.answer(key) is not None:
                kind = BatchRowKind.ALREADY_ANSWERED
            else:
                kind, detail = BatchRowKind.UNKNOWN, f"{key[:64]!r} was not asked from this cache"
            result.counts[kind] += 1
            if detail:
                result.problems.append(f"{path.name}:{row.line}: {kind.value}: {detail}")
    result.unanswered = sorted(waiting.keys() - seen)
    result.failed = sorted(seen - answered)
    return result


def _store_line(
    cache: Cache,
    request: Request,
    data: dict[str, Any],
    price: Price | None,
    at: str,
    result: BatchImport,
) -> tuple[BatchRowKind, str]:
    """Store the answer or failure that one line holds."""

    def failed(
        row: BatchRowKind, kind: FailureKind, detail: str, raw: str, usage: Usage
    ) -> tuple[BatchRowKind, str]:
        failure = Failure(request.key, kind, detail, raw, usage, PROVIDER)
        cache.keep_attempt(attempt_of(request, failure, at))
        return row, f"{request.key[:16]}: {detail}"

    try:
        completion = _completion(data, price)
    except MalformedBody as error:
        return failed(BatchRowKind.ERROR, FailureKind.HTTP, str(error), "", Usage(calls=1))
    usage, raw = completion.usage, completion.text
    result.usage += usage
    if completion.refusal:
        detail = completion.refusal
        return failed(BatchRowKind.REFUSED, FailureKind.REFUSED, detail, raw or detail, usage)
    parsed = parsed_json(raw)
    if isinstance(parsed, Invalid):
        cut = "cut off at max_tokens; " if completion.cut_off else ""
        detail = f"{cut}{parsed.reason}"
        return failed(BatchRowKind.INVALID_JSON, FailureKind.INVALID, detail, raw, usage)
    if problem := schema_problem(request.reply_schema, json.loads(parsed)):
        return failed(BatchRowKind.INVALID_SCHEMA, FailureKind.INVALID, problem, raw, usage)
    reply: Reply[Any] = Reply(
        request.key, None, raw, parsed, usage, PROVIDER, completion.served_model, "json_schema"
    )
    cache.keep(request, reply, at)
    return BatchRowKind.ANSWERED, ""


def _completion(data: dict[str, Any], price: Price | None) -> Completion:
    """The completion of a line; an error row is a MalformedBody."""
    error, response = data.get("error"), data.get("response")
    if error:
        words = error.get("message") if isinstance(error, dict) else error
        raise MalformedBody(hide_keys(escape_surrogates(f"the queue reports: {words}"))[:500])
    if not isinstance(response, dict):
        raise MalformedBody("the line has neither response nor error")
    status = response.get("status_code", 200)
    if status != 200:
        text = canonical_json(response.get("body"))
        raise MalformedBody(hide_keys(f"the queue reports HTTP {status}: {text}")[:500])
    return read_completion(response.get("body"), price, hide_known_keys)
