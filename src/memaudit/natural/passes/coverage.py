"""Pass d: how much of each unit a memory preserves; pass f judges a sample again."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import model_validator

from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.coverage_rules import FULL, NONE, PARTIAL
from memaudit.natural.prompts import pass_prompt

MOST_PAIRS, MOST_MEMORIES, MOST_UNITS = 96, 32, 8
MOST_LETTERS = 24_000

Pair = tuple[str, str]
"""The text of a memory and the text of a unit."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One request's pairs; numbers count from 1 in the order of the lists."""

    memories: tuple[str, ...]
    units: tuple[str, ...]
    pairs: tuple[tuple[int, int], ...]

    def pair(self, numbers: tuple[int, int]) -> Pair:
        """The texts behind two numbers."""
        return self.memories[numbers[0] - 1], self.units[numbers[1] - 1]


def rank(text: str) -> str:
    """Where a text comes: the same for everybody, and a secret to nobody."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def shuffled(texts: Iterable[str]) -> list[str]:
    """Distinct texts in the order of their rank."""
    return sorted(set(texts), key=rank)


def chunks(pairs: Iterable[Pair], most_memories: int = MOST_MEMORIES) -> Iterator[Chunk]:
    """All pairs, each in one chunk."""
    wanted = set(pairs)
    memory_place = {text: place for place, text in enumerate(shuffled(one for one, _ in wanted))}
    unit_place = {text: place for place, text in enumerate(shuffled(one for _, one in wanted))}
    ordered = sorted(
        wanted,
        key=lambda pair: (
            unit_place[pair[1]] // MOST_UNITS,
            memory_place[pair[0]],
            unit_place[pair[1]],
        ),
    )
    together: list[Pair] = []
    memories: set[str] = set()
    units: set[str] = set()
    for memory, unit in ordered:
        memories.add(memory)
        units.add(unit)
        letters = sum(map(len, memories)) + sum(map(len, units))
        full = len(memories) > most_memories or len(units) > MOST_UNITS or letters > MOST_LETTERS
        if together and (full or len(together) == MOST_PAIRS):
            yield _chunk(together, memory_place, unit_place)
            together, memories, units = [], {memory}, {unit}
        together.append((memory, unit))
    if together:
        yield _chunk(together, memory_place, unit_place)


def _chunk(
    pairs: Sequence[Pair], memory_place: dict[str, int], unit_place: dict[str, int]
) -> Chunk:
    memories = sorted({one for one, _ in pairs}, key=memory_place.__getitem__)
    units = sorted({one for _, one in pairs}, key=unit_place.__getitem__)
    numbers = {(memories.index(memory) + 1, units.index(unit) + 1) for memory, unit in pairs}
    return Chunk(tuple(memories), tuple(units), tuple(sorted(numbers)))


STAGE = "coverage"
Label = Literal["full", "partial", "none"]
VALUES: dict[Label, Fraction] = {"full": FULL, "partial": PARTIAL, "none": NONE}


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
        if len({(one.memory, one.unit) for one in self.cells}) < len(self.cells):
            raise ValueError("a pair of memory and unit appears twice")
        return self


@dataclass(frozen=True, slots=True)
class Cell:
    """What the judge says about a memory and a unit."""

    label: Label
    reason: str

    @property
    def value(self) -> Fraction:
        """Full is 1, partial 1/2, none 0."""
        return VALUES[self.label]


Cells = dict[Pair, Cell | None]
"""By the texts of memory and unit; None where the judge gave no answer, which is no zero."""


def judge_coverage(
    memories: Sequence[str],
    units: Sequence[str],
    session: ModelSession,
    model: str,
    owner: str = "",
) -> Cells:
    """A cell for every pair of a memory's text and a unit's text."""
    pairs = {(memory, unit) for memory in memories for unit in units}
    return judge_pairs({owner: pairs}, session, model)[owner]


def judge_pairs(
    wanted: dict[str, set[Pair]], session: ModelSession, model: str, stage: str = STAGE
) -> dict[str, Cells]:
    """Cells for any pairs of several conversations; those left out are asked about once more.

    The second time a request holds one memory, so that one that spoils a reply spoils no other.
    """
    cells: dict[str, Cells] = {owner: dict.fromkeys(sorted(wanted[owner])) for owner in wanted}
    work = [(owner, chunk) for owner, pairs in wanted.items() for chunk in chunks(pairs)]
    _ask(work, cells, session, model, stage, again=False)
    work = [(owner, chunk) for owner in wanted for chunk in chunks(_missing(cells[owner]), 1)]
    _ask(work, cells, session, model, stage, again=True)
    for owner, judged in cells.items():
        for memory, unit in _missing(judged):
            session.ledger.refuse(owner, stage, "undecided cell", f"{memory!r} for {unit!r}")
    return cells


def _missing(cells: Cells) -> list[Pair]:
    return [pair for pair, cell in cells.items() if cell is None]


def _ask(
    work: Sequence[tuple[str, Chunk]],
    cells: dict[str, Cells],
    session: ModelSession,
    model: str,
    stage: str,
    again: bool,
) -> None:
    """Ask about chunks and write down the cells that were asked for."""
    requests = [(owner, coverage_request(chunk, model, session, again)) for owner, chunk in work]
    replies = session.ask(f"{stage} again" if again else stage, requests, CoverageReply)
    for (owner, chunk), reply in zip(work, replies, strict=True):
        asked = set(chunk.pairs)
        for row in [] if reply is None else reply.cells:
            if (row.memory, row.unit) in asked:
                cells[owner][chunk.pair((row.memory, row.unit))] = Cell(row.label, row.reason)
            else:
                words = f"memory {row.memory}, unit {row.unit}: {row.label}"
                session.ledger.refuse(owner, stage, "cell nobody asked for", words)


def coverage_request(
    chunk: Chunk, model: str, session: ModelSession, again: bool = False
) -> Request:
    """The question about a chunk."""
    used = pass_prompt(STAGE)
    blocks: dict[str, Quotable] = {
        "memories": _numbered("memory", chunk.memories),
        "units": _numbered("unit", chunk.units),
        "pairs": [
            {"memory": number, "units": [unit for memory, unit in chunk.pairs if memory == number]}
            for number in range(1, len(chunk.memories) + 1)
        ],
    }
    if again:
        blocks["asked_before"] = "yes"
    messages = used.messages(**blocks)
    return Request.for_reply(CoverageReply, model, messages, used.template, session.parameters)


def _numbered(name: str, texts: Iterable[str]) -> Quotable:
    return [{name: number, "text": text} for number, text in enumerate(texts, start=1)]


SPOT_CHECK_STAGE = "spot check"
SHARE = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """The sampled cells: by pair, what the judge said and what the other model says."""

    cells: Mapping[Pair, tuple[Cell, Cell]]
    undecided: int = 0

    @property
    def table(self) -> dict[tuple[Label, Label], int]:
        """How often the judge said the first and the other model the second."""
        found = Counter((one.label, other.label) for one, other in self.cells.values())
        return {
            (one, other): found[one, other]
            for one in VALUES
            for other in VALUES
            if found[one, other]
        }

    @property
    def agreement(self) -> Fraction | None:
        """The share of sampled cells with the same label; None without any."""
        same = sum(one.label == other.label for one, other in self.cells.values())
        return Fraction(same, len(self.cells)) if self.cells else None


def sample(cells: Cells, share: Fraction, seed: int, owner: str) -> set[Pair]:
    """So large a share of each label, rounded up, chosen by a hash: order does not matter."""

    def rank(pair: Pair) -> str:
        return hashlib.sha256(json.dumps([seed, owner, *pair]).encode()).hexdigest()

    chosen: set[Pair] = set()
    for label in VALUES:
        own = sorted(
            (pair for pair, cell in cells.items() if cell and cell.label == label), key=rank
        )
        chosen.update(own[: -(-len(own) * share.numerator // share.denominator)])
    return chosen


def spot_check(
    judged: Mapping[str, Cells],
    session: ModelSession,
    model: str,
    share: Fraction = SHARE,
    seed: int = 0,
) -> dict[str, SpotCheck]:
    """The sample of every conversation, judged by another model."""
    wanted = {owner: sample(cells, share, seed, owner) for owner, cells in judged.items()}
    again = judge_pairs(wanted, session, model, SPOT_CHECK_STAGE)
    found = {}
    for owner, cells in again.items():
        pairs = {
            pair: (first, other)
            for pair, other in cells.items()
            if other is not None and (first := judged[owner][pair]) is not None
        }
        found[owner] = SpotCheck(pairs, len(cells) - len(pairs))
    return found
