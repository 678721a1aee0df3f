"""One conversation on its way through the passes, and the package that comes out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from pydantic import JsonValue

from memaudit.core.cost import cost_rule
from memaudit.core.exact import plain
from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Package, Query, Source
from memaudit.core.text import one_line
from memaudit.datasets.conversation import Question
from memaudit.datasets.irregularities import LoadedConversation
from memaudit.models.prompt import provenance
from memaudit.natural.candidates import extracts
from memaudit.natural.coverage_rules import FULL, NONE, cell
from memaudit.natural.evidence import query
from memaudit.natural.label_passes import CONVERSATION
from memaudit.natural.passes.adjudication import FAILED, IN_POOL, Rulings, package_status
from memaudit.natural.passes.coverage import Cells, Pair, SpotCheck
from memaudit.natural.passes.memories import FoundMemory, Memories
from memaudit.natural.passes.recipe import ModelRecipe
from memaudit.natural.passes.requirements import ShownUnit
from memaudit.natural.passes.source import SourceText, source_text
from memaudit.natural.passes.units import FoundUnit, Units
from memaudit.natural.prompts import PROMPTS, pass_prompt
from memaudit.natural.transcript import Transcript, experiences, split


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A turn as a candidate of its own."""

    id: str
    turn: int
    text: str


@dataclass
class Draft:
    """What is known about a conversation so far."""

    loaded: LoadedConversation
    transcript: Transcript
    questions: tuple[Question, ...]
    source: SourceText
    memories: Memories = field(default_factory=lambda: Memories(()))
    units: Units = field(default_factory=lambda: Units(()))
    rulings: Rulings = field(default_factory=Rulings)
    cells: Cells = field(default_factory=dict)
    spot: SpotCheck | None = None

    @classmethod
    def of(cls, loaded: LoadedConversation, format: str) -> "Draft":
        """A conversation before the first pass."""
        transcript, questions = split(loaded.conversation, format)
        return cls(loaded, transcript, questions, source_text(transcript.sessions))

    @property
    def name(self) -> str:
        """The conversation's id."""
        return self.loaded.conversation.id

    @cached_property
    def turn_ids(self) -> dict[int, str]:
        """Turn ids by the numbers the passes use."""
        return dict(enumerate(self.transcript.turn, start=1))

    @cached_property
    def raw(self) -> list[RawTurn]:
        """The turns as candidates, by the rule that packages without a model use."""
        numbers = {id: number for number, id in self.turn_ids.items()}
        return [
            RawTurn(one.id, numbers[one.experience], one.text)
            for one in extracts(self.transcript)
            if one.kind == "raw"
        ]

    @property
    def repeats(self) -> list[FoundMemory]:
        """Memories that only repeat their turn, which is a candidate already."""
        raw = {(one.turn, one_line(one.text)) for one in self.raw}
        return [one for one in self.memories.found if (one.turn, one_line(one.text)) in raw]

    @property
    def written(self) -> Iterator[tuple[str, FoundMemory]]:
        """The model's other memories, with their ids."""
        left_out = set(self.repeats)
        seen: dict[int, int] = {}
        for one in self.memories.found:
            if one not in left_out:
                seen[one.turn] = seen.get(one.turn, 0) + 1
                yield f"{self.turn_ids[one.turn]}/memory-{seen[one.turn]}", one

    @property
    def shown_units(self) -> list[ShownUnit]:
        """The units as questions are compared with them."""
        sessions = {session.number: session for session in self.source.sessions}
        return [
            ShownUnit(
                number, unit.kind, sessions[self.session_of[unit.turn]].time, unit.statement,
                unit.quote, self.session_of[unit.turn],
            )
            for number, unit in enumerate(self.units.found, start=1)
        ]  # fmt: skip

    @property
    def numbered_units(self) -> list[tuple[int, FoundUnit]]:
        """Units by number, from 1."""
        return list(enumerate(self.units.found, start=1))

    def statement(self, number: int) -> str:
        """A unit's text, reworded where the adjudicator did."""
        if number in self.rulings.rewrites:
            return self.rulings.rewrites[number][0]
        return self.units.found[number - 1].statement

    @cached_property
    def session_of(self) -> dict[int, int]:
        """The session a turn belongs to."""
        return {
            turn.number: session.number
            for session in self.source.sessions
            for turn in session.turns
        }

    def pairs(self, judge_raw: bool, frame: str) -> set[Pair]:
        """The pairs for the judge: candidates with required units, of a session or of all.

        Raw turns that hold a unit's verified quote are decided; they are not asked about.
        """
        memories = [(memory.text, memory.turns) for _, memory in self.written]
        raw = [(one.text, (one.turn,)) for one in self.raw] if judge_raw else []
        asked: set[Pair] = set()
        for number in sorted(self.rulings.required):
            statement, own = self.statement(number), self.units.found[number - 1].turn
            texts = memories + [one for one in raw if one[1] != (own,)]
            asked |= {
                (text, statement)
                for text, turns in texts
                if frame == CONVERSATION or self.session_of[own] in map(self.session_of.get, turns)
            }
        return asked


METHOD = "model"
QUOTE = "exact:quote"
"""The provenance of a raw turn's cell for a unit whose verified quote stands in it."""

UNDECIDED = "undecided"
"""The label of a cell that the judge gave no answer for; its 0 is no judgement."""


def assemble(draft: Draft, recipe: ModelRecipe) -> Package:
    """The package; nothing in it depends on how often or where the models were asked."""
    found = holes(draft)
    status = package_status(draft.rulings, found)
    return Package(
        name=draft.name,
        experiences=tuple(experiences(draft.transcript)),
        candidates=tuple(_candidates(draft, recipe)),
        units=tuple(_units(draft, recipe)),
        queries=tuple(_queries(draft, recipe)),
        coverage=tuple(_coverage(draft, recipe)),
        cost_rule=recipe.cost_rule,
        group_cap=recipe.group_cap,
        attributes={
            "method": METHOD,
            "format": recipe.format,
            "status": status,
            "scoring_pool": status in IN_POOL,
            "reasons": [*found],
            "models": {**recipe.models},
            "prompts": {pass_prompt(name).label: pass_prompt(name).sha256 for name in PROMPTS},
        },
    )


def holes(draft: Draft) -> list[str]:
    """What is missing from a package because replies are."""
    undecided = sum(one is None for one in draft.cells.values())
    counted = (
        (draft.memories.lost, "pieces of the source brought no valid memories"),
        (draft.units.lost, "pieces of the source brought no valid units"),
        (undecided, "cells are undecided"),
    )
    return [f"{number} {words}" for number, words in counted if number]


def unit_id(number: int) -> str:
    """The id of a unit by its number."""
    return f"u{number}"


def _candidates(draft: Draft, recipe: ModelRecipe) -> Iterator[Candidate]:
    """Raw turns and memories; all of them pay for every word."""
    measure = cost_rule(recipe.cost_rule)
    for one in draft.raw:
        yield Candidate(
            id=one.id, experience=draft.turn_ids[one.turn], kind="raw", text=one.text,
            cost=Fraction(measure(one.text)), generator="rule:raw",
        )  # fmt: skip
    writer = provenance(recipe.model, pass_prompt("memories"))
    for id, memory in draft.written:
        yield Candidate(
            id=id, experience=draft.turn_ids[memory.turn], kind=memory.kind, text=memory.text,
            cost=Fraction(measure(memory.text)), generator=writer,
            attributes={"turns": [draft.turn_ids[turn] for turn in memory.turns]},
        )  # fmt: skip


def _units(draft: Draft, recipe: ModelRecipe) -> Iterator[EvidenceUnit]:
    turns = draft.transcript.turn
    writer = provenance(recipe.model, pass_prompt("units"))
    required = draft.rulings.required
    for number, unit in draft.numbered_units:
        id = draft.turn_ids[unit.turn]
        attributes: dict[str, JsonValue] = {"provenance": writer}
        if unit.requoted:
            attributes["quote_by"] = provenance(recipe.model, pass_prompt("quotes"))
        if number not in required:
            attributes["judged"] = False  # nobody requires it, so it weighs nothing
        if number in draft.rulings.rewrites and recipe.adjudicator is not None:
            attributes |= {
                "text_before": unit.statement,
                "text_by": provenance(recipe.adjudicator, pass_prompt("adjudication")),
                "text_for": draft.rulings.rewrites[number][1],
            }
        session = draft.transcript.session[turns[id].session]
        yield EvidenceUnit(
            id=unit_id(number), kind=unit.kind, text=draft.statement(number),
            timestamp=turns[id].timestamp or session.timestamp,
            sources=(Source(id=id, session=session.id, text=unit.quote),), attributes=attributes,
        )  # fmt: skip


def _queries(draft: Draft, recipe: ModelRecipe) -> Iterator[Query]:
    """All questions; those out of the scoring pool keep their units and weigh nothing."""
    writer = provenance(recipe.model, pass_prompt("requirements"))
    for question in draft.questions:
        ruling = draft.rulings.questions[question.id]
        row = query(question, [unit_id(number) for number in ruling.required])
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
        importance = row.importance
        if ruling.status not in IN_POOL:
            attributes["importance_in_pool"] = plain(importance)
            importance = Fraction(0)
        yield row.model_copy(update={"attributes": attributes, "importance": importance})


def _coverage(draft: Draft, recipe: ModelRecipe) -> Iterator[Coverage]:
    """Quotes decide their own turns, for every unit; the judge decides what it was asked."""
    judge = provenance(recipe.coverage_judge, pass_prompt("coverage"))
    asked = sorted(draft.rulings.required)
    for one in draft.raw:
        own = {number for number, unit in draft.numbered_units if unit.turn == one.turn}
        for number in sorted(own):
            yield cell(one.id, unit_id(number), FULL, QUOTE, "holds the unit's quote")
        others = [number for number in asked if number not in own]
        yield from _judged(draft, one.id, one.text, others, judge)
    for id, memory in draft.written:
        yield from _judged(draft, id, memory.text, asked, judge)


def _judged(
    draft: Draft, candidate: str, text: str, numbers: Iterable[int], judge: str
) -> Iterator[Coverage]:
    """What the judge says about a text; pairs it was not asked about have no row."""
    for number in numbers:
        pair = (text, draft.statement(number))
        if pair not in draft.cells:
            continue
        found = draft.cells[pair]
        if found is not None:
            yield cell(candidate, unit_id(number), found.value, judge, found.reason)
        else:
            row = cell(candidate, unit_id(number), NONE, judge, "the judge gave no answer")
            yield row.model_copy(update={"label": UNDECIDED})
