"""What a board says about a system whatever the budget: its stores, where they come from, how far
its labels can be trusted, and what it loses, with examples."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeVar

from memaudit.board.board import COMPLETE, LEAN, behind, ends
from memaudit.board.board_files import LabelledTexts
from memaudit.board.board_folder import BoardFolder, BoardSystem, Run, run_name
from memaudit.board.board_scores import ScoredConversation
from memaudit.board.label_controls import GOOD, control_agreement, read_controls
from memaudit.kernel.io.store_file import WRITTEN_AFTER, Memory
from memaudit.kernel.losses import KEPT, LOSS_STEPS, SHARES
from memaudit.kernel.number_text import fixed, percent, ratio, rounded
from memaudit.kernel.score.loss_diagnosis import Diagnosis
from memaudit.kernel.score.priced_store import WrittenMemory
from memaudit.kernel.score.pruning import default_policy
from memaudit.kernel.score.result import ScoreResult, StoreScore
from memaudit.kernel.score.truth import Falsehoods
from memaudit.kernel.score.verdict import Verdict
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.kernel.stats.bootstrap import Floats, Interval
from memaudit.kernel.words.text import counted, one_line
from memaudit.show.columns import Column

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

    def to_json(self) -> dict[str, object]:
        return {
            "conversation": self.conversation,
            "unit": self.unit,
            "share_of_opt": rounded(self.share),
            "memory": self.memory and self.memory.text,
            "in_part": self.in_part,
        }


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """One measure of one system, over conversations."""

    mean: Interval
    by_conversation: dict[str, float]
    """The mean over runs, where there is one."""
    by_pass: dict[str, float]
    between_runs: float | None
    """The largest difference between two runs on one conversation."""
    draws: Floats
    """The mean in every draw."""


@dataclass(frozen=True, slots=True)
class SystemRow:
    """What does not depend on the budget."""

    system: str
    conversations: int
    runs: int
    complete: Interval
    lean: Interval
    needed: float
    """The least cost of what all of it is worth, its mean."""
    cost: float
    memories: float
    falsehoods: Falsehoods | None
    """Over all runs; None where the board does not say what is false."""
    ahead: tuple[str, ...] | None
    """Systems that are clearly more complete; None if this one is not ranked."""
    lean_ahead: tuple[str, ...] | None
    """Of the systems that nobody leads clearly in complete, those that are clearly leaner."""
    by_pass: Mapping[str, Mapping[str, float]]
    """By measure and pass, the mean."""
    between_runs: Mapping[str, float | None]
    provenance: dict[str, str]
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    loses: str
    examples: tuple[LostExample, ...]

    @property
    def rank(self) -> int | None:
        """By complete."""
        return None if self.ahead is None else 1 + len(self.ahead)

    @property
    def times(self) -> float | None:
        """How many times the words that its value needs it spends: 1 over the mean of lean."""
        lean = self.lean.mean
        return None if math.isnan(lean) or not lean else 1 / lean


def system_columns(measure: str) -> list[Column[SystemRow]]:
    """What systems wrote: means over conversations."""
    return [
        Column(
            key="system",
            value=lambda row: row.system,
            header="System",
            short="system",
            is_store=True,
            words=True,
        ),
        Column(
            key="rank",
            value=lambda row: row.rank,
            header="rank",
            short="rank",
            under=lambda row: behind(row.ahead),
            about="1 plus the number of systems that are clearly more complete. Two systems of "
            "different rank may still not differ clearly.",
        ),
        Column(
            key=COMPLETE,
            value=lambda row: row.complete,
            header="complete",
            short="complete",
            show=lambda mean: ratio(mean.mean),
            under=lambda row: ends(row.complete),
            beside="95% interval",
            about="What the whole store says, of everything that could be said: its value over "
            "OPT of the common union without a budget.",
        ),
        Column(
            key=LEAN,
            value=lambda row: row.lean,
            header="lean",
            short="lean",
            show=lambda mean: ratio(mean.mean),
            under=lambda row: ends(row.lean),
            about=f"The {measure} that the same value needs, over those that the store spends. "
            "Read it beside complete: a store of one good sentence is lean.",
        ),
        Column(
            key="times",
            value=lambda row: row.times,
            header="times what it needs",
            short="times",
            show=lambda times: fixed(times, 1),
        ),
        Column(key="cost", value=lambda row: row.cost, header=measure, short=measure, show=_whole),
        Column(
            key="needed",
            value=lambda row: None if math.isnan(row.needed) else row.needed,
            header="needed",
            short="needed",
            show=_whole,
        ),
        Column(
            key="false",
            value=lambda row: row.falsehoods,
            header="false",
            short="false",
            about="Memories that say something that is not so, of all that were read; in part: "
            "one statement is wrong and another right. A count over all runs, without a rank.",
        ),
        Column(
            key="memories",
            value=lambda row: row.memories,
            header="memories",
            short="memories",
            show=_whole,
        ),
        Column(key="runs", value=lambda row: row.runs, header="runs", short="runs"),
        Column(key="conversations", value=lambda row: row.conversations),
        Column(key="leaner", value=lambda row: row.lean_ahead),
        Column(key="by_pass", value=lambda row: row.by_pass),
        Column(key="largest_difference_between_runs", value=lambda row: row.between_runs),
        Column(key="origin", value=lambda row: row.provenance),
        Column(key="marks", value=lambda row: row.marks),
        Column(key="notes", value=lambda row: row.notes),
        Column(key="loses", value=lambda row: row.loses),
        Column(key="examples", value=lambda row: row.examples),
    ]


def _whole(number: float) -> str:
    return f"{round(number):,}"


def scores_of_runs(
    talks: Sequence[ScoredConversation], system: BoardSystem, budget: str, labels: str
) -> list[list[StoreScore]]:
    """By conversation, the scores of the system's runs by one pass of labels."""
    table = []
    for talk in talks:
        names = {run_name(run) for run in system.runs if run.conversation == talk.conversation}
        scores = talk.results[labels]
        table.append([row for row in scores if row.store in names and row.asked == budget])
    return table


def verdicts_of_runs(
    talks: Sequence[ScoredConversation], system: BoardSystem, labels: str
) -> list[list[Verdict]]:
    """By conversation, the verdicts on the system's runs by one pass of labels."""
    return [
        [verdict for verdict in talk.results[labels].verdicts if verdict.store in names]
        for talk in talks
        for names in [
            {run_name(run) for run in system.runs if run.conversation == talk.conversation}
        ]
    ]


Row = TypeVar("Row")
Measure = Callable[[Row], Fraction | float | None]


def run_values(runs: Sequence[Row], measure: Measure[Row]) -> list[float]:
    """A measure of the runs on one conversation, where it is defined."""
    return [float(value) for row in runs if (value := measure(row)) is not None]


def mean_of(values: Iterable[Sequence[float]]) -> float:
    """The mean over conversations of the mean over runs, where there are any."""
    means = [sum(own) / len(own) for own in values if own]
    return sum(means) / len(means) if means else math.nan


def mean_over(rows: Sequence[Sequence[Row]], measure: Measure[Row]) -> float:
    """The mean of a measure where it is defined."""
    return mean_of(run_values(runs, measure) for runs in rows)


def measure_name(folder: BoardFolder) -> str:
    """What costs are counted in."""
    rules = {package.cost_rule for package in folder.packages}
    return next(iter(rules)) if rules in ({"words"}, {"bytes"}) else "units of cost"


def budget_name(folder: BoardFolder, asked: str) -> str:
    """`250 words`, or a share of the conversation as it is."""
    return asked if asked.endswith("%") else f"{asked} {measure_name(folder)}"


def loss_shares(rows: Sequence[Sequence[StoreScore]]) -> dict[str, float] | None:
    """The mean share of OPT that is kept, and that is lost at each step; None if none is known."""
    shares = {name: mean_over(rows, partial(_share, name)) for name in SHARES}
    return None if math.isnan(shares[KEPT.name]) else shares


def _share(name: str, row: StoreScore) -> Fraction | None:
    if not isinstance(row.diagnosis, Diagnosis):
        return None
    if name == KEPT.name:
        return row.diagnosis.kept_share
    return next(step.share for step in row.diagnosis.steps if step.name == name)


@dataclass(frozen=True, slots=True)
class WholeStores:
    """How complete and lean the stores of a system are, and who is clearly ahead of it."""

    measures: Mapping[str, MeasureSummary]
    ahead: tuple[str, ...] | None
    lean_ahead: tuple[str, ...] | None


def system_row(
    folder: BoardFolder,
    talks: Sequence[ScoredConversation],
    system: BoardSystem,
    budget: str,
    whole: WholeStores,
) -> SystemRow:
    rows = scores_of_runs(talks, system, budget, folder.plan.labels)
    verdicts = verdicts_of_runs(talks, system, folder.plan.labels)
    loses, examples = _losses(folder, talks, rows, budget)
    labels = label_quality(folder, talks, system)
    return SystemRow(
        system=system.name,
        conversations=sum(bool(runs) for runs in rows),
        runs=sum(len(runs) for runs in rows),
        complete=whole.measures[COMPLETE].mean,
        lean=whole.measures[LEAN].mean,
        needed=mean_over(verdicts, _needed),
        falsehoods=_falsehoods(verdict for runs in verdicts for verdict in runs),
        ahead=whole.ahead,
        lean_ahead=whole.lean_ahead,
        by_pass={name: of.by_pass for name, of in whole.measures.items()},
        between_runs={name: of.between_runs for name, of in whole.measures.items()},
        cost=mean_over(rows, lambda row: float(row.numbers.written.cost)),
        memories=mean_over(rows, lambda row: row.numbers.memories),
        provenance={**_provenance(system), "labels": labels.text},
        marks=(*_marks(talks, system, rows), *labels.marks),
        notes=tuple(system.notes.notes),
        loses=loses,
        examples=examples,
    )


def _needed(verdict: Verdict) -> Fraction | None:
    return None if verdict.least is None else verdict.least.exact


def _falsehoods(verdicts: Iterable[Verdict]) -> Falsehoods | None:
    """Those of all runs together."""
    every = [verdict.falsehoods for verdict in verdicts if verdict.falsehoods is not None]
    if not every:
        return None
    return Falsehoods(
        every[0].source,
        tuple(id for own in every for id in own.false),
        tuple(id for own in every for id in own.in_part),
        sum(own.read for own in every),
        sum(own.memories for own in every),
    )


def _marks(
    talks: Sequence[ScoredConversation], system: BoardSystem, rows: Sequence[Sequence[StoreScore]]
) -> Iterator[str]:
    """Why the stores of a row are not like the others."""
    if not all(rows):
        number = sum(bool(runs) for runs in rows)
        yield f"on {number} of {len(talks)} conversations, so not ranked"
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
        for talk in talks
        for store in next(iter(talk.results.values())).stores
        if (talk.conversation, store.name) in names
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
    values: dict[str, dict[str, None]] = {}
    for run in system.runs:
        origin, settings = run.store.origin, run.store.origin.configuration
        versions = [
            f"{name} {version}" for name, version in origin.versions.items() if name != "python"
        ]
        said = {
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
        for name, value in said.items():
            told = stated.get(name) or "not known"
            values.setdefault(name, {})[str(value) if value not in (None, "") else told] = None
    return {name: "; ".join(each) for name, each in values.items()}


def _losses(
    folder: BoardFolder,
    talks: Sequence[ScoredConversation],
    rows: Sequence[Sequence[StoreScore]],
    budget: str,
) -> tuple[str, tuple[LostExample, ...]]:
    """A sentence about the largest loss, with units that it cost."""
    shares = loss_shares(rows)
    if shares is None:
        return "No losses are known.", ()
    kept = mean_over(rows, lambda row: row.numbers.kept.ratio.value)
    at = f"At {budget_name(folder, budget)} it keeps {percent(kept)} of OPT"
    worst = max(LOSS_STEPS, key=lambda name: shares[name])
    if shares[worst] < NOTHING:
        return f"{at} and loses nothing.", ()
    examples = [
        example
        for talk, runs in zip(talks, rows, strict=True)
        for row in runs[:1]
        for example in _examples(talk.results[folder.plan.labels], row, worst)[:1]
    ]
    examples.sort(key=lambda example: -example.share)
    sentence = (
        f"{at} and loses most, {percent(shares[worst])}, to {worst}: {LOSS_STEPS[worst].reason}."
    )
    return sentence, tuple(examples[:EXAMPLES])


def _examples(result: ScoreResult, row: StoreScore, step: str) -> list[LostExample]:
    """Units that the store lost at a step, the heaviest first, with the memory that says each."""
    (store,) = (store for store in result.stores if store.name == row.store)
    examples = []
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
        examples.append(LostExample(result.package.name, lost.text, share, best, -1 < minus < 0))
    return examples


Pairs = Counter[tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class PassAgreement:
    """How far two blind passes agree on what systems wrote."""

    pairs: int
    differ: int
    kappa: float | None
    """Over all conversations; None where it is undefined."""
    by_conversation: tuple[float, ...]
    """Kappa, where it is defined."""


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """Where the labels of a system come from, in words, and why they are not like the others."""

    text: str
    marks: tuple[str, ...]


def pass_agreement(
    folder: BoardFolder,
    talks: Sequence[ScoredConversation],
    systems: Collection[BoardSystem],
    texts: LabelledTexts | None = None,
) -> PassAgreement | None:
    """Of the first two passes, over the memories of systems that were labelled twice; with `texts`,
    only over these."""
    passes = folder.plan.passes[:2]
    twice = [system for system in systems if not folder.labelled_once(system)]
    if len(passes) < 2 or not twice:
        return None
    stores = {run_name(run) for system in twice for run in system.runs}
    every: Pairs = Counter()
    kappas = []
    for talk in talks:
        first, second = (_coverage(talk.results[name], stores) for name in passes)
        pairs = Counter(
            (first[text].get(unit.id, Fraction(0)), second[text].get(unit.id, Fraction(0)))
            for text in first
            if texts is None or one_line(text) in texts.get(talk.conversation, {})
            for unit in talk.results[passes[0]].package.units
        )
        every += pairs
        if (kappa := kappa_of_pairs(pairs)) is not None:
            kappas.append(float(kappa))
    kappa = kappa_of_pairs(every)
    return PassAgreement(
        pairs=every.total(),
        differ=sum(number for (a, b), number in every.items() if a != b),
        kappa=None if kappa is None else float(kappa),
        by_conversation=tuple(kappas),
    )


def _coverage(result: ScoreResult, stores: Collection[str]) -> dict[str, dict[str, Fraction]]:
    """By distinct text of a memory in these stores, what it covers."""
    return {
        memory.text: {unit: cell.value for unit, cell in memory.coverage.items()}
        for store in result.stores
        if store.name in stores
        for memory in store.memories
    }


def label_quality(
    folder: BoardFolder, talks: Sequence[ScoredConversation], system: BoardSystem
) -> LabelQuality:
    """What is known of a system's labels."""
    said, marks = [], []
    own = folder.labelled_by_system[system.name] if system.own_labels else None
    if folder.labelled_once(system):
        said.append("one pass")
        marks.append("labelled once: its labels are the same in every pass")
    elif (agreement := pass_agreement(folder, talks, [system], own)) is not None:
        kappa = agreement.kappa
        said.append("two passes, kappa " + ("undefined" if kappa is None else f"{kappa:.2f}"))
        if kappa is not None and kappa < GOOD:
            marks.append(f"two passes of its labels agree little: kappa {kappa:.2f}")
    if not system.own_labels:
        return LabelQuality("; ".join(["the board's", *said]), tuple(marks))
    if system.notes.blind:
        said.append("blind according to its row.json")
    elif system.notes.blind is False:
        marks.append("labelled by readers who knew the system")
    else:
        marks.append("its row.json does not say that its labels are blind")
    if controls := read_controls(folder, system):
        with_board = control_agreement(folder, controls)
        said.append(with_board.text)
        if not with_board.is_at_least(GOOD):
            marks.append(f"its readers do not label as the board's do: {with_board.text}")
    else:
        marks.append("no controls: not known whether its readers label as the board's do")
    return LabelQuality("; ".join(["its own", *said]), tuple(marks))
