"""A system's row of a board: its stores, where they come from, and what it loses, with examples."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

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


def share_of(diagnosis: Diagnosis, name: str) -> Fraction:
    return next(step.share for step in diagnosis.steps if step.name == name)


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
    flat = [row for of_one in rows for row in of_one]
    weights = [
        (row, float(sum(one.results[folder.plan.labels].package.weights.values())))
        for one, of_one in zip(known, rows, strict=True)
        for row in of_one
    ]
    loses, examples = _losses(folder, known, system, asked)
    return SystemRow(
        system=system.name,
        conversations=sum(bool(of_one) for of_one in rows),
        runs=len(flat),
        whole_store=_mean(float(row.numbers.written.value) / weight for row, weight in weights),
        words=_mean(float(row.numbers.written.cost) for row in flat),
        memories=_mean(row.numbers.memories for row in flat),
        provenance=_provenance(system),
        marks=tuple(_marks(folder, known, system, rows)),
        notes=tuple(system.notes.notes),
        loses=loses,
        examples=examples,
    )


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed)


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
    diagnosed = [
        row.diagnosis for of_one in rows for row in of_one if isinstance(row.diagnosis, Diagnosis)
    ]
    if not diagnosed:
        return "No losses are known.", ()
    shares = {
        name: sum((share_of(one, name) for one in diagnosed), Fraction(0)) / len(diagnosed)
        for name in LOSS_STEPS
    }
    worst = max(shares, key=lambda name: shares[name])
    examples = [
        example
        for one, of_one in zip(known, rows, strict=True)
        for row in of_one[:1]
        for example in _examples(one.results[folder.plan.labels], row, worst)[:1]
    ]
    kept = sum((one.kept_share for one in diagnosed), Fraction(0)) / len(diagnosed)
    sentence = (
        f"At {asked} words it keeps {float(kept):.0%} of OPT and loses most, "
        f"{float(shares[worst]):.0%}, to {worst}: {WHY[worst]}."
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
