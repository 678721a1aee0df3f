"""One question to a model, and the content address that names it."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from pydantic import BaseModel

from memaudit.kernel.errors import MemAuditError

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
                "memaudit.models.prompt.as_data"
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
