"""What became of a request: a typed reply, or a failure of a named kind with its raw text."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, TypeVar

from pydantic import BaseModel

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class FailureKind(StrEnum):
    """Why there is no reply; never to be read as an empty label."""

    REFUSED = "refused"
    INVALID = "invalid"
    HTTP = "http"
    CAP = "cap"
    PENDING = "pending"
    NOT_IN_CACHE = "not_in_cache"


RECORDED = (FailureKind.REFUSED, FailureKind.INVALID, FailureKind.HTTP)
"""What a model or server did, worth keeping; the other kinds say that nobody was asked."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens and cost; usages add up."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Fraction = Fraction(0)
    """Of the calls with a known price; a lower bound where `unpriced` is above zero."""
    unpriced: int = 0
    """Calls whose cost is not known."""
    unmeasured: int = 0
    """Calls whose tokens the server did not report, timed-out ones among them."""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.unmeasured + other.unmeasured,
        )


@dataclass(frozen=True, slots=True)
class Reply(Generic[ReplyT]):
    """A reply that validated."""

    key: str
    value: ReplyT
    raw: str
    parsed: str
    """The JSON that validated, in canonical form."""
    usage: Usage
    """What this reply cost when it was asked for, re-ask included; kept when it is replayed."""
    provider: str
    served_model: str = ""
    """The model the server says it used."""
    wire: str = ""
    """How the reply was asked for: json_schema, json_object or text."""
    seconds: float = 0.0
    from_cache: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """No reply, and why; the last raw text is kept."""

    key: str
    kind: FailureKind
    detail: str
    raw: str = ""
    usage: Usage = Usage()
    provider: str = ""
    from_cache: bool = False
