"""A system's row of a board: its stores, where they come from, and what it loses, with examples."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from memaudit.core.number_text import percent
from memaudit.formats.score_file import LOSS_STEPS
from memaudit.scoring.board_folder import BoardFolder, BoardSystem, ScoredConversation, run_name
from memaudit.scoring.loss_diagnosis import Diagnosis
from memaudit.scoring.result import ScoreResult, StoreScore

EXAMPLES = 3

SETTINGS = (
    "temperature", "memories_shown", "last_messages_shown", "updates", "inserts", "deletes",
    "agent_type", "context_window", "vector_store", "database",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LostExample:
    """A unit that a store lost, and the memory of the store that says it, if one does."""

    conversation: str
    unit: str
    memory: str | None
    words: int | None


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What does not depend on the budget."""

    system: str
    conversations: int
    runs: int
    whole_store: float
    """Value of the whole store over the weight of all units, its mean."""
    words: float
    memories: float
    provenance: dict[str, str]
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    loses: str
    examples: tuple[LostExample, ...]


def rows_of(
    known: Sequence[ScoredConversation], system: BoardSystem, asked: str, labels: str | None = None
) -> list[list[StoreScore]]:
    """By conversation, the scores of the system's runs; by the first pass unless one is named."""
    table = []
    for one in known:
        result = next(iter(one.results.values())) if labels is None else one.results[labels]
        names = {run_name(run) for run in system.runs if run.conversation == one.conversation}
        table.append([row for row in result if row.store in names and row.asked == asked])
    return table


def mean_over(
    rows: Sequence[Sequence[StoreScore]], measure: Callable[[StoreScore], Fraction | float | None]
) -> float:
    """The mean over conversations of the mean over runs, where the measure is defined."""
    means = []
    for of_one in rows:
        values = [float(value) for row in of_one if (value := measure(row)) is not None]
        if values:
            means.append(sum(values) / len(values))
    return sum(means) / len(means) if means else math.nan


def loss_shares(rows: Sequence[Sequence[StoreScore]]) -> dict[str, float]:
    """By step, the mean share of OPT that is lost there; empty if no loss is known."""
    shares = {name: mean_over(rows, partial(_share, name)) for name in LOSS_STEPS}
    return {name: share for name, share in shares.items() if not math.isnan(share)}


def _share(name: str, row: StoreScore) -> Fraction | None:
    if not isinstance(row.diagnosis, Diagnosis):
        return None
    return next(step.share for step in row.diagnosis.steps if step.name == name)


WHY = {
    "generation": "other systems wrote it, or wrote it in fewer words, and neither this store "
    "nor the package did",
    "extraction": "it never wrote what the questions need",
    "cost": "it wrote what the questions need in memories too long for the budget",
    "selection": "the best choice of its own memories is worth far more than what is kept",
}


def system_row(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> SystemRow:
    rows = rows_of(known, system, asked)
    weight = {
        id(row): float(sum(one.results[folder.plan.labels].package.weights.values()))
        for one, of_one in zip(known, rows, strict=True)
        for row in of_one
    }
    loses, examples = _losses(folder, known, system, asked)
    return SystemRow(
        system=system.name,
        conversations=sum(bool(of_one) for of_one in rows),
        runs=sum(len(of_one) for of_one in rows),
        whole_store=mean_over(rows, lambda row: float(row.numbers.written.value) / weight[id(row)]),
        words=mean_over(rows, lambda row: float(row.numbers.written.cost)),
        memories=mean_over(rows, lambda row: row.numbers.memories),
        provenance=_provenance(system),
        marks=tuple(_marks(folder, known, system, rows)),
        notes=tuple(system.notes.notes),
        loses=loses,
        examples=examples,
    )


def _marks(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem,
    rows: Sequence[Sequence[StoreScore]],
) -> list[str]:  # fmt: skip
    """Why a row is not like the others."""
    marks = []
    if not system.notes.blind:
        marks.append("labelled by readers who knew the system")
    if system.own_labels and not all((system.folder / one).is_file() for one in folder.passes):
        marks.append("labelled once")
    there = sum(bool(of_one) for of_one in rows)
    if there < len(known):
        marks.append(f"on {there} of {len(known)} conversations")
    if not all(run.store.origin.configuration.get("captured") for run in system.runs):
        marks.append("imported, not captured")
    return marks


def _provenance(system: BoardSystem) -> dict[str, str]:
    """Version, model, embedder, view, feed, clock and settings that matter."""
    found: dict[str, dict[str, None]] = {}
    for run in system.runs:
        origin, settings = run.store.origin, run.store.origin.configuration
        versions = [f"{name} {version}" for name, version in origin.versions.items()
                    if name != "python"]  # fmt: skip
        known = {
            "version": versions[0] if versions else "not known",
            "model": settings.get("model"),
            "embedder": settings.get("embedder"),
            "view": origin.view,
            "feed": settings.get("feed"),
            "clock": settings.get("clock"),
            "settings": ", ".join(
                f"{name.replace('_', ' ')} {settings[name]}"
                for name in SETTINGS
                if name in settings
            ),
        }
        for name, value in known.items():
            found.setdefault(name, {})[str(value) if value not in (None, "") else "not known"] = (
                None
            )
    return {name: "; ".join(values) for name, values in found.items()}


def _losses(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> tuple[str, tuple[LostExample, ...]]:
    """A sentence about the largest loss, with units that it cost."""
    rows = rows_of(known, system, asked)
    shares = loss_shares(rows)
    kept = mean_over(rows, lambda row: row.numbers.kept.ratio.value)
    if not shares:
        return "No losses are known.", ()
    worst = max(shares, key=lambda name: shares[name])
    examples = [
        example
        for one, of_one in zip(known, rows, strict=True)
        for row in of_one[:1]
        for example in _examples(one.results[folder.plan.labels], row, worst)[:1]
    ]
    sentence = (
        f"At {asked} words it keeps {percent(kept)} of OPT and loses most, "
        f"{percent(shares[worst])}, to {worst}: {WHY[worst]}."
    )
    return sentence, tuple(examples[:EXAMPLES])


def _examples(result: ScoreResult, row: StoreScore, step: str) -> list[LostExample]:
    """Units that the store lost at a step, the heaviest first, with the memory that says each."""
    (store,) = (one for one in result.stores if one.name == row.store)
    found = []
    for lost in row.lost:
        if lost.step != step or lost.lost <= 0:
            continue
        saying = [
            (-cell.value, memory.cost, memory.text)
            for memory in store.memories
            if (cell := memory.coverage.get(lost.unit)) is not None and cell.value
        ]
        best = min(saying, default=None)
        found.append(LostExample(
            result.package.name, lost.text, *((best[2], int(best[1])) if best else (None, None))
        ))  # fmt: skip
    return found
