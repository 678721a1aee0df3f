"""Pass c: which units a question requires, from question, answer and units."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from memaudit.datasets.conversation import Question
from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.prompts import pass_prompt

STAGE = "requirements"
MOST_LETTERS = 40_000
"""Unit text in one request; longer lists are asked about in parts."""

Decision = Literal["supported", "unsupported", "unanswerable"]


class RequiredRow(StrictRow):
    """A unit that the answer needs."""

    unit: int
    reason: str


class RequirementsReply(StrictRow):
    """The reply of this pass."""

    decision: Decision
    required: list[RequiredRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "RequirementsReply":
        if len({one.unit for one in self.required}) < len(self.required):
            raise ValueError("a unit appears twice")
        if self.decision == "supported" and not self.required:
            raise ValueError("a supported answer requires at least one unit")
        return self


@dataclass(frozen=True, slots=True)
class ShownUnit:
    """A unit as questions are compared with it; numbers count from 1."""

    number: int
    kind: str
    time: str | None
    statement: str
    quote: str
    session: int

    def brief(self) -> Quotable:
        """For this pass."""
        return {
            "unit": self.number,
            "kind": self.kind,
            "time": self.time,
            "statement": self.statement,
        }

    def with_quote(self) -> Quotable:
        """For the adjudicator."""
        return {
            "unit": self.number,
            "kind": self.kind,
            "time": self.time,
            "statement": self.statement,
            "quote": self.quote,
        }


@dataclass(frozen=True, slots=True)
class Need:
    """What a question requires: unit numbers with reasons."""

    decision: Decision
    required: tuple[tuple[int, str], ...]
    reason: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The required units."""
        return tuple(number for number, _ in self.required)


def question_data(question: Question) -> Quotable:
    """A question as the labelling passes see it."""
    return {"question": question.text, "asked": question.asked_at, "answer": question.answer}


Asked = Mapping[str, tuple[Sequence[Question], Sequence[ShownUnit]]]
"""By conversation: its questions and its units."""


def find_requirements(
    asked: Asked, session: ModelSession, model: str
) -> dict[tuple[str, str], Need | None]:
    """By conversation and question id; None where the model gave no valid reply."""
    used = pass_prompt(STAGE)
    work = [
        (owner, question, part)
        for owner, (questions, units) in asked.items()
        for question in questions
        for part in parts(units)
    ]
    requests = [
        (
            owner,
            Request.for_reply(
                RequirementsReply, model,
                used.messages(
                    question=question_data(question), units=[unit.brief() for unit in part]
                ),
                used.template, session.parameters,
            ),
        )
        for owner, question, part in work
    ]  # fmt: skip
    replies = session.ask(STAGE, requests, RequirementsReply)
    gathered: dict[tuple[str, str], list[Need | None]] = {
        (owner, question.id): []
        for owner, (questions, _) in asked.items()
        for question in questions
    }
    for (owner, question, part), reply in zip(work, replies, strict=True):
        need = None if reply is None else _need(reply, part, owner, question.id, session)
        gathered[owner, question.id].append(need)
    return {place: _together(needs) for place, needs in gathered.items()}


def parts(units: Sequence[ShownUnit]) -> Iterator[Sequence[ShownUnit]]:
    """The units in runs that one request can hold; one empty run where there are none."""
    start = letters = 0
    for place, unit in enumerate(units):
        if place > start and letters + len(unit.statement) > MOST_LETTERS:
            yield units[start:place]
            start, letters = place, 0
        letters += len(unit.statement)
    yield units[start:]


def _need(
    reply: RequirementsReply,
    part: Sequence[ShownUnit],
    owner: str,
    question: str,
    session: ModelSession,
) -> Need | None:
    """The need, without units that were not shown; None if nothing is left of it."""
    shown = {unit.number for unit in part}
    unknown = [one for one in reply.required if one.unit not in shown]
    for one in unknown:
        session.ledger.refuse(owner, STAGE, "unknown unit", f"{question}: unit {one.unit}")
    kept = tuple((one.unit, one.reason) for one in reply.required if one.unit in shown)
    if unknown and not kept:
        return None
    decision: Decision = "unsupported" if unknown else reply.decision
    return Need(decision, tuple(sorted(kept)), reply.reason)


def _together(needs: Sequence[Need | None]) -> Need | None:
    """What the parts say together; a part without any evidence cannot know what others have."""
    answered = [need for need in needs if need is not None]
    if len(answered) < len(needs) or not answered:
        return None
    ranked = ("supported", "unsupported", "unanswerable")
    telling = [one for one in answered if one.required or one.decision == "unanswerable"]
    first = min(telling or answered, key=lambda need: ranked.index(need.decision))
    required = tuple(sorted(row for need in answered for row in need.required))
    return Need(first.decision, required, first.reason)
