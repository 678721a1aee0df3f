"""From a model's text to a validated reply, or the reason why it is none."""

import json
import re
from dataclasses import dataclass
from typing import Generic

from pydantic import ValidationError

from memaudit.core.errors import InvalidPackage
from memaudit.io.strict_json import parse_json
from memaudit.models.outcome import ReplyT
from memaudit.models.request import canonical_json

MAX_REASON = 1000
"""Letters of a reason: it goes back to the model, and into the cache."""

_FENCE = re.compile(r"\A```[A-Za-z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)
_THINKING = re.compile(r"\A<think>.*?</think>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Valid(Generic[ReplyT]):
    """A reply and the canonical JSON it was read from."""

    value: ReplyT
    parsed: str


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why a text is no reply, in words the model can act on."""

    reason: str


def parsed_json(raw: str) -> str | Invalid:
    """The canonical JSON of a reply; a code fence or a thinking preamble around it is taken off."""
    text = _THINKING.sub("", raw.strip()).strip()
    if fence := _FENCE.match(text):
        text = fence.group(1).strip()
    if not text:
        return Invalid("the reply is empty")
    try:
        parse_json(text, "reply")  # no duplicate keys, NaN, endless nesting or half characters
        return canonical_json(json.loads(text))
    except InvalidPackage as error:
        return Invalid(_short(error.problems[0].message))


def validated(raw: str, reply_type: type[ReplyT]) -> Valid[ReplyT] | Invalid:
    """The reply as its type."""
    parsed = parsed_json(raw)
    if isinstance(parsed, Invalid):
        return parsed
    try:
        return Valid(reply_type.model_validate_json(parsed), parsed)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(map(str, one['loc'])) or 'reply'}: {one['msg']}" for one in problems]
        return Invalid(_short("; ".join(lines)))


def _short(text: str) -> str:
    return text if len(text) <= MAX_REASON else f"{text[:MAX_REASON]}..."
