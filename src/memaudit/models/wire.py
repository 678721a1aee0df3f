"""The body of a chat completion request, in the three ways servers take a reply schema."""

import json
from enum import IntEnum
from typing import Any

from memaudit.models.request import Request

BYTES_A_MESSAGE = 32
"""Room for the role and the chat template's own tokens, message by message."""


class Format(IntEnum):
    """How the reply's shape is asked for, from strict to loose."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    TEXT = 2

    @property
    def label(self) -> str:
        return self.name.lower()


def body(
    request: Request,
    format: Format = Format.JSON_SCHEMA,
    rejected: tuple[str, str] | None = None,
    token_field: str = "max_tokens",
) -> dict[str, Any]:
    """The request as JSON; `rejected` is an earlier reply and what was wrong with it."""
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    if format is not Format.JSON_SCHEMA:
        messages.append({"role": "user", "content": _schema_in_words(request)})
    if rejected is not None:
        raw, reason = rejected
        if raw.strip():  # servers refuse empty assistant turns
            messages.append({"role": "assistant", "content": raw})
        messages.append({"role": "user", "content": _again(reason)})
    parameters: dict[str, Any] = request.parameters.to_json()
    parameters[token_field] = parameters.pop("max_tokens")
    data = {"model": request.model, "messages": messages, **parameters}
    if format is Format.JSON_SCHEMA:
        schema = json.loads(request.reply_schema)
        data["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.reply_name,
                "schema": schema,
                "strict": is_closed(schema),
            },
        }
    elif format is Format.JSON_OBJECT:
        data["response_format"] = {"type": "json_object"}
    return data


def prompt_bound(data: dict[str, Any]) -> int:
    """At most this many prompt tokens: no tokenizer makes more tokens than there are bytes."""
    size = sum(len(one["content"].encode()) + BYTES_A_MESSAGE for one in data["messages"])
    return size + len(json.dumps(data.get("response_format", "")))


def is_closed(schema: Any) -> bool:
    """Whether every object lists all its fields as required, as strict mode demands."""
    if isinstance(schema, list):
        return all(is_closed(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(schema.get("properties", {}))
    ):
        return False
    return all(is_closed(value) for value in schema.values())


def _schema_in_words(request: Request) -> str:
    return (
        "Reply with one JSON object and nothing else, no code fence and no explanation. "
        f"It must validate against this JSON Schema:\n{request.reply_schema}"
    )


def _again(reason: str) -> str:
    return (
        "Your reply did not validate. Reply again with the whole corrected JSON object and nothing "
        f"else. What was wrong: {json.dumps(reason, ensure_ascii=False)}"
    )
