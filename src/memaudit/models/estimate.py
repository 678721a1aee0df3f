"""What a run will cost, before it starts: a rough range, and said to be one."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.counting import counted
from memaudit.core.errors import MemAuditError
from memaudit.models.cache import Cache
from memaudit.models.price import Price
from memaudit.models.request import Request

BYTES_A_TOKEN = (5, 3)
"""English text has about four bytes a token; the range runs from five to three."""

TOKENS_A_MESSAGE = 8
SHORTEST_REPLY = 16


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests that are not in the cache, and a range for what they use without retries."""

    requests: int
    cached: int
    prompt_tokens: tuple[int, int]
    completion_tokens: tuple[int, int]
    cost: tuple[Fraction, Fraction] | None
    """Dollars; None where no price is known."""

    def lines(self) -> list[str]:
        """The estimate in words."""
        low, high = self.prompt_tokens
        short, long = self.completion_tokens
        if not self.requests:
            return [f"nothing to ask, {self.cached:,} answered from the cache"]
        text = [
            f"{counted(self.requests, 'request')} to ask, {self.cached:,} answered from the cache",
            f"about {low:,} to {high:,} prompt tokens (estimated from the length of the text)",
            f"{short:,} to {long:,} reply tokens (the upper end is max_tokens)",
        ]
        if self.cost is None:
            text.append("cost unknown: give --price-in and --price-out for an estimate")
        else:
            text.append(f"about ${float(self.cost[0]):.4f} to ${float(self.cost[1]):.4f}")
        return text


def estimate(requests: Iterable[Request], cache: Cache | None, price: Price | None) -> Estimate:
    """The range for a set of requests, equal ones counted once."""
    unique = {request.key: request for request in requests}
    asked = [one for key, one in unique.items() if cache is None or cache.answer(key) is None]
    sizes = [one.prompt_bytes + len(one.reply_schema) for one in asked]
    extra = sum(TOKENS_A_MESSAGE * len(one.messages) for one in asked)
    few, many = BYTES_A_TOKEN
    prompt = (sum(size // few for size in sizes), sum(-(-size // many) for size in sizes) + extra)
    most = [one.parameters.max_tokens for one in asked]
    reply = (sum(min(SHORTEST_REPLY, one) for one in most), sum(most))
    cost = None
    if price is not None:
        cost = (price.cost(prompt[0], reply[0]), price.cost(prompt[1], reply[1]))
    return Estimate(len(asked), len(unique) - len(asked), prompt, reply, cost)


def confirm(
    found: Estimate,
    show: Callable[[str], None],
    agree: Callable[[], bool],
    yes: bool = False,
) -> None:
    """Show the estimate and go on only if the user agrees; nothing to ask needs no agreement."""
    for line in found.lines():
        show(line)
    if found.requests and not yes and not agree():
        raise MemAuditError("stopped before the first call; nothing was spent")
