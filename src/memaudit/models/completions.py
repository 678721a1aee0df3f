"""Chat completions: the body of a request, and what a response says."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.kernel.words.text import shortened
from memaudit.models.request import Request, Usage
from memaudit.models.spending import Price

# A bound, not an estimate: the spending cap must hold whatever the tokenizer.
BYTES_A_MESSAGE = 32
"""Room per message for the role and the chat template's own tokens."""


LONGEST_NAME = 200
"""Characters of the model's name as the server spells it."""


class ReplyFormat(IntEnum):
    """How the reply's form is requested, from strict to loose."""

    JSON_SCHEMA = 0
    JSON_OBJECT = 1
    TEXT = 2

    @property
    def label(self) -> str:
        return self.name.lower()


def request_body(
    request: Request,
    format: ReplyFormat = ReplyFormat.JSON_SCHEMA,
    rejected: tuple[str, str] | None = None,
    token_field: str = "max_tokens",
) -> dict[str, Any]:
    """The request as JSON; `rejected` is an earlier reply and what was wrong with it."""
    messages = [message.to_json() for message in request.messages]
    # A server that ignores schemas still has to be told what to reply.
    if format is not ReplyFormat.JSON_SCHEMA:
        messages.append({"role": "user", "content": _schema_in_words(request)})
    if rejected is not None:
        raw, reason = rejected
        if raw.strip():  # servers refuse empty assistant turns
            messages.append({"role": "assistant", "content": raw})
        messages.append({"role": "user", "content": _correction(reason)})
    parameters: dict[str, Any] = request.parameters.to_json()
    parameters[token_field] = parameters.pop("max_tokens")
    data = {"model": request.model, "messages": messages, **parameters}
    if format is ReplyFormat.JSON_SCHEMA:
        schema = json.loads(request.reply_schema)
        data["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.reply_name,
                "schema": schema,
                "strict": is_closed(schema),
            },
        }
    elif format is ReplyFormat.JSON_OBJECT:
        data["response_format"] = {"type": "json_object"}
    return data


def prompt_bound(data: dict[str, Any]) -> int:
    """An upper bound on prompt tokens: no tokenizer makes more tokens than there are bytes."""
    size = sum(len(row["content"].encode()) + BYTES_A_MESSAGE for row in data["messages"])
    return size + len(json.dumps(data.get("response_format", "")))


def is_closed(schema: Any) -> bool:
    """Whether every object requires all its fields, as strict mode demands."""
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


def _correction(reason: str) -> str:
    return (
        "Your reply did not validate. Reply again with the whole corrected JSON object and nothing "
        f"else. What was wrong: {json.dumps(reason, ensure_ascii=False)}"
    )


class MalformedBody(ValueError):
    """A response that is not a chat completion; `status` if it reports an error inside."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def escape_surrogates(text: str) -> str:
    """The text with unpaired surrogates escaped: files and databases cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    refusal: str
    """Not empty if the model or a filter declined."""
    cut_off: bool
    """Whether the reply ended at max_tokens."""
    served_model: str
    usage: Usage


def read_completion(data: object, price: Price | None, hide: Callable[[str], str]) -> Completion:
    """The completion in a response body; raises MalformedBody for anything else.

    Every text goes through `hide`, which removes keys, before it is cut or used.
    """
    if not isinstance(data, dict):
        raise MalformedBody("the response is not a JSON object")
    if isinstance(error := data.get("error"), dict):  # some routers send errors with status 200
        code = error.get("code")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        message = error.get("message")
        detail = hide(escape_surrogates(message)) if isinstance(message, str) else "no message"
        raise MalformedBody(f"the response is an error: {shortened(detail, 500)}", status)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedBody("the response has no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise MalformedBody("the response's choice has no message")
    finish = choices[0].get("finish_reason")
    text = hide(_text(message.get("content")))
    refusal = message.get("refusal")
    refusal = hide(escape_surrogates(refusal)) if isinstance(refusal, str) else ""
    if not refusal and finish == "content_filter":
        refusal = text or "stopped by the provider's content filter"
    model = data.get("model")
    served = hide(escape_surrogates(model)) if isinstance(model, str) else ""
    return Completion(
        text,
        refusal,
        finish == "length",
        shortened(served, LONGEST_NAME),
        read_usage(data.get("usage"), price),
    )


def _text(content: Any) -> str:
    """The text of a message, which some servers send as a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return escape_surrogates(content)
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        if all(isinstance(text, str) for text in texts):
            return escape_surrogates("".join(map(str, texts)))
    raise MalformedBody("the response's content is neither text nor a list of texts")


def read_usage(usage: object, price: Price | None) -> Usage:
    """Tokens and cost of one call: the cost the server reports, else tokens times price."""
    data: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    prompt, completion = _count(data, "prompt_tokens"), _count(data, "completion_tokens")
    if prompt is None or completion is None:
        return Usage(calls=1, unpriced=1, unmeasured=1)
    cost = _cost(data.get("cost"))
    if cost is None and price is not None:
        cost = price.cost(prompt, completion)
    return Usage(1, prompt, completion, cost or Fraction(0), unpriced=int(cost is None))


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    number = usage.get(name)
    # A server may report anything; a wrong count would lift the cap or end the run.
    good = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 40
    return number if good else None


def _cost(number: object) -> Fraction | None:
    try:
        cost = exact(number)
    except ValueError:
        return None
    return cost if cost >= 0 else None
