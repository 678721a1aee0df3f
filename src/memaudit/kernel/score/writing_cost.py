"""What a captured store cost to write: calls, tokens as the provider reported them, seconds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.words.text import counted


@dataclass(frozen=True, slots=True)
class WritingCost:
    """Of one package if the store knows it, else of all; tokens are None if not reported."""

    calls: int
    tokens_in: int | None
    tokens_out: int | None
    embedding_calls: int
    embedded_texts: int
    seconds: float

    @property
    def tokens(self) -> int | None:
        if self.tokens_in is None or self.tokens_out is None:
            return None
        return self.tokens_in + self.tokens_out

    @property
    def text(self) -> str:
        tokens = "tokens not reported"
        if self.tokens_in is not None and self.tokens_out is not None:
            tokens = f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out"
        texts = counted(self.embedded_texts, "text")
        return f"{counted(self.calls, 'call')}, {tokens}, {texts} embedded, {self.seconds:,.0f} s"

    def data(self) -> dict[str, Any]:
        return asdict(self)


def writing_cost(store: ExportedStore, package: str) -> WritingCost | None:
    """None for a store that was not captured."""
    writing = store.origin.configuration.get("writing")
    if not isinstance(writing, Mapping):
        return None
    feedings = writing.get("feedings")
    rows = feedings.get(package) if isinstance(feedings, Mapping) else None
    if not isinstance(rows, list):
        rows = [writing]
    known = [row for row in rows if isinstance(row, Mapping)]
    # A feeding without a call has no tokens to report, and does not make the sum unknown.
    asking = [row for row in known if row.get("calls")]
    return WritingCost(
        calls=int(_sum(known, "calls") or 0),
        tokens_in=_whole(_sum(asking, "tokens_in")),
        tokens_out=_whole(_sum(asking, "tokens_out")),
        embedding_calls=int(_sum(known, "embedding_calls") or 0),
        embedded_texts=int(_sum(known, "embedded_texts") or 0),
        seconds=float(_sum(known, "seconds") or 0),
    )


def _sum(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    """The sum; None if some row has no number, or there is none."""
    numbers = [row.get(name) for row in rows]
    numeric = [
        number
        for number in numbers
        if isinstance(number, int | float) and not isinstance(number, bool)
    ]
    return sum(numeric) if numeric and len(numeric) == len(numbers) else None


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)
