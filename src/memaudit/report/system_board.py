"""Numbers of a board of memory systems: means, intervals, ranks, and what each system loses.

A mean is over conversations, of the mean over a system's runs, by the adjudicated labels. The
interval of a mean takes three doubts together. Each draw takes conversations with replacement, for
each of them one of the passes of labels (the same for all systems), and adds a deviation between
runs: of a system's conversations with several runs, r - mean scaled by sqrt(n / (n - 1)), over the
square root of the number of runs that the drawn conversation has.

A system is behind another if the paired differences by conversation are clear: the sign-flip test,
corrected by Holm over all pairs of a measure, and the interval of the difference both say so. Its
rank is 1 plus the number of systems that it is behind.
"""

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from memaudit.core.errors import MemAuditError
from memaudit.core.number_text import rounded, significant
from memaudit.core.objective import value as store_value
from memaudit.core.text import counted
from memaudit.formats.score_file import LOSS_STEPS
from memaudit.scoring.board_folder import BoardFolder, BoardSystem, Run, ScoredConversation, run_name
from memaudit.scoring.loss_diagnosis import Diagnosis
from memaudit.scoring.result import ScoreResult, StoreScore
from memaudit.stats.bootstrap import RESAMPLES, Floats, Interval, outer_percentiles
from memaudit.stats.paired_tests import holm, sign_flip_test

CLEAR = 0.05
EXAMPLES = 3
FEW = 10
"""With fewer conversations, intervals and tests are rough."""

MEASURES: dict[str, Callable[[StoreScore], Fraction | None]] = {
    "score": lambda row: row.numbers.kept.ratio.value,
    "best_subset": lambda row: row.numbers.best.ratio.value,
}

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
class Standing:
    """One system at one budget."""

    system: str
    score: Interval
    best_subset: Interval
    rank: int
    best_rank: int
    by_pass: dict[str, dict[str, float]]
    """By measure and pass, the mean."""
    between_runs: dict[str, float | None]
    """By measure, the largest difference between two runs on one conversation."""
    fits: int
    kept_by: tuple[str, ...]
    losses: dict[str, float]


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


@dataclass(frozen=True, slots=True)
class Optima:
    """The optima of a budget, over conversations, by the adjudicated labels."""

    budget: str
    share: float
    """Mean share of all weight."""
    lowest: float
    highest: float
    certified: int
    number: int
    survival: float | None
    """What optimal stores chosen under one pass are worth under another, over what they were
    worth where they were chosen; the mean over conversations and pairs of passes."""


@dataclass(frozen=True, slots=True)
class SystemBoard:
    """Everything that a board shows. Systems of a budget are ordered by rank, then by mean."""

    title: str
    digest: str
    conversations: tuple[str, ...]
    passes: tuple[str, ...]
    budgets: tuple[tuple[Optima, tuple[Standing, ...]], ...]
    rows: tuple[SystemRow, ...]
    largest_pass_shift: float
    """Largest distance between means under any two passes, over systems, budgets and measures."""
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    results: tuple[tuple[str, ScoreResult], ...]
    """By conversation, the scores by the adjudicated labels."""

    def row(self, system: str) -> SystemRow:
        return next(row for row in self.rows if row.system == system)

    @property
    def every_optimum_is_certified(self) -> bool:
        return all(optima.certified == optima.number for optima, _ in self.budgets)


def system_board(
    folder: BoardFolder, watch: Callable[[int, int], None] | None = None
) -> SystemBoard:
    """Score a board and sum it up."""
    scored = folder.scored(watch)
    known = [one for one in scored if len(one.results) == len(folder.passes)]
    if not known:
        reason = next((row.reason for one in scored for row in one.not_scored), "no labels")
        raise MemAuditError(f"{folder.folder}: no conversation could be scored: {reason}")
    budgets = []
    shift = 0.0
    for asked in folder.plan.budgets:
        optima = _optima(folder, known, asked)
        standings = _standings(folder, known, asked)
        for standing in standings:
            for means in standing.by_pass.values():
                shift = max(shift, max(means.values()) - min(means.values()))
        budgets.append((optima, standings))
    text = json.dumps(folder.digest_parts, sort_keys=True)
    middle = folder.plan.budgets[len(folder.plan.budgets) // 2]
    return SystemBoard(
        title=folder.plan.title,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        conversations=tuple(one.conversation for one in known),
        passes=folder.passes,
        budgets=tuple(budgets),
        rows=tuple(
            _row(folder, known, system, middle)
            for system in folder.systems
            if any(_rows(known, system, middle))
        ),
        largest_pass_shift=shift,
        notes=(*folder.plan.notes, *_few(len(known))),
        left_out=tuple(_left_out(scored, folder)),
        results=tuple((one.conversation, one.results[folder.plan.labels]) for one in known),
    )


def _few(conversations: int) -> list[str]:
    if conversations >= FEW:
        return []
    return [f"{counted(conversations, 'conversation')} only: intervals and ranks are rough"]


def _left_out(scored: Sequence[ScoredConversation], folder: BoardFolder) -> list[str]:
    """Conversations and stores without scores, with the reason."""
    lines = []
    for one in scored:
        if len(one.results) < len(folder.passes):
            reason = one.not_scored[0].reason if one.not_scored else "a pass has no labels for it"
            lines.append(f"{one.conversation}: {reason}")
        else:
            lines += [f"{row.store} on {row.package}: {row.reason}" for row in one.not_scored]
    return lines


def _runs_of(one: ScoredConversation, system: BoardSystem) -> list[Run]:
    return [run for run in system.runs if run.conversation == one.conversation]


def _rows(
    known: Sequence[ScoredConversation], system: BoardSystem, asked: str, labels: str | None = None
) -> list[list[StoreScore]]:
    """By conversation, the scores of the system's runs; by the first pass unless one is named."""
    table = []
    for one in known:
        result = next(iter(one.results.values())) if labels is None else one.results[labels]
        names = {run_name(run) for run in _runs_of(one, system)}
        table.append([row for row in result if row.store in names and row.asked == asked])
    return table


def _means(rows: Sequence[Sequence[StoreScore]], measure: str) -> Floats:
    """By conversation, the mean over runs; NaN where a system has none."""
    values = [
        [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        for of_one in rows
    ]
    return np.array([sum(one) / len(one) if one else math.nan for one in values])


def _deviations(rows: Sequence[Sequence[StoreScore]], measure: str) -> list[float]:
    """How far single runs are from their mean, as if the mean were known."""
    found = []
    for of_one in rows:
        values = [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        n = len(values)
        if n > 1:
            mean = sum(values) / n
            found += [(value - mean) * math.sqrt(n / (n - 1)) for value in values]
    return found


def _draws(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str,
    measure: str, seed: int,
) -> Floats:  # fmt: skip
    """Means of the system in every draw of conversations, passes and runs."""
    dice = np.random.default_rng(0)  # conversations and passes are drawn alike for all systems
    count = len(known)
    by_pass = np.array([
        _means(_rows(known, system, asked, name), measure) for name in folder.passes
    ])  # fmt: skip
    adjudicated = _rows(known, system, asked)
    chosen = dice.integers(0, count, size=(RESAMPLES, count))
    passes = dice.integers(0, len(folder.passes), size=(RESAMPLES, count))
    values = by_pass[passes, chosen]
    deviations = np.array(_deviations(adjudicated, measure))
    if len(deviations):
        of_runs = np.random.default_rng([seed, 1])
        number = np.array([max(1, len(rows)) for rows in adjudicated])
        values = values + of_runs.choice(deviations, size=values.shape) / np.sqrt(number[chosen])
    with np.errstate(invalid="ignore"):
        return np.nanmean(values, axis=1)


def _standings(
    folder: BoardFolder, known: Sequence[ScoredConversation], asked: str
) -> tuple[Standing, ...]:
    systems = [one for one in folder.systems if any(_rows(known, one, asked))]
    intervals: dict[str, list[Interval]] = {}
    ranks: dict[str, list[int]] = {}
    for measure in MEASURES:
        means = [_means(_rows(known, one, asked), measure) for one in systems]
        draws = [
            _draws(folder, known, one, asked, measure, seed) for seed, one in enumerate(systems)
        ]
        intervals[measure] = [
            Interval(
                int((~np.isnan(mean)).sum()), float(np.nanmean(mean)), *outer_percentiles(drawn)
            ).if_several
            for mean, drawn in zip(means, draws, strict=True)
        ]
        ranks[measure] = _ranks(means, draws)
    standings = [
        _standing(folder, known, one, asked, intervals["score"][at], intervals["best_subset"][at],
                  ranks["score"][at], ranks["best_subset"][at])
        for at, one in enumerate(systems)
    ]  # fmt: skip
    return tuple(sorted(standings, key=lambda one: (one.rank, -one.score.mean, one.system)))


def _ranks(means: Sequence[Floats], draws: Sequence[Floats]) -> list[int]:
    """1 plus the number of systems that are clearly ahead."""
    pairs = list(combinations(range(len(means)), 2))
    if not pairs:
        return [1] * len(means)
    gaps = np.stack([means[a] - means[b] for a, b in pairs], axis=1)
    tests = holm(sign_flip_test(np.where(np.isnan(gaps), 0.0, gaps)))
    behind = [0] * len(means)
    for (a, b), gap, p in zip(pairs, gaps.T, tests, strict=True):
        low, high = outer_percentiles(draws[a] - draws[b])
        if p < CLEAR and (low > 0 or high < 0):
            behind[b if np.nansum(gap) > 0 else a] += 1
    return [1 + number for number in behind]


def _standing(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str,
    score: Interval, best: Interval, rank: int, best_rank: int,
) -> Standing:  # fmt: skip
    rows = _rows(known, system, asked)
    flat = [row for of_one in rows for row in of_one]
    diagnosed = [row.diagnosis for row in flat if isinstance(row.diagnosis, Diagnosis)]
    return Standing(
        system=system.name,
        score=score,
        best_subset=best,
        rank=rank,
        best_rank=best_rank,
        by_pass={
            measure: {
                name: float(np.nanmean(_means(_rows(known, system, asked, name), measure)))
                for name in folder.passes
            }
            for measure in MEASURES
        },
        between_runs={measure: _between_runs(rows, measure) for measure in MEASURES},
        fits=sum(row.numbers.fits for row in flat),
        kept_by=tuple(sorted({row.kept_by for row in flat})),
        losses={
            step.name: sum(float(_share(one, step.name)) for one in diagnosed) / len(diagnosed)
            for step in (diagnosed[0].steps if diagnosed else ())
        },
    )


def _share(diagnosis: Diagnosis, name: str) -> Fraction:
    return next(step.share for step in diagnosis.steps if step.name == name)


def _between_runs(rows: Sequence[Sequence[StoreScore]], measure: str) -> float | None:
    spans = []
    for of_one in rows:
        values = [float(value) for row in of_one if (value := MEASURES[measure](row)) is not None]
        if len(values) > 1:
            spans.append(max(values) - min(values))
    return max(spans, default=None)


def _optima(folder: BoardFolder, known: Sequence[ScoredConversation], asked: str) -> Optima:
    shares, certified, survivals = [], 0, []
    for one in known:
        adjudicated = one.results[folder.plan.labels]
        optimum = next(row.optimum for row in adjudicated if row.asked == asked)
        weight = sum(adjudicated.package.weights.values(), Fraction(0))
        shares.append(float(optimum.value / weight) if weight else 0.0)
        certified += all(
            row.optimum.status == "certified"
            for result in one.results.values()
            for row in result
            if row.asked == asked
        )
        survivals += _survivals([one.results[name] for name in folder.plan.passes], asked)
    return Optima(
        asked, sum(shares) / len(shares), min(shares), max(shares), certified, len(known),
        sum(survivals) / len(survivals) if survivals else None,
    )  # fmt: skip


def _survivals(results: Sequence[ScoreResult], asked: str) -> list[float]:
    """For every ordered pair of passes, what an optimal store keeps of its value."""
    found = []
    for here in results:
        optimum = next(row.optimum for row in here if row.asked == asked)
        found += [
            float(store_value(there.union, optimum.store).low / optimum.value)
            for there in results
            if there is not here and optimum.value
        ]
    return found


WHY = {
    "generation": "other systems or the package say it in fewer words, and nothing it wrote could "
    "be shortened to that",
    "extraction": "it never wrote what the questions need",
    "cost": "it wrote what the questions need in memories too long for the budget",
    "selection": "the best choice of its own memories is worth far more than what is kept",
}


def _row(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> SystemRow:
    rows = _rows(known, system, asked)
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


def _mean(values: Any) -> float:
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
                f"{name.replace('_', ' ')} {settings[name]}" for name in SETTINGS if name in settings
            ),
        }
        for name, value in known.items():
            found.setdefault(name, {})[str(value) if value not in (None, "") else "not known"] = None
    return {name: "; ".join(values) for name, values in found.items()}


def _losses(
    folder: BoardFolder, known: Sequence[ScoredConversation], system: BoardSystem, asked: str
) -> tuple[str, tuple[LostExample, ...]]:
    """A sentence about the largest loss, with units that it cost."""
    rows = _rows(known, system, asked)
    diagnosed = [
        row.diagnosis for of_one in rows for row in of_one if isinstance(row.diagnosis, Diagnosis)
    ]
    if not diagnosed:
        return "No losses are known.", ()
    shares = {
        name: sum((_share(one, name) for one in diagnosed), Fraction(0)) / len(diagnosed)
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
            result.package.name, lost.text, best[2] if best else None, int(best[1]) if best else None
        ))  # fmt: skip
    return found


def board_data(board: SystemBoard) -> dict[str, Any]:
    """All numbers as JSON."""
    return {
        "format": "memaudit-system-board",
        "version": 1,
        "title": board.title,
        "digest": board.digest,
        "conversations": list(board.conversations),
        "passes": list(board.passes),
        "largest_pass_shift": rounded(board.largest_pass_shift),
        "optima": [
            {
                "budget": optima.budget,
                "share_of_weight": rounded(optima.share),
                "lowest": rounded(optima.lowest),
                "highest": rounded(optima.highest),
                "certified": optima.certified,
                "conversations": optima.number,
                "survival": rounded(optima.survival),
            }
            for optima, _ in board.budgets
        ],
        "standings": [
            {
                "budget": optima.budget,
                "system": one.system,
                "rank": one.rank,
                "score": one.score.to_json(),
                "best_subset_rank": one.best_rank,
                "best_subset": one.best_subset.to_json(),
                "by_pass": {
                    measure: {name: rounded(mean) for name, mean in means.items()}
                    for measure, means in one.by_pass.items()
                },
                "largest_difference_between_runs": {
                    measure: rounded(gap) for measure, gap in one.between_runs.items()
                },
                "fits": one.fits,
                "kept_by": list(one.kept_by),
                "losses": {name: rounded(share) for name, share in one.losses.items()},
            }
            for optima, standings in board.budgets
            for one in standings
        ],
        "systems": [
            {
                "system": row.system,
                "conversations": row.conversations,
                "runs": row.runs,
                "whole_store": rounded(row.whole_store),
                "words": rounded(row.words),
                "memories": rounded(row.memories),
                **row.provenance,
                "marks": list(row.marks),
                "notes": list(row.notes),
                "loses": row.loses,
                "examples": [
                    {"conversation": one.conversation, "unit": one.unit, "memory": one.memory,
                     "words": one.words}
                    for one in row.examples
                ],
            }
            for row in board.rows
        ],
        "notes": list(board.notes),
        "left_out": list(board.left_out),
    }  # fmt: skip


def quality(board: SystemBoard) -> list[str]:
    """What the optima rest on and how far labels move the means, in sentences."""
    lines = [
        f"{counted(len(board.conversations), 'conversation')}; {counted(len(board.passes) - 1, 'blind pass', 'blind passes')} "
        f"and adjudicated labels move a mean by at most {board.largest_pass_shift:.3f}"
    ]
    for optima, _ in board.budgets:
        lived = "" if optima.survival is None else (
            f"; chosen under one pass, they keep {optima.survival:.3f} of their value under the "
            "other"
        )
        lines.append(
            f"{optima.budget}: OPT is {optima.lowest:.2f} to {optima.highest:.2f} of all weight, "
            f"{optima.certified} of {optima.number} certified under every pass{lived}"
        )
    gaps = [
        gap
        for _, standings in board.budgets
        for one in standings
        for gap in one.between_runs.values()
        if gap is not None
    ]
    if gaps:
        lines.append(f"two runs of a system differ on a conversation by at most {max(gaps):.2f}")
    return lines


def size_text(row: SystemRow) -> str:
    """`50 memories, 1,800 words`, means over its stores."""
    return f"{significant(row.memories)} memories, {round(row.words):,} words"
