"""What a chat completion says: its text, a refusal, and the tokens used."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.core.exact import exact
from memaudit.models.outcome import Usage
from memaudit.models.price import Price


class MalformedBody(ValueError):
    """A response that is no chat completion; `status` where it reports an error inside."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def whole_text(text: str) -> str:
    """The text with half surrogate pairs spelled out: files and databases cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True)
class Completion:
    """The first choice of a response."""

    text: str
    refusal: str
    """Not empty where the model or a filter declined."""
    cut_off: bool
    """Whether the reply ended at max_tokens."""
    served_model: str
    usage: Usage


def read_completion(data: object, price: Price | None) -> Completion:
    """The completion in a response body; anything else is a MalformedBody."""
    if not isinstance(data, dict):
        raise MalformedBody("the response is not a JSON object")
    if isinstance(error := data.get("error"), dict):  # some routers send errors with status 200
        code = error.get("code")
        status = code if isinstance(code, int) and 100 <= code < 600 else None
        message = whole_text(str(error.get("message"))[:500])
        raise MalformedBody(f"the response is an error: {message}", status)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedBody("the response has no choices")
    said = choices[0].get("message")
    if not isinstance(said, dict):
        raise MalformedBody("the response's choice has no message")
    finish = choices[0].get("finish_reason")
    text = _text(said.get("content"))
    refusal = said.get("refusal")
    refusal = whole_text(refusal) if isinstance(refusal, str) else ""
    if not refusal and finish == "content_filter":
        refusal = text or "stopped by the provider's content filter"
    model = data.get("model")
    return Completion(
        text, refusal, finish == "length", whole_text(model) if isinstance(model, str) else "",
        read_usage(data.get("usage"), price),
    )  # fmt: skip


def _text(content: Any) -> str:
    """The text of a message, which some servers send as a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return whole_text(content)
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else part for part in content]
        if all(isinstance(one, str) for one in texts):
            return whole_text("".join(map(str, texts)))
    raise MalformedBody("the response's content is neither text nor a list of texts")


def read_usage(usage: object, price: Price | None) -> Usage:
    """Tokens and cost of one call: the cost the server reports, else tokens times price."""
    found: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    prompt, completion = _count(found, "prompt_tokens"), _count(found, "completion_tokens")
    if prompt is None or completion is None:
        return Usage(calls=1, unpriced=1, unmeasured=1)
    cost = _cost(found.get("cost"))
    if cost is None and price is not None:
        cost = price.cost(prompt, completion)
    return Usage(1, prompt, completion, cost or Fraction(0), unpriced=int(cost is None))


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    number = usage.get(name)
    good = isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 40
    return number if good else None


def _cost(number: object) -> Fraction | None:
    try:
        cost = exact(number)
    except ValueError:
        return None
    return cost if cost >= 0 else None
