"""Pass d: how much of each unit a memory preserves. Pass f judges a sample again.

The judge gets texts and nothing else: no ids, kinds, writers, questions or answers. Equal texts get
equal cells, whoever wrote them, so package candidates and exported memories have the same judge.

Memories and units are ordered by the SHA-256 of their text, which says nothing about their origin.
A request holds eight units and as many memories as fit into 96 pairs, 32 memories and 24,000
characters. All pairs are asked: a memory of one session can preserve what another session says, so
leaving such pairs out would make silent zeros.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from pydantic import model_validator

from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.coverage_rules import FULL, NONE, PARTIAL
from memaudit.natural.prompts import pass_request

MAX_PAIRS, MAX_MEMORIES, MAX_UNITS = 96, 32, 8
MAX_CHARACTERS = 24_000

TextPair = tuple[str, str]
"""The text of a memory and the text of a unit."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One request's pairs; numbers count from 1 in the order of the lists."""

    memories: tuple[str, ...]
    units: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    def pair(self, numbers: tuple[int, int]) -> TextPair:
        return self.memories[numbers[0] - 1], self.units[numbers[1] - 1]


def rank(text: str) -> str:
    """The sort key of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shuffled(texts: Iterable[str]) -> list[str]:
    """Distinct texts ordered by rank."""
    return sorted(set(texts), key=rank)


def chunks(pairs: Iterable[TextPair], most_memories: int = MAX_MEMORIES) -> Iterator[Chunk]:
    """All pairs, each in one chunk."""
    wanted = set(pairs)
    memory_place, unit_place = (
        {text: place for place, text in enumerate(shuffled(pair[side] for pair in wanted))}
        for side in (0, 1)
    )
    ordered = sorted(
        wanted,
        key=lambda pair: (
            unit_place[pair[1]] // MAX_UNITS,
            memory_place[pair[0]],
            unit_place[pair[1]],
        ),
    )
    together: list[TextPair] = []
    memories: set[str] = set()
    units: set[str] = set()
    for memory, unit in ordered:
        memories.add(memory)
        units.add(unit)
        length = sum(map(len, memories)) + sum(map(len, units))
        full = len(memories) > most_memories or len(units) > MAX_UNITS or length > MAX_CHARACTERS
        if together and (full or len(together) == MAX_PAIRS):
            yield _chunk(together, memory_place, unit_place)
            together, memories, units = [], {memory}, {unit}
        together.append((memory, unit))
    if together:
        yield _chunk(together, memory_place, unit_place)


def _chunk(
    pairs: Sequence[TextPair], memory_place: dict[str, int], unit_place: dict[str, int]
) -> Chunk:
    memories = sorted({memory for memory, _ in pairs}, key=memory_place.__getitem__)
    units = sorted({unit for _, unit in pairs}, key=unit_place.__getitem__)
    numbers = {(memories.index(memory) + 1, units.index(unit) + 1) for memory, unit in pairs}
    return Chunk(tuple(memories), tuple(units), tuple(sorted(numbers)))


STAGE = "coverage"
Label = Literal["full", "partial", "none"]
VALUES: dict[Label, Fraction] = {"full": FULL, "partial": PARTIAL, "none": NONE}


# The names and docstrings of reply types are part of every request's hash.
class CellRow(StrictRow):
    """One cell of a reply."""

    memory: int
    unit: int
    label: Label
    reason: str


class CoverageReply(StrictRow):
    """The reply of this pass."""

    cells: list[CellRow]

    @model_validator(mode="after")
    def _once_each(self) -> "CoverageReply":
        if len({(row.memory, row.unit) for row in self.cells}) < len(self.cells):
            raise ValueError("a pair of memory and unit appears twice")
        return self


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """What the judge says about a memory and a unit."""

    label: Label
    reason: str

    @property
    def value(self) -> Fraction:
        return VALUES[self.label]


JudgedCells = dict[TextPair, JudgedCell | None]
"""By the texts of memory and unit. None means no answer, which is not a zero."""


def judge_coverage(
    memories: Sequence[str],
    units: Sequence[str],
    session: ModelSession,
    model: str,
    owner: str = "",
) -> JudgedCells:
    """A cell for every pair of a memory's text and a unit's text."""
    pairs = {(memory, unit) for memory in memories for unit in units}
    return judge_pairs({owner: pairs}, session, model)[owner]


def judge_pairs(
    wanted: dict[str, set[TextPair]], session: ModelSession, model: str, stage: str = STAGE
) -> dict[str, JudgedCells]:
    """Cells for pairs of several conversations. Missing cells are asked about once more.

    The second request holds one memory, so that a memory that spoils a reply spoils no other.
    """
    cells: dict[str, JudgedCells] = {
        owner: dict.fromkeys(sorted(wanted[owner])) for owner in wanted
    }
    work = [(owner, chunk) for owner, pairs in wanted.items() for chunk in chunks(pairs)]
    _ask(work, cells, session, model, stage, second=False)
    work = [(owner, chunk) for owner in wanted for chunk in chunks(_missing(cells[owner]), 1)]
    _ask(work, cells, session, model, stage, second=True)
    for owner, judged in cells.items():
        for memory, unit in _missing(judged):
            session.ledger.refuse(owner, stage, "undecided cell", f"{memory!r} for {unit!r}")
    return cells


def _missing(cells: JudgedCells) -> list[TextPair]:
    return [pair for pair, cell in cells.items() if cell is None]


def _ask(
    work: Sequence[tuple[str, Chunk]],
    cells: dict[str, JudgedCells],
    session: ModelSession,
    model: str,
    stage: str,
    second: bool,
) -> None:
    requests = [(owner, coverage_request(chunk, model, session, second)) for owner, chunk in work]
    replies = session.ask(f"{stage} again" if second else stage, requests, CoverageReply)
    for (owner, chunk), reply in zip(work, replies, strict=True):
        asked = set(chunk.pairs)
        for row in [] if reply is None else reply.cells:
            if (row.memory, row.unit) in asked:
                cells[owner][chunk.pair((row.memory, row.unit))] = JudgedCell(row.label, row.reason)
            else:
                words = f"memory {row.memory}, unit {row.unit}: {row.label}"
                session.ledger.refuse(owner, stage, "cell nobody asked for", words)


def coverage_request(
    chunk: Chunk, model: str, session: ModelSession, second: bool = False
) -> Request:
    blocks: dict[str, Quotable] = {
        "memories": _numbered("memory", chunk.memories),
        "units": _numbered("unit", chunk.units),
        "pairs": [
            {"memory": number, "units": [unit for memory, unit in chunk.pairs if memory == number]}
            for number in range(1, len(chunk.memories) + 1)
        ],
    }
    if second:
        blocks["asked_before"] = "yes"
    return pass_request(STAGE, CoverageReply, model, session.parameters, **blocks)


def _numbered(name: str, texts: Iterable[str]) -> Quotable:
    return [{name: number, "text": text} for number, text in enumerate(texts, start=1)]


SPOT_CHECK_STAGE = "spot check"
SPOT_CHECK_SHARE = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """The sampled cells: by pair, the cells of the judge and of the other model."""

    cells: Mapping[TextPair, tuple[JudgedCell, JudgedCell]]
    undecided: int = 0

    @property
    def table(self) -> dict[tuple[Label, Label], int]:
        """How often the judge gave the first label and the other model the second."""
        counts = Counter((judge.label, other.label) for judge, other in self.cells.values())
        return {labels: counts[labels] for labels in product(VALUES, VALUES) if counts[labels]}

    @property
    def agreement(self) -> Fraction | None:
        """The share of sampled cells with the same label; None if there are none."""
        same = sum(judge.label == other.label for judge, other in self.cells.values())
        return Fraction(same, len(self.cells)) if self.cells else None


def spot_check_sample(cells: JudgedCells, share: Fraction, seed: int, owner: str) -> set[TextPair]:
    """A share of each label, rounded up, chosen by a hash so that order does not matter."""

    def rank(pair: TextPair) -> str:
        return hashlib.sha256(json.dumps([seed, owner, *pair]).encode()).hexdigest()

    chosen: set[TextPair] = set()
    for label in VALUES:
        own = sorted(
            (pair for pair, cell in cells.items() if cell and cell.label == label), key=rank
        )
        chosen.update(own[: -(-len(own) * share.numerator // share.denominator)])
    return chosen


def spot_check(
    judged: Mapping[str, JudgedCells],
    session: ModelSession,
    model: str,
    share: Fraction = SPOT_CHECK_SHARE,
    seed: int = 0,
) -> dict[str, SpotCheck]:
    """A sample of every conversation, judged by another model."""
    wanted = {
        owner: spot_check_sample(cells, share, seed, owner) for owner, cells in judged.items()
    }
    checked = judge_pairs(wanted, session, model, SPOT_CHECK_STAGE)
    checks = {}
    for owner, cells in checked.items():
        pairs = {
            pair: (first, other)
            for pair, other in cells.items()
            if other is not None and (first := judged[owner][pair]) is not None
        }
        checks[owner] = SpotCheck(pairs, len(cells) - len(pairs))
    return checks
