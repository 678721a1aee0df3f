"""The content-addressed cache: what was asked, what was answered, what failed, what is pending."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from memaudit.models.database import CacheDatabase
from memaudit.models.outcome import Failure, Reply, ReplyT
from memaudit.models.records import Answer, Attempt, answer_of, attempt_of
from memaudit.models.reply_text import Invalid, validated
from memaudit.models.request import Request, canonical_json


class Cache:
    """One SQLite file; threads and processes may share it, and a killed one leaves it whole."""

    def __init__(self, path: Path, must_exist: bool = False) -> None:
        self.path = path
        self._database = CacheDatabase(path, must_exist)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """Everything stored inside is stored at once, or not at all; for many rows."""
        with self._database.writing():
            yield

    def answer(self, key: str) -> Answer | None:
        """The answer to a request, if there is one."""
        sql = f"SELECT {Answer.columns()} FROM answers WHERE key = ?"
        return next(map(Answer.from_row, self._database.rows(sql, key)), None)

    def reply(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Invalid | None:
        """The stored reply, validated as its type once more; None where there is no answer."""
        answer = self.answer(request.key)
        if answer is None:
            return None
        found = validated(answer.parsed, reply_type)
        if isinstance(found, Invalid):
            return found
        return Reply(
            request.key, found.value, answer.raw, answer.parsed, answer.usage, answer.provider,
            answer.served_model, answer.wire, answer.seconds, from_cache=True,
        )  # fmt: skip

    def keep(self, request: Request, reply: Reply[ReplyT], at: str) -> bool:
        """Store an answer; the first one stays, so that every run reads the same. True if new."""
        return self.keep_answer(answer_of(request, reply, at))

    def keep_answer(self, answer: Answer) -> bool:
        """Store an answer row, and take the request off the pending list."""
        sql = f"INSERT OR IGNORE INTO answers ({Answer.columns()}) VALUES ({Answer.marks()})"
        with self._database.writing() as link:
            new = link.execute(sql, answer.to_row()).rowcount == 1
            link.execute("DELETE FROM pending WHERE key = ?", (answer.key,))
        return new

    def retract(self, request: Request, failure: Failure, at: str) -> None:
        """Turn an answer that its type refuses into a failed attempt."""
        attempt = attempt_of(request, failure, at)
        with self._database.writing() as link:
            link.execute("DELETE FROM answers WHERE key = ?", (request.key,))
            link.execute(_KEEP_ATTEMPT, attempt.to_row())

    def fail(self, request: Request, failure: Failure, at: str) -> None:
        """Store a failure beside the answers, never as one."""
        self.keep_attempt(attempt_of(request, failure, at))

    def keep_attempt(self, attempt: Attempt) -> bool:
        """Store an attempt row. True if new."""
        with self._database.writing() as link:
            return link.execute(_KEEP_ATTEMPT, attempt.to_row()).rowcount == 1

    def attempts(self, key: str) -> list[Attempt]:
        """The failed attempts at one request, oldest first."""
        sql = f"SELECT {Attempt.columns()} FROM attempts WHERE key = ? ORDER BY at, id"
        return [Attempt.from_row(row) for row in self._database.rows(sql, key)]

    def all_answers(self) -> Iterator[Answer]:
        """Every answer, by key."""
        sql = f"SELECT {Answer.columns()} FROM answers ORDER BY key"
        yield from map(Answer.from_row, self._database.rows(sql))

    def all_attempts(self) -> Iterator[Attempt]:
        """Every failed attempt, by key and time."""
        sql = f"SELECT {Attempt.columns()} FROM attempts ORDER BY key, at, id"
        yield from map(Attempt.from_row, self._database.rows(sql))

    def await_answers(self, requests: Iterable[Request]) -> None:
        """Note requests as pending, unless they are answered already."""
        rows = [(one.key, canonical_json(one.to_json()), one.key) for one in requests]
        with self._database.writing() as link:
            link.executemany(
                "INSERT OR IGNORE INTO pending (key, request) SELECT ?, ? "
                "WHERE NOT EXISTS (SELECT 1 FROM answers WHERE key = ?)",
                rows,
            )

    def pending(self) -> dict[str, str]:
        """The requests nobody has answered yet: canonical JSON by key, in order of key."""
        rows = self._database.rows("SELECT key, request FROM pending ORDER BY key")
        return {str(key): str(request) for key, request in rows}

    def give_up(self, key: str) -> None:
        """Wait for an answer no longer."""
        with self._database.writing() as link:
            link.execute("DELETE FROM pending WHERE key = ?", (key,))

    def count(self, table: str) -> int:
        """The rows of answers, attempts or pending."""
        (number,) = self._database.rows(f"SELECT count(*) FROM {table}")[0]
        return int(number)


_KEEP_ATTEMPT = f"INSERT OR IGNORE INTO attempts ({Attempt.columns()}) VALUES ({Attempt.marks()})"
