"""The content-addressed cache: what was asked, answered and failed; one SQLite file, and JSONL."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import first_fault, floats, parse_lines
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
"""
FORM = Schema(0x4D454D43, 1, _TABLES, name="answers", option="model.cache")
"""Marked "MEMC"."""

# Writers hold the file for milliseconds. After a minute something else is wrong.
PATIENCE = 60.0

# SQLite holds 64 bits with a sign, and sums of rows must fit too.
Count = Annotated[int, Field(ge=0, lt=1 << 62)]


class _Row(BaseModel):
    """A row whose fields are its columns, in order."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def columns(cls) -> str:
        return ", ".join(cls.model_fields)

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        return cls(**dict(zip(cls.model_fields, row, strict=True)))

    @classmethod
    def insert(cls, table: str) -> str:
        """The statement that adds a row unless its primary key is there."""
        marks = ", ".join("?" for _ in cls.model_fields)
        return f"INSERT OR IGNORE INTO {table} ({cls.columns()}) VALUES ({marks})"

    def to_row(self) -> tuple[Any, ...]:
        return tuple(self.model_dump().values())


class Answer(_Row):
    """A valid reply, with the request it answers."""

    key: str
    request: str
    """Canonical JSON; the key is its SHA-256."""
    model: str
    template: str
    template_version: str
    raw: str
    parsed: str
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost: str
    unpriced: Count
    unmeasured: Count
    provider: str
    served_model: str
    wire: str
    seconds: float = Field(ge=0)
    at: str

    @classmethod
    def of(cls, request: Request, reply: Reply[Any], at: str) -> Self:
        return cls(
            **_request_columns(request),
            model=request.model,
            template=request.template.id,
            template_version=request.template.version,
            raw=reply.raw,
            parsed=reply.parsed,
            provider=reply.provider,
            served_model=reply.served_model,
            wire=reply.wire,
            seconds=round(reply.seconds, 3),
            at=at,
            **_usage_columns(reply.usage),
        )


class Attempt(_Row):
    """A request without a valid reply; stored, but never as an answer."""

    id: str
    key: str
    request: str
    kind: str
    detail: str
    raw: str
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost: str
    unpriced: Count
    unmeasured: Count
    provider: str
    at: str

    @classmethod
    def of(cls, request: Request, failure: Failure, at: str) -> Self:
        """The row of a failure of a recorded kind."""
        if failure.kind not in RECORDED:
            raise ValueError(f"no model was asked: a failure of kind {failure.kind}")
        row = cls(
            id="",
            **_request_columns(request),
            kind=failure.kind.value,
            detail=failure.detail,
            raw=failure.raw,
            provider=failure.provider,
            at=at,
            **_usage_columns(failure.usage),
        )
        return row.model_copy(update={"id": row.content_id()})

    @property
    def failure(self) -> Failure:
        kind, usage = FailureKind(self.kind), usage_of(self)
        return Failure(self.key, kind, self.detail, self.raw, usage, self.provider, from_cache=True)

    def content_id(self) -> str:
        """The SHA-256 of everything but the id, so that importing twice adds nothing."""
        return hashlib.sha256(canonical_json(list(self.to_row()[1:])).encode()).hexdigest()


def _request_columns(request: Request) -> dict[str, Any]:
    return {"key": request.key, "request": canonical_json(request.to_json())}


def _usage_columns(usage: Usage) -> dict[str, Any]:
    return {**asdict(usage), "cost": str(usage.cost)}


def usage_of(row: Answer | Attempt) -> Usage:
    return Usage(
        row.calls,
        row.prompt_tokens,
        row.completion_tokens,
        exact(row.cost),
        row.unpriced,
        row.unmeasured,
    )


class Cache:
    """Answers and attempts. Threads and processes may share the file.

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
            usage_of(answer),
            answer.provider,
            answer.served_model,
            answer.wire,
            answer.seconds,
            from_cache=True,
        )

    def keep(self, request: Request, reply: Reply[ReplyT], at: str) -> bool:
        """Store a reply. True if new."""
        return self.add(Answer.of(request, reply, at))

    def fail(self, request: Request, failure: Failure, at: str) -> bool:
        """Store a failure beside the answers, never as one. True if new."""
        return self.add(Attempt.of(request, failure, at))

    def add(self, row: Answer | Attempt) -> bool:
        """Store a row. True if new."""
        # The first answer stays even if a second one is paid for: everything computed from it stays
        # right.
        table = "answers" if isinstance(row, Answer) else "attempts"
        with self._database.writing() as link:
            return link.execute(row.insert(table), row.to_row()).rowcount == 1

    def retract(self, request: Request, reason: str) -> None:
        """Turn an answer that its type rejects into a failed attempt."""
        answer = self.answer(request.key)
        if answer is None:
            return
        failure = Failure(
            request.key,
            FailureKind.INVALID,
            reason,
            answer.raw,
            usage_of(answer),
            answer.provider,
        )
        with self._database.writing() as link:
            link.execute("DELETE FROM answers WHERE key = ?", (request.key,))
            self.fail(request, failure, answer.at)

    def attempts(self, key: str) -> list[Attempt]:
        """The failed attempts at one request, oldest first."""
        sql = f"SELECT {Attempt.columns()} FROM attempts WHERE key = ? ORDER BY at, id"
        return [Attempt.from_row(row) for row in self._database.rows(sql, key)]

    def all_answers(self) -> list[Answer]:
        sql = f"SELECT {Answer.columns()} FROM answers ORDER BY key"
        return [Answer.from_row(row) for row in self._database.rows(sql)]

    def all_attempts(self) -> list[Attempt]:
        sql = f"SELECT {Attempt.columns()} FROM attempts ORDER BY key, at, id"
        return [Attempt.from_row(row) for row in self._database.rows(sql)]

    def contents(self) -> list[str]:
        """Lines that count answers by model and template, failures by kind, and the usage."""
        answers, attempts = self.all_answers(), self.all_attempts()
        by_model = Counter((row.model, row.template, row.template_version[:12]) for row in answers)
        by_kind = Counter(row.kind for row in attempts)
        used = sum([*map(usage_of, answers), *map(usage_of, attempts)], Usage())
        return [
            f"{len(answers):>9,}  answers",
            *(
                f"{number:>9,}    {model}, template {template} {version}"
                for (model, template, version), number in sorted(by_model.items())
            ),
            f"{len(attempts):>9,}  failed attempts",
            *(f"{number:>9,}    {kind}" for kind, number in sorted(by_kind.items())),
            f"used {used.text()}",
        ]


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
        if isinstance(stored, Invalid):  # an imported answer is read by its type only here
            self._cache.retract(request, stored.reason)
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


def export_cache(cache: Cache, path: Path) -> dict[str, int]:
    """Write every answer and failed attempt in order of key; equal caches give equal files."""
    answers = [_line("answer", answer) for answer in cache.all_answers()]
    attempts = [_line("attempt", attempt) for attempt in cache.all_attempts()]
    write_file(path, "".join(answers + attempts))
    return {"answers": len(answers), "attempts": len(attempts)}


def _line(type: str, row: Answer | Attempt) -> str:
    fields = {"type": type, **row.model_dump(), "request": json.loads(row.request)}
    return canonical_json(fields) + "\n"


@dataclass(slots=True)
class CacheImport:
    """What happened to the lines of a file."""

    counts: Counter[str] = field(default_factory=Counter)
    """answers, attempts, known (already in the cache), refused."""
    problems: list[str] = field(default_factory=list)
    """One line per refused row."""


def import_cache(cache: Cache, path: Path) -> CacheImport:
    """Import the rows whose key and reply agree with their request; the others are listed.

    Whether a reply is of its type is seen where it is used: the type is not known here.
    """
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
            kind = "answers" if isinstance(record, Answer) else "attempts"
            result.counts[kind if cache.add(record) else "known"] += 1
    result.counts["refused"] = len(result.problems)
    return result


_TYPES: Mapping[object, type[Answer | Attempt]] = {"answer": Answer, "attempt": Attempt}


def _checked(data: dict[str, Any]) -> Answer | Attempt:
    """The row, which comes from elsewhere: it could answer a question that it was never asked."""
    kind, asked = data.pop("type", None), data.get("request")
    if kind not in _TYPES:
        raise MemAuditError(f"the row has the type {str(kind)[:40]!r}; expected answer or attempt")
    if not isinstance(asked, dict):
        raise MemAuditError("request: is missing or no object")
    request = request_from_json(asked)
    try:
        row = _TYPES[kind].model_validate({**data, "request": canonical_json(request.to_json())})
    except ValidationError as error:
        raise MemAuditError(first_fault(error)) from None
    # Nobody should publish a key with a cache, nor take one from somebody else's.
    said = "\n".join(str(value) for name, value in row if name != "request")
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
    if isinstance(row, Answer):
        named = (request.model, request.template.id, request.template.version)
        if (row.model, row.template, row.template_version) != named:
            raise MemAuditError("the model or template beside the request is not the request's")
        if parsed_json(row.raw) != row.parsed:
            raise MemAuditError("the parsed reply is not what the raw reply says")
    else:
        if row.kind not in [kind.value for kind in RECORDED]:
            raise MemAuditError(f"an attempt of kind {row.kind[:40]!r} is not recorded")
        if row.content_id() != row.id:
            raise MemAuditError("the attempt's id is not the hash of its content")
    return row
