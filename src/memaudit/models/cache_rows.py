"""Rows of the cache: an answer, an attempt that failed, and their JSON form."""

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from typing import Any, Self

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.models.client import RECORDED, Failure, FailureKind, Reply, ReplyT, Usage
from memaudit.models.request import Request, canonical_json


@dataclass(frozen=True, slots=True)
class _Record:
    """A row whose fields are its columns, in order."""

    @classmethod
    def columns(cls) -> str:
        """The column names, as SQL wants them."""
        return ", ".join(one.name for one in fields(cls))

    @classmethod
    def marks(cls) -> str:
        """One placeholder a column."""
        return ", ".join("?" for _ in fields(cls))

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Self:
        """The record of a database row."""
        return cls(*row)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record of a JSON object that has exactly its fields."""
        for one in fields(cls):
            kinds = (int, float) if one.type is float else one.type
            value = data.get(one.name)
            if not isinstance(value, kinds) or isinstance(value, bool):  # type: ignore[arg-type]
                raise MemAuditError(f"the field {one.name!r} is missing or of the wrong type")
            if isinstance(value, int) and not 0 <= value < 1 << 62:
                raise MemAuditError(f"the field {one.name!r} is out of range")
        return cls(**{one.name: data[one.name] for one in fields(cls)})

    def to_row(self) -> tuple[Any, ...]:
        """The record as database values."""
        return astuple(self)


@dataclass(frozen=True, slots=True)
class Answer(_Record):
    """A reply that validated, with the whole request it answers."""

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
        """What the answer cost when it was asked for."""
        return _usage(self)


@dataclass(frozen=True, slots=True)
class Attempt(_Record):
    """A request that brought no valid reply; kept, but never an answer."""

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
        """What the attempt cost."""
        return _usage(self)

    @property
    def failure(self) -> Failure:
        """The outcome it was, as recorded."""
        return Failure(
            self.key, FailureKind(self.kind), self.detail, self.raw, _usage(self), self.provider,
            from_cache=True,
        )  # fmt: skip

    def content_id(self) -> str:
        """The SHA-256 of everything but the id, so that importing twice adds nothing."""
        return hashlib.sha256(canonical_json(list(self.to_row()[1:])).encode()).hexdigest()


def _usage(row: Answer | Attempt) -> Usage:
    return Usage(
        row.calls, row.prompt_tokens, row.completion_tokens, exact(row.cost), row.unpriced,
        row.unmeasured,
    )  # fmt: skip


def _spent(usage: Usage) -> dict[str, Any]:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost": _text(usage.cost),
        "unpriced": usage.unpriced,
        "unmeasured": usage.unmeasured,
    }


def _text(cost: Fraction) -> str:
    return f"{cost.numerator}/{cost.denominator}" if cost.denominator != 1 else str(cost.numerator)


def answer_of(request: Request, reply: Reply[ReplyT], at: str) -> Answer:
    """The row that keeps a reply."""
    return Answer(
        key=request.key, request=canonical_json(request.to_json()), model=request.model,
        template=request.template.id, template_version=request.template.version, raw=reply.raw,
        parsed=reply.parsed, provider=reply.provider, served_model=reply.served_model,
        wire=reply.wire, seconds=round(reply.seconds, 3), at=at, **_spent(reply.usage),
    )  # fmt: skip


def attempt_of(request: Request, failure: Failure, at: str) -> Attempt:
    """The row that keeps a failure of a recorded kind."""
    if failure.kind not in RECORDED:
        raise ValueError(f"a failure of kind {failure.kind} is not recorded: nobody was asked")
    row = Attempt(
        id="", key=request.key, request=canonical_json(request.to_json()), kind=failure.kind.value,
        detail=failure.detail, raw=failure.raw, provider=failure.provider, at=at,
        **_spent(failure.usage),
    )  # fmt: skip
    values = dict(zip((one.name for one in fields(row)), row.to_row(), strict=True))
    return Attempt(**{**values, "id": row.content_id()})
