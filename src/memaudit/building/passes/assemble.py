"""A conversation between the passes, and the package made of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from pydantic import JsonValue

from memaudit.building.evidence import query_of
from memaudit.building.passes.adjudication import FAILED, IN_POOL, Rulings, package_status
from memaudit.building.passes.memories import ExtractedMemories, ExtractedMemory
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.building.passes.requirements import ShownUnit
from memaudit.building.passes.source import SourceText, source_text
from memaudit.building.passes.units import ExtractedUnit, ExtractedUnits
from memaudit.building.transcript import (
    Transcript,
    experiences,
    grouped,
    split_conversation,
    turn_text,
)
from memaudit.conversations.conversation import Question
from memaudit.conversations.records import LoadedConversation
from memaudit.judges.model_judge import JudgedCells, SpotCheck, Statement, TextPair
from memaudit.kernel.exact import plain
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.package.equal_texts import distinct_texts
from memaudit.kernel.package.labels import FULL, NONE, coverage_row
from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Package,
    Query,
    Source,
)
from memaudit.kernel.package.unit_parts import has_usable_words, part_id, part_units
from memaudit.kernel.words.text import one_line
from memaudit.models.prompts import PROMPTS, pass_prompt, provenance


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A turn as a candidate of its own."""

    id: str
    turn: int
    text: str


@dataclass
class ConversationDraft:
    """What the passes have found in a conversation so far."""

    loaded: LoadedConversation
    transcript: Transcript
    questions: tuple[Question, ...]
    source: SourceText
    memories: ExtractedMemories = field(default_factory=lambda: ExtractedMemories(()))
    units: ExtractedUnits = field(default_factory=lambda: ExtractedUnits(()))
    rulings: Rulings = field(default_factory=Rulings)
    cells: JudgedCells = field(default_factory=dict)
    spot: SpotCheck | None = None

    @classmethod
    def of(cls, loaded: LoadedConversation, format: str) -> "ConversationDraft":
        transcript, questions = split_conversation(loaded.conversation, format)
        return cls(loaded, transcript, questions, source_text(transcript.sessions))

    @property
    def name(self) -> str:
        return self.loaded.conversation.id

    @cached_property
    def turn_ids(self) -> dict[int, str]:
        """Turn ids by the numbers the passes use."""
        return dict(enumerate(self.transcript.turn, start=1))

    @cached_property
    def raw(self) -> list[RawTurn]:
        """The turns as candidates, word for word."""
        return [
            RawTurn(f"{id}/raw", number, text)
            for number, id in self.turn_ids.items()
            if (text := turn_text(self.transcript.turn[id])).strip()
        ]

    @property
    def repeats(self) -> list[ExtractedMemory]:
        """Memories that only repeat their turn, which is already a candidate."""
        raw = {(turn.turn, one_line(turn.text)) for turn in self.raw}
        return [
            memory for memory in self.memories.items if (memory.turn, one_line(memory.text)) in raw
        ]

    @property
    def written(self) -> Iterator[tuple[str, ExtractedMemory]]:
        """The model's other memories with their ids."""
        left_out = set(self.repeats)
        seen: dict[int, int] = {}
        for memory in self.memories.items:
            if memory not in left_out:
                seen[memory.turn] = seen.get(memory.turn, 0) + 1
                yield f"{self.turn_ids[memory.turn]}/memory-{seen[memory.turn]}", memory

    @property
    def shown_units(self) -> list[ShownUnit]:
        """The units as the labelling passes see them."""
        sessions = {session.number: session for session in self.source.sessions}
        return [
            ShownUnit(
                number,
                unit.kind,
                sessions[self.session_of[unit.turn]].time,
                unit.statement,
                unit.quote,
                self.session_of[unit.turn],
                unit.said_by,
                tuple(quote for _, quote in unit.context),
                unit.dates,
                unit.disputed,
            )
            for number, unit in enumerate(self.units.items, start=1)
        ]

    @property
    def numbered_units(self) -> list[tuple[int, ExtractedUnit]]:
        return list(enumerate(self.units.items, start=1))

    def text(self, number: int) -> str:
        """A unit's text, as reworded by the adjudicator if it was."""
        if number in self.rulings.rewrites:
            return self.rulings.rewrites[number][0]
        return self.units.items[number - 1].statement

    def statement(self, number: int) -> Statement:
        """What the judge sees of a unit."""
        return Statement(self.text(number), self.parts(number))

    def parts(self, number: int) -> tuple[tuple[str, str], ...]:
        """A unit's parts as the package has them; each becomes a unit.

        A reworded unit has lost its parts, and one of several equal alternatives is covered whole.
        """
        grouped = any(number in group for group in self.rulings.groups if len(group) > 1)
        if grouped or number in self.rulings.rewrites:
            return ()
        parts = self.units.items[number - 1].parts
        return parts if all(has_usable_words(*part) for part in parts) else ()

    def unit_ids(self, number: int) -> dict[str, str]:
        """The ids of what stands for a unit in the package, with the names of its parts."""
        names = [name for name, _ in self.parts(number)]
        return {part_id(unit_id(number), name): name for name in names} or {unit_id(number): ""}

    @cached_property
    def session_of(self) -> dict[int, int]:
        """Session numbers by turn number."""
        return {
            turn.number: session.number
            for session in self.source.sessions
            for turn in session.turns
        }

    def pairs(self) -> set[TextPair]:
        """The pairs for the judge: all candidates and required units.

        Raw turns that contain a unit's verified quote are decided already.
        """
        written = [memory.text for _, memory in self.written]
        asked: set[TextPair] = set()
        # Units that no question requires weigh nothing, so nobody is asked about them.
        for number in sorted(self.rulings.required):
            unit = self.units.items[number - 1]
            raw = [
                turn.text
                for turn in self.raw
                if turn.turn != unit.turn or not unit.is_stated_by_turn
            ]
            asked |= {(text, self.statement(number)) for text in (*written, *raw)}
        return asked


@dataclass(frozen=True, slots=True)
class ModelBuild:
    """A package and the draft it was made from."""

    package: Package
    draft: ConversationDraft


METHOD = "model"
QUOTE = "exact:quote"
"""The provenance of a raw turn's cell for a unit whose verified quote is in it."""

UNDECIDED = "undecided"
"""The label of a cell without an answer by the judge. Its 0 is not a judgement."""


def assemble(draft: ConversationDraft, recipe: ModelRecipe) -> Package:
    """The package. Nothing in it depends on how often or where the models were asked."""
    missing = missing_parts(draft)
    status = package_status(draft.rulings, missing)
    candidates = list(_candidates(draft, recipe))
    tables = distinct_texts(
        *grouped(experiences(draft.transcript), candidates, recipe.group),
        list(_coverage(draft, recipe)),
    )
    return Package(
        name=draft.name,
        experiences=tables.experiences,
        candidates=tables.candidates,
        units=tuple(_with_alternatives(list(_units(draft, recipe)), draft.rulings.groups)),
        queries=tuple(_queries(draft, recipe)),
        coverage=tables.coverage,
        cost_rule=recipe.cost_rule,
        equal_texts_once=True,
        attributes={
            "method": METHOD,
            "format": recipe.format,
            "status": status,
            "scoring_pool": status in IN_POOL,
            "reasons": [*missing],
            "models": {**recipe.models},
            "prompts": {pass_prompt(name).label: pass_prompt(name).sha256 for name in PROMPTS},
        },
    )


def missing_parts(draft: ConversationDraft) -> list[str]:
    """What is missing from a package because replies failed."""
    undecided = sum(cell is None for cell in draft.cells.values())
    counted = (
        (draft.memories.lost, "pieces of the source brought no valid memories"),
        (draft.units.lost, "pieces of the source brought no valid units"),
        (undecided, "cells are undecided"),
    )
    return [f"{number} {words}" for number, words in counted if number]


def unit_id(number: int) -> str:
    return f"u{number}"


def group_id(group: tuple[int, ...]) -> str:
    """The id of a unit, or of equal alternatives together."""
    return "-or-".join(map(unit_id, group))


def _candidates(draft: ConversationDraft, recipe: ModelRecipe) -> Iterator[Candidate]:
    """Raw turns and memories, all costed by the same rule."""
    measure = cost_rule(recipe.cost_rule)
    for raw in draft.raw:
        yield Candidate(
            id=raw.id,
            experience=draft.turn_ids[raw.turn],
            kind="raw",
            text=raw.text,
            cost=Fraction(measure(raw.text, "raw")),
            generator="rule:raw",
        )
    writer = provenance(recipe.model, pass_prompt("memories"))
    for id, memory in draft.written:
        attributes: dict[str, JsonValue] = {
            "turns": [draft.turn_ids[turn] for turn in memory.turns]
        }
        yield Candidate(
            id=id,
            experience=draft.turn_ids[memory.turn],
            kind=memory.kind,
            text=memory.text,
            cost=Fraction(measure(memory.text, memory.kind, attributes)),
            generator=writer,
            attributes=attributes,
        )


def _units(draft: ConversationDraft, recipe: ModelRecipe) -> Iterator[EvidenceUnit]:
    turns = draft.transcript.turn
    writer = provenance(recipe.model, pass_prompt("units"))
    required = draft.rulings.required
    for number, unit in draft.numbered_units:
        id = draft.turn_ids[unit.turn]
        attributes: dict[str, JsonValue] = {"provenance": writer, **_details(unit)}
        if unit.requoted:
            attributes["quote_by"] = provenance(recipe.model, pass_prompt("quotes"))
        if number not in required:
            attributes["judged"] = False  # no question requires it, so its weight is 0
        if number in draft.rulings.rewrites and recipe.adjudicator is not None:
            attributes |= {
                "text_before": unit.statement,
                "text_by": provenance(recipe.adjudicator, pass_prompt("adjudication")),
                "text_for": draft.rulings.rewrites[number][1],
            }
        session = draft.transcript.session[turns[id].session]
        if parts := draft.parts(number):
            attributes.pop("parts")
        whole = EvidenceUnit(
            id=unit_id(number),
            kind=unit.kind,
            text=draft.text(number),
            timestamp=turns[id].timestamp or session.timestamp,
            said_by=unit.said_by,
            sources=tuple(_sources(draft, unit)),
            attributes=attributes,
        )
        yield from part_units(whole, parts)


def _details(unit: ExtractedUnit) -> dict[str, JsonValue]:
    """What else the prompts ask about a unit."""
    details: dict[str, JsonValue] = {}
    if unit.said_as not in (None, unit.kind):
        details["said_as"] = unit.said_as
    if unit.dates is not None:
        details["from"], details["to"] = unit.dates
    if unit.disputed:
        details["disputed"] = True
    if unit.parts:
        details["parts"] = dict(unit.parts)
    return details


def _sources(draft: ConversationDraft, unit: ExtractedUnit) -> Iterator[Source]:
    """The quote, and the quotes that give it its context."""
    for turn, quote in ((unit.turn, unit.quote), *unit.context):
        id = draft.turn_ids[turn]
        yield Source(id=id, session=draft.transcript.turn[id].session, text=quote)


def _with_alternatives(
    units: Sequence[EvidenceUnit], groups: Iterable[tuple[int, ...]]
) -> Iterator[EvidenceUnit]:
    """The units, and for equal alternatives one unit together, which any of them covers."""
    yield from units
    by_id = {unit.id: unit for unit in units}
    for group in sorted(group for group in groups if len(group) > 1):
        first, *others = (by_id[unit_id(number)] for number in group)
        sources = dict.fromkeys(source for unit in (first, *others) for source in unit.sources)
        yield first.model_copy(
            update={
                "id": group_id(group),
                "alternatives": tuple(unit.text for unit in others),
                "sources": tuple(sources),
                "attributes": {**first.attributes, "units": [unit_id(number) for number in group]},
            }
        )


def _queries(draft: ConversationDraft, recipe: ModelRecipe) -> Iterator[Query]:
    """All questions. Those outside the scoring pool keep their units at importance 0."""
    writer = provenance(recipe.model, pass_prompt("requirements"))
    for question in draft.questions:
        ruling = draft.rulings.questions[question.id]
        row = query_of(
            question,
            [
                id
                for group in ruling.groups
                for id in ([group_id(group)] if len(group) > 1 else draft.unit_ids(group[0]))
            ],
        )
        attributes: dict[str, JsonValue] = {
            **row.attributes,
            "status": ruling.status,
            "scoring_pool": ruling.status in IN_POOL,
            "reason": ruling.reason,
            "why": {unit_id(number): why for number, why in sorted(ruling.why.items()) if why},
            "provenance": writer,
        }
        if recipe.adjudicator is not None and ruling.status != FAILED:
            attributes["adjudicated_by"] = provenance(
                recipe.adjudicator, pass_prompt("adjudication")
            )
        if ruling.before is not None:
            attributes["required_before"] = [unit_id(number) for number in ruling.before]
        # A question outside the pool stays in the package, so that people see why it does not
        # count.
        importance = row.importance
        if ruling.status not in IN_POOL:
            attributes["importance_in_pool"] = plain(importance)
            importance = Fraction(0)
        yield row.model_copy(update={"attributes": attributes, "importance": importance})


def _coverage(draft: ConversationDraft, recipe: ModelRecipe) -> Iterator[Coverage]:
    """Quotes decide their own turns for every unit; the judge decides the rest.

    Of equal alternatives, the largest cell counts.
    """
    groups = [group for group in sorted(draft.rulings.groups) if len(group) > 1]
    for cells in _cells_by_candidate(draft, recipe):
        yield from cells.values()
        for group in groups:
            own = [cells[id] for id in map(unit_id, group) if id in cells]
            if own:
                best = max(own, key=lambda cell: (cell.value, cell.label == UNDECIDED))
                yield best.model_copy(update={"unit": group_id(group)})


def _cells_by_candidate(
    draft: ConversationDraft, recipe: ModelRecipe
) -> Iterator[dict[str, Coverage]]:
    """For each candidate, its cells by unit."""
    judge = provenance(recipe.coverage_judge, pass_prompt("coverage"))
    asked = sorted(draft.rulings.required)
    for raw in draft.raw:
        own = {
            number
            for number, unit in draft.numbered_units
            if unit.turn == raw.turn and unit.is_stated_by_turn
        }
        rows = [
            coverage_row(raw.id, id, FULL, QUOTE, "holds the unit's quote")
            for number in sorted(own)
            for id in draft.unit_ids(number)
        ]
        rows += _judged(draft, raw.id, raw.text, [n for n in asked if n not in own], judge)
        yield {row.unit: row for row in rows}
    for id, memory in draft.written:
        yield {row.unit: row for row in _judged(draft, id, memory.text, asked, judge)}


def _judged(
    draft: ConversationDraft, candidate: str, text: str, numbers: Iterable[int], judge: str
) -> Iterator[Coverage]:
    """The judge's rows for a text. Pairs that were not asked about have none."""
    for number in numbers:
        pair = (text, draft.statement(number))
        if pair not in draft.cells:
            continue
        judged = draft.cells[pair]
        for id, name in draft.unit_ids(number).items():
            if judged is not None:
                value = (FULL if name in judged.kept else NONE) if name else judged.value
                yield coverage_row(candidate, id, value, judge, judged.reason)
            else:
                row = coverage_row(candidate, id, NONE, judge, "the judge gave no answer")
                yield row.model_copy(update={"label": UNDECIDED})
