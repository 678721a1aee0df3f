"""One question to a model, the content address that names it, and what comes back.

Every way of asking returns a validated reply, or a failure of a named kind."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.strict_json import parse_json
from memaudit.kernel.words.text import counted, shortened

Role = Literal["system", "user", "assistant"]

REPLY_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What providers accept as the name of a reply schema."""


class InvalidRequest(MemAuditError):
    """A request that cannot be sent as it is."""


def canonical_json(value: object) -> str:
    """One spelling of a JSON value: sorted keys, no spaces, ASCII."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str

    def to_json(self) -> dict[str, str]:
        return {"role": self.role, "content": self.content}

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise InvalidRequest(f"a message has the role {self.role!r}; use system, user, ...")
        try:
            self.content.encode()
        except UnicodeEncodeError:
            raise InvalidRequest(
                f"a {self.role} message holds an unpaired surrogate; quote the text with "
                "memaudit.models.prompts.as_data"
            ) from None


@dataclass(frozen=True, slots=True)
class ModelParameters:
    """Sampling settings; None leaves a setting to the server."""

    temperature: float | None = 0.0
    max_tokens: int = 4096
    seed: int | None = 0
    top_p: float | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise InvalidRequest(f"max_tokens is {self.max_tokens}; it must be at least 1")
        for name in ("temperature", "top_p"):
            number = getattr(self, name)
            if number is not None:
                if not (math.isfinite(number) and number >= 0):
                    raise InvalidRequest(f"{name} is {number}; it must be 0 or more")
                object.__setattr__(self, name, float(number))  # 0 and 0.0 are one request

    def to_json(self) -> dict[str, float | int]:
        """The settings that are set, under their names in the API."""
        named = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "top_p": self.top_p,
        }
        return {name: number for name, number in named.items() if number is not None}


@dataclass(frozen=True, slots=True)
class Template:
    """The prompt template of the messages: its name and the hash of its text."""

    id: str
    version: str

    @classmethod
    def of(cls, id: str, text: str) -> "Template":
        return cls(id, hashlib.sha256(text.encode()).hexdigest())


def schema_of(reply_type: type[BaseModel]) -> str:
    """The JSON Schema of a reply as canonical JSON, without the titles that pydantic adds."""
    return canonical_json(_untitled(reply_type.model_json_schema()))


def _untitled(schema: Any, names: bool = False) -> Any:
    """The schema without titles; inside `properties`, a key `title` is a field and stays."""
    if isinstance(schema, dict):
        return {
            key: _untitled(value, not names and key in ("properties", "$defs"))
            for key, value in schema.items()
            if names or key != "title" or not isinstance(value, str)
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema


@dataclass(frozen=True)
class Request:
    """Everything that decides what a model is asked.

    Equal requests have equal keys wherever they are sent: the address, the provider and the API
    key are not part of the key. Who answered is stored with the answer.
    """

    model: str
    messages: tuple[Message, ...]
    reply_name: str
    reply_schema: str
    """Canonical JSON."""
    template: Template
    parameters: ModelParameters = field(default_factory=ModelParameters)

    def __post_init__(self) -> None:
        if not self.model:
            raise InvalidRequest("the request names no model; give its name")
        if not self.messages:
            raise InvalidRequest("the request has no messages")
        if not REPLY_NAME.fullmatch(self.reply_name):
            raise InvalidRequest(
                f"the reply name {self.reply_name[:80]!r} is not 1 to 64 letters, digits, _ or -"
            )

    @classmethod
    def for_reply(
        cls,
        reply_type: type[BaseModel],
        model: str,
        messages: tuple[Message, ...],
        template: Template,
        parameters: ModelParameters | None = None,
    ) -> "Request":
        """A request whose reply must validate as `reply_type`."""
        name, schema = reply_type.__name__, schema_of(reply_type)
        return cls(model, messages, name, schema, template, parameters or ModelParameters())

    @cached_property
    def key(self) -> str:
        """SHA-256 over model, parameters, template, messages and schema, in hex."""
        return hashlib.sha256(canonical_json(self.to_json()).encode()).hexdigest()

    @property
    def prompt_bytes(self) -> int:
        return sum(len(message.content.encode()) for message in self.messages)

    def to_json(self) -> dict[str, Any]:
        """The request as plain data; the key is its hash."""
        return {
            "model": self.model,
            "parameters": self.parameters.to_json(),
            "template": {"id": self.template.id, "version": self.template.version},
            "messages": [message.to_json() for message in self.messages],
            "reply": {"name": self.reply_name, "schema": json.loads(self.reply_schema)},
        }


def request_from_json(data: Mapping[str, Any]) -> Request:
    """The request that `to_json` wrote; anything else is refused."""
    try:
        parameters, template, reply = data["parameters"], data["template"], data["reply"]
        request = Request(
            str(data["model"]),
            tuple(Message(row["role"], row["content"]) for row in data["messages"]),
            reply["name"],
            canonical_json(reply["schema"]),
            Template(template["id"], template["version"]),
            ModelParameters(**{"temperature": None, "seed": None, **parameters}),
        )
        written = canonical_json(data)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InvalidRequest(f"is not a request: {type(error).__name__} {error}") from None
    if canonical_json(request.to_json()) != written:
        raise InvalidRequest("is not a request as memaudit writes it: fields differ")
    return request


ReplyT = TypeVar("ReplyT", bound=BaseModel)


class FailureKind(StrEnum):
    """Why there is no reply; never an empty label."""

    REFUSED = "refused"
    INVALID = "invalid"
    HTTP = "http"
    CAP = "cap"
    NOT_IN_CACHE = "not_in_cache"


RECORDED = (FailureKind.REFUSED, FailureKind.INVALID, FailureKind.HTTP)
"""Failures of a model or server, which are stored; in the other kinds no model was asked."""


@dataclass(frozen=True, slots=True)
class Usage:
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    # Exact, since thousands of small costs are added and compared with a cap.
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

# Local models wrap JSON in a fence and think aloud first, whatever they are told. Anything else
# around the JSON is refused: guessing where it begins would accept half replies.
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
