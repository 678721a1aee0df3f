"""What every way of asking a model returns: a validated reply, or a failure of a named kind."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from memaudit.kernel.errors import InvalidPackage
from memaudit.kernel.io.strict_json import parse_json
from memaudit.kernel.words.text import counted, shortened
from memaudit.models.request import Request, canonical_json

ReplyT = TypeVar("ReplyT", bound=BaseModel)


class FailureKind(StrEnum):
    """Why there is no reply; never an empty label."""

    REFUSED = "refused"
    INVALID = "invalid"
    HTTP = "http"
    CAP = "cap"
    WAITING = "waiting"
    NOT_IN_CACHE = "not_in_cache"


RECORDED = (FailureKind.REFUSED, FailureKind.INVALID, FailureKind.HTTP)
"""Failures of a model or server, which are stored; in the other kinds no model was asked."""


@dataclass(frozen=True, slots=True)
class Usage:
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

    def text(self) -> str:
        """Calls, tokens and cost in one line, with what is not known."""
        text = (
            f"{counted(self.calls, 'call')}, {self.prompt_tokens:,} prompt and "
            f"{self.completion_tokens:,} reply tokens"
        )
        if self.calls > self.unpriced:
            text += f", ${float(self.cost):.4f}"
        if self.unpriced:
            text += f", {counted(self.unpriced, 'call')} of unknown price"
        if self.unmeasured:
            text += f", {counted(self.unmeasured, 'call')} of unknown size"
        return text

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
    key: str
    value: ReplyT
    raw: str
    parsed: str
    """The JSON that validated, in canonical form."""
    usage: Usage
    """What the reply cost when it was asked for, the repeated request included; kept on replay."""
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


class ModelClient(Protocol):
    """Answers a request with a reply of the given type, or with a failure.

    It raises MemAuditError only if every other request would fail too: a wrong key, an unknown
    model, an empty account, a cache that cannot be written.
    """

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure: ...

    def stop(self) -> None:
        """Start no more calls; calls in flight may end."""
        ...

    @property
    def spent(self) -> Usage:
        """The usage of this client so far; replies from the cache use nothing."""
        ...


MAX_REASON = 1000
"""Characters of a reason, which goes back to the model and into the cache."""

_FENCE = re.compile(r"\A```[A-Za-z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_THINKING = re.compile(r"\A<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Valid(Generic[ReplyT]):
    """A reply and the canonical JSON it was read from."""

    value: ReplyT
    parsed: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why a text is not a valid reply, in words the model can act on."""

    reason: str


def parsed_json(raw: str) -> str | Invalid:
    """The canonical JSON of a reply, without a code fence or a thinking preamble."""
    text = _THINKING.sub("", raw.strip()).strip()
    if fence := _FENCE.match(text):
        text = fence.group(1).strip()
    if not text:
        return Invalid("the reply is empty")
    try:
        parse_json(text, "reply")  # refuses duplicate keys, NaN, deep nesting and lone surrogates
        return canonical_json(json.loads(text))
    except InvalidPackage as error:
        return Invalid(shortened(error.problems[0].message, MAX_REASON))


def validated(raw: str, reply_type: type[ReplyT]) -> Valid[ReplyT] | Invalid:
    """The reply as its type, or why it is not one."""
    parsed = parsed_json(raw)
    if isinstance(parsed, Invalid):
        return parsed
    try:
        return Valid(reply_type.model_validate_json(parsed), parsed)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(map(str, it['loc'])) or 'reply'}: {it['msg']}" for it in problems]
        return Invalid(shortened("; ".join(lines), MAX_REASON))
