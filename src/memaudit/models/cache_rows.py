"""Rows of the cache: an answer, an attempt that failed, and their JSON form."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import Any, Self

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.models.request import (
    RECORDED,
    Failure,
    FailureKind,
    Reply,
    Request,
    Usage,
    canonical_json,
)


@dataclass(frozen=True, slots=True)
class _Record:
    """A row whose fields are its columns, in order."""

    @classmethod
    def columns(cls) -> str:
        return ", ".join(column.name for column in fields(cls))

    @classmethod
    def marks(cls) -> str:
        """One placeholder per column."""
        return ", ".join("?" for _ in fields(cls))

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        return cls(*row)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record of a JSON object with its fields."""
        for column in fields(cls):
            types = (int, float) if column.type is float else column.type
            value = data.get(column.name)
            if not isinstance(value, types) or isinstance(value, bool):  # type: ignore[arg-type]
                raise MemAuditError(f"the field {column.name!r} is missing or has the wrong type")
            # SQLite holds 64 bits with a sign, and sums of rows must fit too.
            if isinstance(value, int) and not 0 <= value < 1 << 62:
                raise MemAuditError(f"the field {column.name!r} is out of range")
        return cls(**{column.name: data[column.name] for column in fields(cls)})

    def to_row(self) -> tuple[Any, ...]:
        return astuple(self)


@dataclass(frozen=True, slots=True)
class Answer(_Record):
    """A valid reply, with the request it answers."""

    key: str
    request: str
    """Canonical JSON; the key is its SHA-256."""
    model: str
    template: str
    template_version: str
    raw: str
    parsed: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: str
    unpriced: int
    unmeasured: int
    provider: str
    served_model: str
    wire: str
    seconds: float
    at: str

    @property
    def usage(self) -> Usage:
        return _usage(self)


@dataclass(frozen=True, slots=True)
class Attempt(_Record):
    """A request without a valid reply; stored, but never as an answer."""

    id: str
    key: str
    request: str
    kind: str
    detail: str
    raw: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: str
    unpriced: int
    unmeasured: int
    provider: str
    at: str

    @property
    def usage(self) -> Usage:
        return _usage(self)

    @property
    def failure(self) -> Failure:
        return Failure(
            self.key,
            FailureKind(self.kind),
            self.detail,
            self.raw,
            _usage(self),
            self.provider,
            from_cache=True,
        )

    def content_id(self) -> str:
        """The SHA-256 of everything but the id, so that importing twice adds nothing."""
        return hashlib.sha256(canonical_json(list(self.to_row()[1:])).encode()).hexdigest()


def _usage(row: Answer | Attempt) -> Usage:
    return Usage(
        row.calls,
        row.prompt_tokens,
        row.completion_tokens,
        exact(row.cost),
        row.unpriced,
        row.unmeasured,
    )


def _usage_columns(usage: Usage) -> dict[str, Any]:
    return {**asdict(usage), "cost": str(usage.cost)}


def answer_of(request: Request, reply: Reply[Any], at: str) -> Answer:
    return Answer(
        key=request.key,
        request=canonical_json(request.to_json()),
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


def attempt_of(request: Request, failure: Failure, at: str) -> Attempt:
    """The row of a failure of a recorded kind."""
    if failure.kind not in RECORDED:
        raise ValueError(f"a failure of kind {failure.kind} is not recorded: no model was asked")
    row = Attempt(
        id="",
        key=request.key,
        request=canonical_json(request.to_json()),
        kind=failure.kind.value,
        detail=failure.detail,
        raw=failure.raw,
        provider=failure.provider,
        at=at,
        **_usage_columns(failure.usage),
    )
    return replace(row, id=row.content_id())
