"""Pass d: how much of each unit a memory preserves, and the judge that asks a model by this pass.

The judge gets texts and nothing else: no ids, kinds, writers, questions or answers. Equal texts get
equal cells, whoever wrote them, so package candidates and exported memories have the same judge.

A statement may name its parts. The judge then says which of them a memory keeps. The smaller claim
stands: `none` keeps nothing, nothing is kept without the core, and else the parts decide between
`full` and `partial`. A reply that contradicts itself so is counted in the ledger.

Memories and units are ordered by the SHA-256 of their text, which says nothing about their origin.
A request holds eight units and as many memories as fit into 96 pairs, 32 memories and 24,000
characters. All pairs are asked: a memory of one session can preserve what another session says, so
leaving such pairs out would make silent zeros.

Pass f judges a sample again by another model.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from pydantic import model_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import FULL, NONE, PARTIAL
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, Pair
from memaudit.models.prompts import Quotable, StrictRow, pass_prompt, pass_request, provenance
from memaudit.models.request import Request
from memaudit.models.session import ModelSession

# 96 rows with a reason each are about what the 4,096 tokens of a reply hold. A longer reply is cut
# off, and then it is lost as a whole.
MAX_PAIRS, MAX_MEMORIES, MAX_UNITS = 96, 32, 8
MAX_CHARACTERS = 24_000


@dataclass(frozen=True, slots=True, order=True)
class Statement:
    """The text of a unit, and its parts by name; the first part is the core, the value itself."""

    text: str
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parts)


TextPair = tuple[str, Statement]
"""The text of a memory and the statement of a unit."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One request's pairs; numbers count from 1 in the order of the lists."""

    memories: tuple[str, ...]
    units: tuple[Statement, ...]
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
    memory_place = {text: place for place, text in enumerate(shuffled(text for text, _ in wanted))}
    # Blocks of units come first, memories within a block: so a unit is sent with many memories at a
    # time instead of once for each.
    units_in_order = sorted(
        {unit for _, unit in wanted}, key=lambda unit: (rank(unit.text), unit.parts)
    )
    unit_place = {unit: place for place, unit in enumerate(units_in_order)}
    ordered = sorted(
        wanted,
        key=lambda pair: (
            unit_place[pair[1]] // MAX_UNITS,
            memory_place[pair[0]],
            unit_place[pair[1]],
        ),
    )
    # A chunk is closed before the pair that would be too much; a single pair that is too long goes
    # alone, since it has to be asked.
    together: list[TextPair] = []
    memories: set[str] = set()
    units: set[Statement] = set()
    for memory, unit in ordered:
        memories.add(memory)
        units.add(unit)
        length = sum(map(len, memories)) + sum(len(unit.text) for unit in units)
        full = len(memories) > most_memories or len(units) > MAX_UNITS or length > MAX_CHARACTERS
        if together and (full or len(together) == MAX_PAIRS):
            yield _chunk(together, memory_place, unit_place)
            together, memories, units = [], {memory}, {unit}
        together.append((memory, unit))
    if together:
        yield _chunk(together, memory_place, unit_place)


def _chunk(
    pairs: Sequence[TextPair], memory_place: dict[str, int], unit_place: dict[Statement, int]
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
    kept: list[str]
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
    """What the judge says about a memory and a unit; `kept` names parts of a unit that has some."""

    label: Label
    reason: str
    kept: frozenset[str] = frozenset()

    @property
    def value(self) -> Fraction:
        return VALUES[self.label]


JudgedCells = dict[TextPair, JudgedCell | None]
"""By a memory's text and a unit's statement. None means no answer, which is not a zero."""


def judge_coverage(
    memories: Sequence[str],
    units: Sequence[Statement],
    session: ModelSession,
    model: str,
    owner: str = "",
) -> JudgedCells:
    """A cell for every pair of a memory's text and a unit's statement."""
    pairs = {(memory, unit) for memory in memories for unit in units}
    return judge_pairs({owner: pairs}, session, model)[owner]


def judge_pairs(
    wanted: dict[str, set[TextPair]],
    session: ModelSession,
    model: str,
    stage: str = STAGE,
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
            session.ledger.refuse(owner, stage, "undecided cell", f"{memory!r} for {unit.text!r}")
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
    asked_as = f"{stage} again" if second else stage
    replies = session.ask(asked_as, requests, CoverageReply)
    for (owner, chunk), reply in zip(work, replies, strict=True):
        asked = set(chunk.pairs)
        for row in [] if reply is None else reply.cells:
            if (row.memory, row.unit) not in asked:
                words = f"memory {row.memory}, unit {row.unit}: {row.label}"
                session.ledger.refuse(owner, stage, "cell nobody asked for", words)
                continue
            pair = chunk.pair((row.memory, row.unit))
            cell, problem = judged_cell(row, pair[1])
            cells[owner][pair] = cell
            if problem:
                words = f"{pair[0]!r} for {pair[1].text!r}: {row.label}, kept {row.kept}"
                session.ledger.refuse(owner, stage, problem, words)


def judged_cell(row: CellRow, unit: Statement) -> tuple[JudgedCell | None, str]:
    """The cell, and what contradicts itself in the row; None if it does not say what is kept."""
    if not unit.parts:
        return JudgedCell(row.label, row.reason), ""
    kept = frozenset(row.kept) & frozenset(unit.names)
    # Which parts are kept decides the cells, so this reply is asked for again instead of guessed.
    if row.label != "none" and not row.kept:
        return None, "kept parts not named"
    if row.label == "none" or unit.names[0] not in kept:
        kept = frozenset()
    label: Label = "none" if not kept else "full" if len(kept) == len(unit.parts) else "partial"
    agrees = label == row.label and kept == frozenset(row.kept)
    return JudgedCell(label, row.reason, kept), "" if agrees else "label and kept parts differ"


def coverage_request(
    chunk: Chunk, model: str, session: ModelSession, second: bool = False
) -> Request:
    blocks: dict[str, Quotable] = {
        "memories": [
            {"memory": number, "text": text} for number, text in enumerate(chunk.memories, start=1)
        ],
        "units": [_unit_data(number, unit) for number, unit in enumerate(chunk.units, start=1)],
        "pairs": [
            {"memory": number, "units": [unit for memory, unit in chunk.pairs if memory == number]}
            for number in range(1, len(chunk.memories) + 1)
        ],
    }
    if second:
        blocks["asked_before"] = "yes"
    return pass_request(pass_prompt(STAGE), CoverageReply, model, session.parameters, **blocks)


def _unit_data(number: int, unit: Statement) -> Quotable:
    data: dict[str, Quotable] = {"unit": number, "text": unit.text}
    return {**data, "parts": dict(unit.parts)} if unit.parts else data


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
        return hashlib.sha256(
            json.dumps([seed, owner, pair[0], pair[1].text, *pair[1].parts]).encode()
        ).hexdigest()

    chosen: set[TextPair] = set()
    # By label, because a plain sample of cells of which one in a hundred is covered would hold
    # hardly any that could be wrong. Rounded up, so that no label is left out.
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


MODEL = "model:"
"""The provenance of its cells begins so; the model's name and its prompt follow."""


class ModelJudge:
    """Asks about every memory and unit by their texts alone; equal texts get equal cells.

    Of a unit with alternatives, the text that a memory preserves best counts. A statement with
    parts is one question: which of its parts does the memory keep?
    A pair that got no answer has no cell, which scores as not covered, and is `undecided`.
    """

    is_estimate = False
    judges_candidates = True

    def __init__(self, session: ModelSession, name: str) -> None:
        self._session, self._model = session, name
        self._provenance = provenance(name, pass_prompt(STAGE))
        self.name = f"model {self._provenance.removeprefix(MODEL)}"
        self._has_answered = False

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        texts = {memory.id: memory.text for memory in memories}
        statements = {
            unit.id: asked_statements(whole) for whole in whole_units(units) for unit in whole.units
        }
        parts = {unit.id: unit.part for unit in units}
        if pairs is None:
            pairs = list(product(texts, statements))
        asked = {(texts[memory], text) for memory, unit in pairs for text in statements[unit]}
        judged = judge_pairs({"": asked}, self._session, self._model)[""]
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        undecided: list[tuple[str, str]] = []
        for memory, unit in pairs:
            answer = best_answer([judged[texts[memory], text] for text in statements[unit]])
            if answer is None:
                undecided.append((memory, unit))
                continue
            part = parts[unit]
            value = answer.value if part is None else FULL if part in answer.kept else NONE
            cells[memory][unit] = Cell(value, self._provenance, answer.reason)
        # One store without any answer may be chance, none at all is a wrong address or model: a
        # table of zeros would look like a result.
        self._has_answered = self._has_answered or len(undecided) < len(pairs)
        if pairs and not self._has_answered:
            raise MemAuditError(
                f"{self.name} gave no answer about any memory: check the address and the model, "
                "then run again"
            )
        return Judgement(cells, tuple(undecided))


def asked_statements(whole: WholeUnit) -> list[Statement]:
    """A unit as the coverage pass asks about it: with its parts, or in each of its texts."""
    if whole.has_parts:
        return [Statement(whole.text, whole.parts)]
    return [Statement(text) for text in (whole.text, *whole.core.alternatives)]


def best_answer(answers: Sequence[JudgedCell | None]) -> JudgedCell | None:
    """The best of equal alternatives; None if one without an answer could be better."""
    answered = [answer for answer in answers if answer is not None]
    best = max(answered, key=lambda answer: answer.value, default=None)
    # Nothing beats full, so an alternative without an answer does not matter then.
    is_certain = best is not None and (best.label == "full" or len(answered) == len(answers))
    return best if is_certain else None
