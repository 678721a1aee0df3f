"""Pass d: how much of each unit a memory preserves; the one judge of package and exported memories.

The judge gets texts and nothing else: no ids, no kinds, no writer, no question, no answer. What it
is not given it cannot see; equal texts get equal cells, whoever wrote them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from pydantic import model_validator

from memaudit.models.quoted import Quotable
from memaudit.models.request import Request
from memaudit.natural.heuristics import FULL, NONE, PARTIAL
from memaudit.natural.passes.chunks import Chunk, Pair, chunks
from memaudit.natural.passes.desk import Desk
from memaudit.natural.passes.prompt import prompt
from memaudit.natural.passes.reply import StrictRow

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
    memories: Sequence[str], units: Sequence[str], desk: Desk, model: str, owner: str = ""
) -> Cells:
    """A cell for every pair of a memory's text and a unit's text."""
    pairs = {(memory, unit) for memory in memories for unit in units}
    return judge_pairs({owner: pairs}, desk, model)[owner]


def judge_pairs(
    wanted: dict[str, set[Pair]], desk: Desk, model: str, stage: str = STAGE
) -> dict[str, Cells]:
    """Cells for any pairs of several conversations; those left out are asked about once more.

    The second time a request holds one memory, so that one that spoils a reply spoils no other.
    """
    cells: dict[str, Cells] = {owner: dict.fromkeys(sorted(wanted[owner])) for owner in wanted}
    work = [(owner, chunk) for owner, pairs in wanted.items() for chunk in chunks(pairs)]
    _ask(work, cells, desk, model, stage, again=False)
    work = [(owner, chunk) for owner in wanted for chunk in chunks(_missing(cells[owner]), 1)]
    _ask(work, cells, desk, model, stage, again=True)
    for owner, judged in cells.items():
        for memory, unit in _missing(judged):
            desk.ledger.refuse(owner, stage, "undecided cell", f"{memory!r} for {unit!r}")
    return cells


def _missing(cells: Cells) -> list[Pair]:
    return [pair for pair, cell in cells.items() if cell is None]


def _ask(
    work: Sequence[tuple[str, Chunk]],
    cells: dict[str, Cells],
    desk: Desk,
    model: str,
    stage: str,
    again: bool,
) -> None:
    """Ask about chunks and write down the cells that were asked for."""
    requests = [(owner, coverage_request(chunk, model, desk, again)) for owner, chunk in work]
    replies = desk.ask(f"{stage} again" if again else stage, requests, CoverageReply)
    for (owner, chunk), reply in zip(work, replies, strict=True):
        asked = set(chunk.pairs)
        for row in [] if reply is None else reply.cells:
            if (row.memory, row.unit) in asked:
                cells[owner][chunk.pair((row.memory, row.unit))] = Cell(row.label, row.reason)
            else:
                words = f"memory {row.memory}, unit {row.unit}: {row.label}"
                desk.ledger.refuse(owner, stage, "cell nobody asked for", words)


def coverage_request(chunk: Chunk, model: str, desk: Desk, again: bool = False) -> Request:
    """The question about a chunk."""
    used = prompt(STAGE)
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
    return Request.for_reply(CoverageReply, model, messages, used.template, desk.parameters)


def _numbered(name: str, texts: Iterable[str]) -> Quotable:
    return [{name: number, "text": text} for number, text in enumerate(texts, start=1)]
