"""The package of a conversation that went through all passes."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from pydantic import JsonValue

from memaudit.core.cost import cost_rule
from memaudit.core.exact import plain
from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Package, Query, Source
from memaudit.natural.cover import cell
from memaudit.natural.evidence import query
from memaudit.natural.heuristics import FULL, NONE
from memaudit.natural.passes.draft import Draft
from memaudit.natural.passes.prompt import PROMPTS, prompt, provenance
from memaudit.natural.passes.recipe import ModelRecipe
from memaudit.natural.passes.rulings import FAILED, IN_POOL, package_status
from memaudit.natural.stream import experiences

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
            "prompts": {prompt(name).label: prompt(name).sha256 for name in PROMPTS},
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
    writer = provenance(recipe.model, prompt("memories"))
    for id, memory in draft.written:
        yield Candidate(
            id=id, experience=draft.turn_ids[memory.turn], kind=memory.kind, text=memory.text,
            cost=Fraction(measure(memory.text)), generator=writer,
            attributes={"turns": [draft.turn_ids[turn] for turn in memory.turns]},
        )  # fmt: skip


def _units(draft: Draft, recipe: ModelRecipe) -> Iterator[EvidenceUnit]:
    turns = draft.transcript.turn
    writer = provenance(recipe.model, prompt("units"))
    required = draft.rulings.required
    for number, unit in draft.numbered_units:
        id = draft.turn_ids[unit.turn]
        attributes: dict[str, JsonValue] = {"provenance": writer}
        if unit.requoted:
            attributes["quote_by"] = provenance(recipe.model, prompt("quotes"))
        if number not in required:
            attributes["judged"] = False  # nobody requires it, so it weighs nothing
        if number in draft.rulings.rewrites and recipe.adjudicator is not None:
            attributes |= {
                "text_before": unit.statement,
                "text_by": provenance(recipe.adjudicator, prompt("adjudication")),
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
    writer = provenance(recipe.model, prompt("requirements"))
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
            attributes["adjudicated_by"] = provenance(recipe.adjudicator, prompt("adjudication"))
        if ruling.before is not None:
            attributes["required_before"] = [unit_id(number) for number in ruling.before]
        importance = row.importance
        if ruling.status not in IN_POOL:
            attributes["importance_in_pool"] = plain(importance)
            importance = Fraction(0)
        yield row.model_copy(update={"attributes": attributes, "importance": importance})


def _coverage(draft: Draft, recipe: ModelRecipe) -> Iterator[Coverage]:
    """Quotes decide their own turns, for every unit; the judge decides what it was asked."""
    judge = provenance(recipe.coverage_judge, prompt("coverage"))
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
