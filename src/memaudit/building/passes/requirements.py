"""Pass c: which units a question requires, from question, answer and units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field, model_validator

from memaudit.conversations.conversation import Question
from memaudit.models.prompts import Quotable, StrictRow
from memaudit.models.session import ModelSession

STAGE = "requirements"
MAX_CHARACTERS = 40_000
"""Unit text per request. Longer lists are asked about in parts."""

Decision = Literal["supported", "contradicted", "unsupported", "unanswerable"]


# The names and docstrings of reply types are part of every request's hash.
class RequiredRow(StrictRow):
    """A unit that the answer needs."""

    unit: int
    alternatives: list[int] = Field(alias="or")
    reason: str


class RequirementsReply(StrictRow):
    """The reply of this pass."""

    decision: Decision
    required: list[RequiredRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "RequirementsReply":
        named = [number for row in self.required for number in (row.unit, *row.alternatives)]
        if len(set(named)) < len(named):
            raise ValueError("a unit appears twice")
        if self.decision in ("supported", "contradicted") and not self.required:
            raise ValueError(f"a {self.decision} answer names at least one unit")
        return self


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """A unit as the labelling passes see it. Numbers count from 1."""

    number: int
    kind: str
    time: str | None
    statement: str
    quote: str
    session: int
    said_by: str | None = None
    context: tuple[str, ...] = ()
    dates: tuple[str, str] | None = None
    disputed: bool = False

    def brief(self) -> dict[str, Quotable]:
        data: dict[str, Quotable] = {
            "unit": self.number,
            "kind": self.kind,
            "time": self.time,
            "statement": self.statement,
        }
        if self.said_by is not None:
            data["said_by"] = self.said_by
        if self.dates is not None:
            data |= {"from": self.dates[0], "to": self.dates[1]}
        return {**data, "disputed": True} if self.disputed else data

    def with_quote(self) -> dict[str, Quotable]:
        """For the adjudicator."""
        data = {**self.brief(), "quote": self.quote}
        return {**data, "context": list(self.context)} if self.context else data


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a question requires: unit numbers with reasons, and by unit what is as good as it."""

    decision: Decision
    required: tuple[tuple[int, str], ...]
    reason: str
    alternatives: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(number for number, _ in self.required)


def question_data(question: Question) -> Quotable:
    return {"question": question.text, "asked": question.asked_at, "answer": question.answer}


QuestionsAndUnits = Mapping[str, tuple[Sequence[Question], Sequence[ShownUnit]]]
"""By conversation: its questions and its units."""


def find_requirements(
    asked: QuestionsAndUnits, session: ModelSession, model: str
) -> dict[tuple[str, str], Requirement | None]:
    """By conversation and question id; None if the model gave no valid reply."""
    work = [
        (owner, question, part)
        for owner, (questions, units) in asked.items()
        for question in questions
        for part in parts(units)
    ]
    blocks: list[tuple[str, dict[str, Quotable]]] = [
        (owner, {"question": question_data(question), "units": [unit.brief() for unit in part]})
        for owner, question, part in work
    ]
    replies = session.ask_pass(STAGE, blocks, RequirementsReply, model)
    gathered: dict[tuple[str, str], list[Requirement | None]] = {
        (owner, question.id): []
        for owner, (questions, _) in asked.items()
        for question in questions
    }
    for (owner, question, part), reply in zip(work, replies, strict=True):
        answer = None if reply is None else _requirement(reply, part, owner, question.id, session)
        gathered[owner, question.id].append(answer)
    return {key: merge_parts(answers) for key, answers in gathered.items()}


def parts(units: Sequence[ShownUnit]) -> Iterator[Sequence[ShownUnit]]:
    """The units in parts of one request each; one empty part if there are none."""
    # One part even without units: the question still has to be decided.
    start = length = 0
    for place, unit in enumerate(units):
        if place > start and length + len(unit.statement) > MAX_CHARACTERS:
            yield units[start:place]
            start, length = place, 0
        length += len(unit.statement)
    yield units[start:]


def _requirement(
    reply: RequirementsReply,
    part: Sequence[ShownUnit],
    owner: str,
    question: str,
    session: ModelSession,
) -> Requirement | None:
    """The requirement without unknown units; None if nothing is left."""
    shown = {unit.number for unit in part}
    alternatives = {
        row.unit: tuple(sorted(row.alternatives)) for row in reply.required if row.alternatives
    }
    named = [
        number for row in reply.required for number in (row.unit, *alternatives.get(row.unit, ()))
    ]
    for number in named:
        if number not in shown:
            session.ledger.refuse(owner, STAGE, "unknown unit", f"{question}: unit {number}")
    kept = tuple((row.unit, row.reason) for row in reply.required if row.unit in shown)
    # An answer that rests on a unit nobody was shown is not supported by what is left of it.
    unknown = len(kept) < len(reply.required)
    if unknown and not kept:
        return None
    decision: Decision = "unsupported" if unknown else reply.decision
    shown_alternatives = {
        unit: tuple(number for number in others if number in shown)
        for unit, others in alternatives.items()
        if unit in shown and shown & set(others)
    }
    return Requirement(decision, tuple(sorted(kept)), reply.reason, shown_alternatives)


def merge_parts(parts: Sequence[Requirement | None]) -> Requirement | None:
    """The parts of one question together. A part without evidence cannot know what others have."""
    answered = [part for part in parts if part is not None]
    if len(answered) < len(parts) or not answered:
        return None
    # One part of the units may hold all the evidence, while every other part rightly says that it
    # has none.
    ranked = ("supported", "contradicted", "unsupported", "unanswerable")
    decisive = [part for part in answered if part.required or part.decision == "unanswerable"]
    first = min(decisive or answered, key=lambda part: ranked.index(part.decision))
    required = tuple(sorted(row for part in answered for row in part.required))
    alternatives = {unit: others for part in answered for unit, others in part.alternatives.items()}
    return Requirement(first.decision, required, first.reason, alternatives)
