"""The audit of ratios: stores fixed once, then scored under every label set, draw and bound."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import Case, Labels, changes, check_names, own_values
from memaudit.label_audit.cells import Frame
from memaudit.label_audit.doubtful_cells import Doubts, doubts
from memaudit.label_audit.fixed_stores import At, Kept, Writing, entries, kept
from memaudit.label_audit.label_box import Box, Inside, box_of
from memaudit.label_audit.label_confusion import Confusion
from memaudit.label_audit.moving_units import Moved, alone, by_size, moved
from memaudit.label_audit.raters import PACKAGE
from memaudit.label_audit.ratio_bounds import Bounds, bounds
from memaudit.label_audit.readings import Reading, check_readings, consensus, own_reading
from memaudit.label_audit.relabelled_optima import Change, Measured, measure, tasks


@dataclass(frozen=True, slots=True)
class WithinTask:
    """A package, its stores, what was solved before, and the labellings of single units."""

    package: Package
    box: Box
    kept: Kept
    budgets: tuple[Fraction, ...]
    known: tuple[tuple[Change, Measured], ...]
    units: tuple[Change, ...]
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Within:
    """The bounds, or why there are none, and the measurements of single units' labels."""

    bounds: Mapping[At, Bounds | str]
    units: Mapping[Change, Measured]


def within(task: WithinTask) -> Within:
    """Both ends of the box come first: they decide most of what is between them."""
    inside = Inside(task.package, task.box, task.seconds)
    for change, found in task.known:
        inside.learn(dict(change), found)
    for budget in task.budgets:
        for end in (task.box.high, task.box.low):
            inside.optimum(end, budget)
    stores = task.kept.stores
    return Within(
        {at: bounds(inside, store, at[1]) for at, store in stores.items()},
        {change: inside.measured(dict(change), task.kept, task.budgets) for change in task.units},
    )


Task = TypeVar("Task")
Result = TypeVar("Result")
WRITING, LABELS, BOUNDS, DRAWS = "stores", "label sets", "bounds", "draws"
"""The steps, in order."""

DRAWN = 100
"""Draws of labels unless asked otherwise: enough for the middle 95 % of them."""

Progress = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and how much there is."""


class Run(Protocol):
    """Runs a function over tasks, side by side or not; results come in the order of the tasks."""

    def __call__(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], /
    ) -> Iterator[Result]: ...


@dataclass(frozen=True, slots=True)
class Question:
    """What to score, under which labels, and how often labels are drawn from which confusion.

    `frame` is the one that label sets are about, where they are about one: with its key, cells that
    it stands for are doubted too.
    """

    cases: tuple[Case, ...]
    readings: tuple[Reading, ...]
    budgets: tuple[Fraction, ...]
    writers: tuple[str, ...]
    draws: int = DRAWN
    seed: int = 0
    seconds: float | None = None
    frame: Frame | None = None
    confusion: Confusion = "package"


@dataclass(frozen=True, slots=True)
class Answer:
    """All that was measured. Lists of packages are in the order of the question's cases.

    `readings` holds the consensus too where there are several annotators; `sets` begins with the
    package's own labels.
    """

    question: Question
    entries: tuple[str, ...]
    readings: tuple[Reading, ...]
    own: Reading
    kept: list[Kept]
    sets: Mapping[str, list[Measured]]
    changed: Mapping[str, list[Change]]
    contradicting: int
    moved: Mapping[str, list[Moved]]
    doubts: Doubts
    draws: list[list[Measured]]
    boxes: list[Box]
    bounds: list[Mapping[At, Bounds | str]]


def audit_ratios(question: Question, run: Run, progress: Progress) -> Answer:
    """Everything the tables are made of."""
    cases = question.cases
    _check(question)
    own = own_reading(cases, question.readings)
    agreed = consensus(question.readings)
    readings = (*question.readings, *([agreed] if agreed is not None else []))
    doubted = doubts(cases, question.readings, own, question.frame, question.confusion)
    names = entries(cases, question.writers)
    stores = _kept(question, run, progress)

    changed: dict[str, list[Change]] = {PACKAGE: [() for _ in cases]}
    contradicting = 0
    spreads: list[list[Labels]] = [[] for _ in cases]
    values = [own_values(case.scored) for case in cases]
    for reading in readings:
        changed[reading.name] = []
        for place, case in enumerate(cases):
            spread = case.spread(reading.labels.get(case.name, {}))
            contradicting += spread.contradicting
            spreads[place].append(spread.labels)
            changed[reading.name].append(tuple(changes(values[place], spread.labels).items()))
    boxes = [box_of(spreads[place], values[place]) for place in range(len(cases))]

    wanted = [_distinct(found[place] for found in changed.values()) for place in range(len(cases))]
    measured = _measured(question, stores, wanted, run, progress, LABELS)
    inside = _within(question, boxes, stores, measured, changed, run, progress)
    return Answer(
        question=question,
        entries=names,
        readings=readings,
        own=own,
        kept=stores,
        sets={
            name: [measured[place][change] for place, change in enumerate(found)]
            for name, found in changed.items()
        },
        changed=changed,
        contradicting=contradicting,
        moved={
            one.name: _moved(question, values, changed[one.name], measured, inside)
            for one in readings
        },
        doubts=doubted,
        draws=_drawn(question, doubted, stores, values, measured, run, progress),
        boxes=boxes,
        bounds=[one.bounds for one in inside],
    )


def _check(question: Question) -> None:
    if not question.cases:
        raise MemAuditError("no packages to audit")
    if question.draws < 0:
        raise MemAuditError(f"--draws {question.draws} makes no sense; use 0 or more")
    check_names(question.cases)
    check_readings(question.readings)


def _kept(question: Question, run: Run, progress: Progress) -> list[Kept]:
    work = [
        Writing(case, question.writers, question.budgets, question.seed, question.seconds)
        for case in question.cases
    ]
    return list(_counted(run(kept, work), WRITING, len(work), progress))


def _measured(
    question: Question, stores: Sequence[Kept], wanted: Sequence[Sequence[Change]], run: Run,
    progress: Progress, step: str,
) -> list[dict[Change, Measured]]:  # fmt: skip
    """Every wanted labelling of every package."""
    work = [
        (place, task)
        for place, case in enumerate(question.cases)
        for task in tasks(
            case.scored, stores[place], question.budgets, wanted[place], step, question.seconds
        )
    ]
    found: list[dict[Change, Measured]] = [{} for _ in question.cases]
    done, total = 0, sum(len(task.labellings) for _, task in work)
    progress(step, 0, total)
    results = run(measure, [task for _, task in work])
    for (place, task), result in zip(work, results, strict=True):
        found[place].update(zip(task.labellings, result, strict=True))
        done += len(result)
        progress(step, done, total)
    return found


def _drawn(
    question: Question, doubted: Doubts, stores: Sequence[Kept], values: Sequence[Labels],
    known: Sequence[Mapping[Change, Measured]], run: Run, progress: Progress,
) -> list[list[Measured]]:  # fmt: skip
    """Every draw of labels for every package; what was measured before is not measured again."""
    rolled: list[list[Change]] = [[] for _ in question.cases]
    for place, case in enumerate(question.cases):
        for draw in range(question.draws):
            labels = case.spread(doubted.labels(place, question.seed, draw)).labels
            rolled[place].append(tuple(changes(values[place], labels).items()))
    wanted = [
        [change for change in _distinct(rolled[place]) if change not in known[place]]
        for place in range(len(rolled))
    ]
    found = _measured(question, stores, wanted, run, progress, DRAWS)
    return [
        [
            known[place].get(changes_of[draw]) or found[place][changes_of[draw]]
            for place, changes_of in enumerate(rolled)
        ]
        for draw in range(question.draws)
    ]


def _within(
    question: Question, boxes: Sequence[Box], stores: Sequence[Kept],
    known: Sequence[Mapping[Change, Measured]], changed: Mapping[str, Sequence[Change]], run: Run,
    progress: Progress,
) -> list[Within]:  # fmt: skip
    """Bounds, and labels of single units, of every package."""
    work = [
        WithinTask(
            case.scored,
            boxes[place],
            stores[place],
            question.budgets,
            tuple(known[place].items()),
            tuple(
                _distinct(
                    change
                    for found in changed.values()
                    for change in alone(case.scored, found[place]).values()
                )
            ),
            question.seconds,
        )
        for place, case in enumerate(question.cases)
    ]
    return list(_counted(run(within, work), BOUNDS, len(work), progress))


def _moved(
    question: Question, values: Sequence[Labels], changed: Sequence[Change],
    known: Sequence[Mapping[Change, Measured]], inside: Sequence[Within],
) -> list[Moved]:  # fmt: skip
    """The units of a label set, those that move ratios most first."""
    return by_size(
        [
            moved(case, values[place], unit, change, known[place][()], inside[place].units[change])
            for place, case in enumerate(question.cases)
            for unit, change in alone(case.scored, changed[place]).items()
        ]
    )


def _counted(
    results: Iterator[Result], step: str, total: int, progress: Progress
) -> Iterator[Result]:
    progress(step, 0, total)
    for done, result in enumerate(results, 1):
        progress(step, done, total)
        yield result


def _distinct(found: Iterable[Change]) -> list[Change]:
    return list(dict.fromkeys(found))
