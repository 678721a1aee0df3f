"""Package-style writing against three stores of raw turns, on annotated conversations."""

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import SUPERSESSION, Package
from memaudit.downstream.holding import Holding
from memaudit.downstream.run import Plan as ExecutePlan
from memaudit.downstream.run import Progress, Run, Work, execute
from memaudit.downstream.spec import Setup, reading_of
from memaudit.downstream.stores import candidate_holding, writer_holding
from memaudit.experiments.spec import absolute, is_fraction, parse_budgets
from memaudit.natural.annotations import build
from memaudit.natural.build_plan import Job, Plan, plan
from memaudit.writers.protocol import VisibleCandidate, Writer, visible
from memaudit.writers.raw_turns import ReservoirRaw
from memaudit.writers.run_writer import writer_seed

RAW = "raw"

Keep = Callable[[Package, Fraction, int], list[str]]


def raw_holding(name: str, package: Package, budget: Fraction, seed: int) -> Holding:
    """What a raw store of that name holds for a package."""
    about, keep = RAW_STORES[name]
    written = tuple(turn.id for turn in _turns(package))
    whole = candidate_holding(package, name, written, about)
    kept = frozenset(keep(package, budget, writer_seed(seed, digest(package))))
    return Holding(name, whole.written, kept, about)


def raw_words(package: Package) -> Fraction:
    """What keeping every turn costs."""
    return sum((turn.cost for turn in _turns(package)), Fraction(0))


def _turns(package: Package) -> list[VisibleCandidate]:
    """The raw candidates in order of arrival."""
    return [one for one in visible(package).candidates if one.kind == RAW]


def _everything(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    return [turn.id for turn in _turns(package)]


def _replay(package: Package, budget: Fraction, seed: int) -> list[str]:
    """Turns in a random order, each kept if it still fits."""
    return list(ReservoirRaw().write(visible(package), budget, seed))


def _fifo(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    """A queue: a new turn pushes the oldest out until it fits; one too long is not let in."""
    queue: deque[VisibleCandidate] = deque()
    left = budget
    for turn in _turns(package):
        if turn.cost > budget:
            continue
        while turn.cost > left:
            left += queue.popleft().cost
        queue.append(turn)
        left -= turn.cost
    return [turn.id for turn in queue]


RAW_STORES: dict[str, tuple[str, Keep]] = {
    "full_raw": ("every turn, whatever it costs", _everything),
    "raw_replay": ("turns in a seeded random order, what fits the budget", _replay),
    "fifo": ("first in, first out: the newest turns within the budget", _fifo),
}
"""Raw stores by name: how each is kept, and the rule."""


@dataclass(frozen=True)
class Records:
    """The records of a file, without holding more than one of them."""

    plan: Plan

    @cached_property
    def questions(self) -> dict[str, tuple[str, ...]]:
        """By record, the ids of its questions, in the order of the file."""
        return {
            one.conversation.id: tuple(question.id for question in one.conversation.questions)
            for one in self.plan.loaded()
        }

    @property
    def asked(self) -> dict[str, tuple[str, ...]]:
        """The records that ask anything."""
        return {name: ids for name, ids in self.questions.items() if ids}

    @property
    def left_out(self) -> dict[str, str]:
        """The records that ask nothing, and that this is why."""
        return {
            name: f"{name!r} has no question" for name, ids in self.questions.items() if not ids
        }

    def packages(self, names: set[str]) -> Iterator[Package]:
        """The packages of these records, as labels alone say what is required."""
        for one in self.plan.loaded():
            if one.conversation.id in names:
                yield labelled(build(one, self.plan.recipe).package)

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the packages."""
        job = self.plan.job
        return {
            "file": job.path.name,
            "sha256": self.plan.sha256,
            "format": self.plan.recipe.format,
            "cost_rule": self.plan.recipe.cost_rule,
            "subset": self.plan.subset.sha256 if self.plan.subset else None,
            "records": hashlib.sha256(repr(list(self.questions)).encode()).hexdigest(),
        }


def open_records(
    path: Path,
    format: str | None = None,
    subset: Path | None = None,
    conversations: tuple[str, ...] = (),
    cost_rule: str = "words",
) -> Records:
    """The records of a file; one that asks nothing at all is an error."""
    found = Records(plan(Job(path, format, subset, conversations, cost_rule)))
    if not found.asked:
        raise MemAuditError(f"{path.name}: has no question, so there is nothing to compare")
    return found


def labelled(package: Package) -> Package:
    """The package with queries that require labelled turns only.

    A build adds that an update ended the value before. No label says so, and hardly any raw turn
    does: requiring it would make raw stores fail by construction.
    """
    made = {unit.id for unit in package.units if unit.kind == SUPERSESSION}
    return package.replace(
        queries=tuple(
            query.model_copy(
                update={"required": tuple(id for id in query.required if id not in made)}
            )
            for query in package.queries
        )
    )


NOTE = (
    "a transfer diagnostic, never a ratio to an optimum: conversations have no finite set of "
    "candidates with exact coverage"
)
EVIDENCE = (
    "evidence is whole labelled turns: a piece of one covers a part of it, which evidence recall "
    "does not count and evidence coverage does"
)
OWN_WORDS = "of the words of a record's own turns"


@dataclass(frozen=True, slots=True)
class Compared:
    """Which stores, and how much they may keep."""

    writers: Sequence[Writer]
    budget: str
    """A cost, or a share of what all turns of a record cost."""
    seed: int = 0

    def __post_init__(self) -> None:
        if len(parse_budgets(self.budget)) != 1:
            raise MemAuditError("a transfer has one budget; run it once for each")
        names = [writer.name for writer in self.writers]
        if not names:
            raise MemAuditError("there is no package-style store; give a --writer")
        if len(set(names)) < len(names):
            raise MemAuditError("a writer is given twice; give each once")

    @property
    def stores(self) -> list[str]:
        """The names of the stores: package style first."""
        return [*(writer.name for writer in self.writers), *RAW_STORES]

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the holdings of a package."""
        share = f" {OWN_WORDS}" if is_fraction(self.budget) else ""
        return {
            "note": NOTE,
            "evidence": EVIDENCE,
            "budget": f"{self.budget}{share}",
            "about_stores": {
                **{writer.name: f"package style: {writer.about}" for writer in self.writers},
                **{name: about for name, (about, _) in RAW_STORES.items()},
            },
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
        }

    def holdings(self, package: Package) -> Iterator[Holding]:
        """What every store holds for a package."""
        budget = absolute(self.budget, raw_words(package))
        for writer in self.writers:
            yield writer_holding(package, writer, budget, self.seed)
        for name in RAW_STORES:
            yield raw_holding(name, package, budget, self.seed)


def transfer(
    records: Records,
    compared: Compared,
    setup: Setup,
    folder: Path,
    progress: Progress | None = None,
) -> Run:
    """All rows of all records, or those that are missing, and the summary."""
    asked = records.asked
    keys = [
        (name, store, question)
        for name, questions in asked.items()
        for store in compared.stores
        for question in questions
    ]
    spec = {
        **compared.settings,
        "source": records.identity,
        "left_out": records.left_out,
        "stores": compared.stores,
        **reading_of(setup),
    }
    plan = ExecutePlan(spec, keys, lambda found: _left(records, compared, asked, found))
    return execute(plan, setup, folder, progress)


def _left(
    records: Records, compared: Compared, asked: dict[str, tuple[str, ...]], found: int
) -> Iterator[Work]:
    """Packages and holdings with rows to come; records that are done are not built again."""
    there: dict[str, int] = {}
    for name, questions in asked.items():
        there[name] = min(found, len(questions) * len(compared.stores))
        found -= there[name]
    missing = {
        name for name, rows in there.items() if rows < len(asked[name]) * len(compared.stores)
    }
    for package in records.packages(missing):
        rows = there[package.name]
        for holding in compared.holdings(package):
            done = min(rows, len(package.queries))
            rows -= done
            if done < len(package.queries):
                yield package, holding, done
