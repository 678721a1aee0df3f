"""Questions of a diagnosis added up: by outcome, by the layer that lost them, by kind."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from memaudit.downstream.outcomes import LOSSES, Layer, Losses, losses
from memaudit.web.explorer.library.diagnosed import Diagnosed, Row
from memaudit.web.explorer.views.waterfall import Bar, waterfall

ABOUT = {
    Layer.WRITE: "the evidence was never written, or did not fit the budget",
    Layer.RETRIEVAL: "it was kept, and the retriever did not find it",
    Layer.READER: "it was retrieved, and the reader answered wrongly or not at all",
    Layer.LUCK: "a right answer without the evidence: luck",
    Layer.UNCERTAIN: "no evidence is named, or words cannot tell if the answer is right",
}


@dataclass(frozen=True, slots=True)
class StoreLosses:
    """What became of the questions at one store; the bars go from all of them to the answered."""

    store: str
    found: Losses
    bars: tuple[Bar, ...]


def store_losses(diagnosed: Diagnosed) -> list[StoreLosses]:
    """Every store, in the order of the spec."""
    by_store: dict[str, list[Row]] = {name: [] for name in diagnosed.stores}
    for row in diagnosed.rows:
        by_store[row.store].append(row)
    return [_store(name, rows) for name, rows in by_store.items()]


def _store(name: str, rows: list[Row]) -> StoreLosses:
    found = losses((row.outcome, row.layer) for row in rows)
    bars = waterfall(
        ("all questions", "", float(found.questions)),
        [(layer.value, ABOUT[layer], found.losses[layer], float(found.layers[layer]))
         for layer in LOSSES],
        ("answered", "right, with the evidence", float(found.layers[Layer.NONE])),
    )  # fmt: skip
    return StoreLosses(name, found, bars)


def by_kind(diagnosed: Diagnosed) -> dict[str, dict[str, tuple[int, int]]]:
    """By kind of question and store: how many were answered, of how many."""
    asked: Counter[tuple[str, str]] = Counter()
    answered: Counter[tuple[str, str]] = Counter()
    for row in diagnosed.rows:
        asked[row.kind, row.store] += 1
        answered[row.kind, row.store] += not row.failed
    return {
        kind: {
            store: (answered[kind, store], asked[kind, store]) for store in diagnosed.stores
        }
        for kind in sorted({row.kind for row in diagnosed.rows})
    }  # fmt: skip


def remarks(diagnosed: Diagnosed) -> dict[str, dict[str, int]]:
    """By remark and store, how many rows carry it."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in diagnosed.rows:
        counts.update((why, row.store) for why in row.why)
    return {
        why: {store: counts[why, store] for store in diagnosed.stores}
        for why in sorted({why for why, _ in counts})
    }


def share(part: int, whole: int) -> float | None:
    """A part of a whole; None of nothing."""
    return float(Fraction(part, whole)) if whole else None
