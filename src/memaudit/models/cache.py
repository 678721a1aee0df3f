"""The content-addressed cache: what was asked, answered, failed and is pending; one SQLite file."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import floats, parse_lines
from memaudit.models.cache_rows import Answer, Attempt, answer_of, attempt_of
from memaudit.models.database import Database, Schema
from memaudit.models.request import (
    RECORDED,
    Failure,
    FailureKind,
    Invalid,
    ModelClient,
    Reply,
    ReplyT,
    Request,
    Usage,
    canonical_json,
    parsed_json,
    request_from_json,
    validated,
)
from memaudit.models.schema_check import schema_problem
from memaudit.models.secret import hide_known_keys

_TABLES = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY, request TEXT NOT NULL, model TEXT NOT NULL, template TEXT NOT NULL,
  template_version TEXT NOT NULL, raw TEXT NOT NULL, parsed TEXT NOT NULL, calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost TEXT NOT NULL,
  unpriced INTEGER NOT NULL, unmeasured INTEGER NOT NULL, provider TEXT NOT NULL,
  served_model TEXT NOT NULL, wire TEXT NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS attempts (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, request TEXT NOT NULL, kind TEXT NOT NULL,
  detail TEXT NOT NULL, raw TEXT NOT NULL, calls INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL, cost TEXT NOT NULL, unpriced INTEGER NOT NULL,
  unmeasured INTEGER NOT NULL, provider TEXT NOT NULL, at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS attempts_by_key ON attempts (key, at, id);
CREATE TABLE IF NOT EXISTS pending (key TEXT PRIMARY KEY, request TEXT NOT NULL) WITHOUT ROWID;
"""
FORM = Schema(0x4D454D43, 1, _TABLES, name="answers", option="model.cache")
"""Marked "MEMC"."""

# Writers hold the file for milliseconds. After a minute something else is wrong.
PATIENCE = 60.0


class Cache:
    """Answers, attempts and pending requests. Threads and processes may share the file.

    Every answer was paid for: a killed process leaves the file intact.
    """

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        if must_exist and not path.is_file():
            raise MemAuditError(f"{path}: no cache found; check model.cache")
        self.path = path
        self._database = Database(path, FORM, PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._database.writing():
            yield

    def answer(self, key: str) -> Answer | None:
        sql = f"SELECT {Answer.columns()} FROM answers WHERE key = ?"
        return next(map(Answer.from_row, self._database.rows(sql, key)), None)

    def reply(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Invalid | None:
        """The stored reply, validated again as its type; None if there is no answer."""
        answer = self.answer(request.key)
        if answer is None:
            return None
        valid = validated(answer.parsed, reply_type)
        if isinstance(valid, Invalid):
            return valid
        return Reply(
            request.key,
            valid.value,
            answer.raw,
            answer.parsed,
            answer.usage,
            answer.provider,
            answer.served_model,
            answer.wire,
            answer.seconds,
            from_cache=True,
        )

    def keep(self, request: Request, reply: Reply[ReplyT], at: str) -> bool:
        """Store a reply; the first one stays, so that every run reads the same. True if new."""
        return self.keep_answer(answer_of(request, reply, at))

    def keep_answer(self, answer: Answer) -> bool:
        """Store an answer, and remove the request from the pending list. True if new."""
        # The first answer stays even if a second one is paid for: everything computed from it stays
        # right.
        sql = f"INSERT OR IGNORE INTO answers ({Answer.columns()}) VALUES ({Answer.marks()})"
        with self._database.writing() as link:
            new = link.execute(sql, answer.to_row()).rowcount == 1
            link.execute("DELETE FROM pending WHERE key = ?", (answer.key,))
        return new

    def retract(self, request: Request, failure: Failure, at: str) -> None:
        """Turn an answer that its type rejects into a failed attempt."""
        attempt = attempt_of(request, failure, at)
        with self._database.writing() as link:
            link.execute("DELETE FROM answers WHERE key = ?", (request.key,))
            link.execute(_KEEP_ATTEMPT, attempt.to_row())

    def fail(self, request: Request, failure: Failure, at: str) -> None:
        """Store a failure beside the answers, never as one."""
        self.keep_attempt(attempt_of(request, failure, at))

    def keep_attempt(self, attempt: Attempt) -> bool:
        """Store a failed attempt. True if new."""
        with self._database.writing() as link:
            return link.execute(_KEEP_ATTEMPT, attempt.to_row()).rowcount == 1

    def attempts(self, key: str) -> list[Attempt]:
        """The failed attempts at one request, oldest first."""
        sql = f"SELECT {Attempt.columns()} FROM attempts WHERE key = ? ORDER BY at, id"
        return [Attempt.from_row(row) for row in self._database.rows(sql, key)]

    def all_answers(self) -> Iterator[Answer]:
        sql = f"SELECT {Answer.columns()} FROM answers ORDER BY key"
        yield from map(Answer.from_row, self._database.rows(sql))

    def all_attempts(self) -> Iterator[Attempt]:
        sql = f"SELECT {Attempt.columns()} FROM attempts ORDER BY key, at, id"
        yield from map(Attempt.from_row, self._database.rows(sql))

    def await_answers(self, requests: Iterable[Request]) -> None:
        """Mark requests as pending, unless they are already answered."""
        rows = [
            (request.key, canonical_json(request.to_json()), request.key) for request in requests
        ]
        with self._database.writing() as link:
            link.executemany(
                "INSERT OR IGNORE INTO pending (key, request) SELECT ?, ? "
                "WHERE NOT EXISTS (SELECT 1 FROM answers WHERE key = ?)",
                rows,
            )

    def pending(self) -> dict[str, str]:
        """The requests without an answer: canonical JSON by key, in order of key."""
        rows = self._database.rows("SELECT key, request FROM pending ORDER BY key")
        return {str(key): str(request) for key, request in rows}

    def give_up(self, key: str) -> None:
        """Stop waiting for an answer."""
        with self._database.writing() as link:
            link.execute("DELETE FROM pending WHERE key = ?", (key,))

    def count(self, table: str) -> int:
        """The number of rows in answers, attempts or pending."""
        (number,) = self._database.rows(f"SELECT count(*) FROM {table}")[0]
        return int(number)


_KEEP_ATTEMPT = f"INSERT OR IGNORE INTO attempts ({Attempt.columns()}) VALUES ({Attempt.marks()})"


def now() -> str:
    """The time in UTC, to the microsecond, in a form that sorts."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class CachedClient:
    """Asks the inner client only what the cache does not know; failed requests are asked again."""

    def __init__(self, inner: ModelClient, cache: Cache, clock: Callable[[], str] = now) -> None:
        self._inner = inner
        self._cache = cache
        self._clock = clock

    @property
    def spent(self) -> Usage:
        return self._inner.spent

    def stop(self) -> None:
        self._inner.stop()

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure:
        """The stored reply, or a new one, stored before it is returned."""
        stored = self._cache.reply(request, reply_type)
        if isinstance(stored, Reply):
            return stored
        if isinstance(stored, Invalid):
            self._retract(request, stored)
        outcome = self._inner.ask(request, reply_type)
        if isinstance(outcome, Failure):
            if outcome.kind in RECORDED and not outcome.from_cache:
                self._cache.fail(request, outcome, self._clock())
            return outcome
        if not self._cache.keep(request, outcome, self._clock()):
            # Another process was faster: both continue with the same answer.
            other = self._cache.reply(request, reply_type)
            if isinstance(other, Reply):
                return other
        return outcome

    def _retract(self, request: Request, reason: Invalid) -> None:
        """An answer imported by its schema alone may still break a rule of its type."""
        answer = self._cache.answer(request.key)
        if answer is not None:
            failure = Failure(
                request.key,
                FailureKind.INVALID,
                reason.reason,
                answer.raw,
                answer.usage,
                answer.provider,
            )
            self._cache.retract(request, failure, answer.at)


@dataclass(frozen=True, slots=True)
class CacheContents:
    """Counts of answers by model and template, of failures by kind, and the total usage."""

    answers: Counter[tuple[str, str, str]]
    attempts: Counter[str]
    waiting: int
    used: Usage

    def lines(self) -> list[str]:
        return [
            f"{self.answers.total():>9,}  answers",
            *(
                f"{number:>9,}    {model}, template {template} {version[:12]}"
                for (model, template, version), number in sorted(self.answers.items())
            ),
            f"{self.attempts.total():>9,}  failed attempts",
            *(f"{number:>9,}    {kind}" for kind, number in sorted(self.attempts.items())),
            f"{self.waiting:>9,}  waiting for a batch",
            f"used {self.used.text()}",
        ]


def cache_contents(cache: Cache) -> CacheContents:
    answers, attempts = list(cache.all_answers()), list(cache.all_attempts())
    return CacheContents(
        Counter((answer.model, answer.template, answer.template_version) for answer in answers),
        Counter(attempt.kind for attempt in attempts),
        cache.count("pending"),
        sum(
            [answer.usage for answer in answers] + [attempt.usage for attempt in attempts], Usage()
        ),
    )


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
    # One transaction: a file is imported as a whole, and thousands of rows wait for the disk once.
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
    # Files come from elsewhere. A row that fits its key but not its request could answer a question
    # that it was never asked.
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
    # Nobody should publish a key with a cache, nor take one from somebody else's.
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
