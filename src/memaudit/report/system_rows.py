"""A system's row of a board: its stores, where they come from, and what it loses, with examples."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from memaudit.adapters.store import WRITTEN_AFTER, Memory
from memaudit.core.losses import LOSS_STEPS
from memaudit.core.number_text import percent
from memaudit.core.text import counted
from memaudit.report.system_labels import label_quality
from memaudit.scoring.board_folder import BoardFolder, BoardSystem, Run, run_name
from memaudit.scoring.board_scores import ScoredConversation
from memaudit.scoring.loss_diagnosis import Diagnosis
from memaudit.scoring.pruning import default_policy
from memaudit.scoring.result import ScoreResult, StoreScore
from memaudit.scoring.written_store import WrittenMemory

EXAMPLES = 3
NOTHING = 0.0005
"""A share that is printed as 0.0%."""

SETTINGS = (
    "temperature",
    "memories_shown",
    "last_messages_shown",
    "updates",
    "inserts",
    "deletes",
    "agent_type",
    "context_window",
    "vector_store",
    "database",
)


@dataclass(frozen=True, slots=True)
class LostExample:
    """A unit that a store lost, and the memory of the store that says it, if one does."""

    conversation: str
    unit: str
    share: Fraction
    """Of OPT, what was lost with it."""
    memory: WrittenMemory | None
    in_part: bool
    """Whether that memory says only a part of it."""


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What does not depend on the budget."""

    system: str
    conversations: int
    runs: int
    whole_store: float
    """Value of the whole store over the weight of all units, its mean."""
    cost: float
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


Measure = Callable[[StoreScore], Fraction | float | None]


def run_values(runs: Sequence[StoreScore], measure: Measure) -> list[float]:
    """A measure of the runs on one conversation, where it is defined."""
    return [float(value) for row in runs if (value := measure(row)) is not None]


def mean_of(values: Iterable[Sequence[float]]) -> float:
    """The mean over conversations of the mean over runs, where there are any."""
    means = [sum(own) / len(own) for own in values if own]
    return sum(means) / len(means) if means else math.nan


def mean_over(rows: Sequence[Sequence[StoreScore]], measure: Measure) -> float:
    """The mean of a measure where it is defined."""
    return mean_of(run_values(runs, measure) for runs in rows)


def measure_name(folder: BoardFolder) -> str:
    """What costs are counted in."""
    rules = {package.cost_rule for package in folder.packages}
    return next(iter(rules)) if rules in ({"words"}, {"bytes"}) else "units of cost"


def budget_name(folder: BoardFolder, asked: str) -> str:
    """`250 words`, or a share of the conversation as it is."""
    return asked if asked.endswith("%") else f"{asked} {measure_name(folder)}"


def loss_shares(rows: Sequence[Sequence[StoreScore]]) -> dict[str, float]:
    """By step, the mean share of OPT that is lost there; empty if no loss is known."""
    shares = {name: mean_over(rows, partial(_share, name)) for name in LOSS_STEPS}
    return {name: share for name, share in shares.items() if not math.isnan(share)}


def _share(name: str, row: StoreScore) -> Fraction | None:
    if not isinstance(row.diagnosis, Diagnosis):
        return None
    return next(step.share for step in row.diagnosis.steps if step.name == name)


WHY = {step.name: step.reason for step in LOSS_STEPS.values()}


def system_row(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> SystemRow:
    rows = rows_of(known, system, asked)
    weights = [sum(one.results[folder.plan.labels].package.weights.values()) for one in known]
    loses, examples = _losses(folder, known, system, asked)
    labels = label_quality(folder, known, system)
    return SystemRow(
        system=system.name,
        conversations=sum(bool(runs) for runs in rows),
        runs=sum(len(runs) for runs in rows),
        whole_store=mean_of(
            [float(row.numbers.written.value / weight) for row in runs]
            for weight, runs in zip(weights, rows, strict=True)
            if weight
        ),
        cost=mean_over(rows, lambda row: float(row.numbers.written.cost)),
        memories=mean_over(rows, lambda row: row.numbers.memories),
        provenance={**_provenance(system), "labels": labels.text},
        marks=(*_marks(known, system, rows), *labels.marks),
        notes=tuple(system.notes.notes),
        loses=loses,
        examples=examples,
    )


def _marks(
    known: Sequence[ScoredConversation], system: BoardSystem, rows: Sequence[Sequence[StoreScore]]
) -> Iterator[str]:
    """Why the stores of a row are not like the others."""
    if not all(rows):
        number = sum(bool(runs) for runs in rows)
        yield f"on {number} of {len(known)} conversations, so not ranked"
    if left := len(system.runs) - sum(len(runs) for runs in rows):
        yield f"{counted(left, 'run')} without scores"
    if not all(run.store.origin.configuration.get("captured") for run in system.runs):
        yield "imported, not captured"
    if empty := [run for run in system.runs if not run.store.active]:
        yield f"{counted(len(empty), 'store')} without memories, the first {_named(empty[0])}"
    if copies := list(_copies(system)):
        yield f"{counted(len(copies), 'run')} equal to an earlier one: {_named(copies[0])}"
    names = {(run.conversation, run_name(run)) for run in system.runs}
    if any(
        default_policy(store) == "top"
        for one in known
        for store in next(iter(one.results.values())).stores
        if (one.conversation, store.name) in names
    ):
        yield "no times of entries: its documents are cut from the top"
    memories = [(run, memory) for run in system.runs for memory in run.store.active]
    if undated := [(run, memory) for run, memory in memories if _is_undated(memory)]:
        if len(undated) == len(memories):
            yield "no times: its newest memories are the last ones of the file"
        else:
            run, memory = undated[0]
            yield (
                f"{len(undated)} of {counted(len(memories), 'memory')} without a time, the first "
                f"{memory.id} on {_named(run)}: the order of the file counts there"
            )
    if lacking := [run for run in system.runs if run.missing]:
        yield (
            f"{counted(len(lacking), 'export')} may be missing memories; "
            f"{lacking[0].conversation}: {'; '.join(lacking[0].missing)}"
        )


def _named(run: Run) -> str:
    return run.conversation if run.number == 1 else f"{run.conversation} (run {run.number})"


def _copies(system: BoardSystem) -> Iterator[Run]:
    """Runs whose memories are those of an earlier run on the same conversation."""
    seen = set()
    for run in sorted(system.runs, key=lambda run: run.number):
        texts = (run.conversation, *(memory.text for memory in run.store.active))
        if texts in seen:
            yield run
        seen.add(texts)


def _is_undated(memory: Memory) -> bool:
    """Whether nothing says when a memory was written; entries of documents are another matter."""
    return (
        memory.lines is None and memory.created_at is None and WRITTEN_AFTER not in memory.metadata
    )


def _provenance(system: BoardSystem) -> dict[str, str]:
    """Version, model, embedder, view, feed, clock and settings that matter. What the stores do not
    say, `row.json` may."""
    stated = system.notes.model_dump()
    found: dict[str, dict[str, None]] = {}
    for run in system.runs:
        origin, settings = run.store.origin, run.store.origin.configuration
        versions = [
            f"{name} {version}" for name, version in origin.versions.items() if name != "python"
        ]
        known = {
            "version": versions[0] if versions else None,
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
            told = stated.get(name) or "not known"
            found.setdefault(name, {})[str(value) if value not in (None, "") else told] = None
    return {name: "; ".join(values) for name, values in found.items()}


def _losses(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> tuple[str, tuple[LostExample, ...]]:
    """A sentence about the largest loss, with units that it cost."""
    rows = rows_of(known, system, asked)
    shares = loss_shares(rows)
    if not shares:
        return "No losses are known.", ()
    kept = mean_over(rows, lambda row: row.numbers.kept.ratio.value)
    at = f"At {budget_name(folder, asked)} it keeps {percent(kept)} of OPT"
    worst = max(shares, key=lambda name: shares[name])
    if shares[worst] < NOTHING:
        return f"{at} and loses nothing.", ()
    examples = [
        example
        for one, runs in zip(known, rows, strict=True)
        for row in runs[:1]
        for example in _examples(one.results[folder.plan.labels], row, worst)[:1]
    ]
    examples.sort(key=lambda example: -example.share)
    sentence = f"{at} and loses most, {percent(shares[worst])}, to {worst}: {WHY[worst]}."
    return sentence, tuple(examples[:EXAMPLES])


def _examples(result: ScoreResult, row: StoreScore, step: str) -> list[LostExample]:
    """Units that the store lost at a step, the heaviest first, with the memory that says each."""
    (store,) = (one for one in result.stores if one.name == row.store)
    found = []
    for lost in row.lost:
        if lost.step != step or lost.lost <= 0:
            continue
        saying = [
            (-cell.value, memory.cost, memory.id, memory)
            for memory in store.memories
            if (cell := memory.coverage.get(lost.unit)) is not None and cell.value
        ]
        minus, _, _, best = min(saying) if saying else (Fraction(0), None, None, None)
        share = lost.lost / row.optimum.value
        found.append(LostExample(result.package.name, lost.text, share, best, -1 < minus < 0))
    return found
