"""Pass e: another model checks units and requirements, question by question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from memaudit.datasets.shape import Question
from memaudit.models.quoted import Quotable
from memaudit.models.request import Request
from memaudit.natural.passes.desk import Desk
from memaudit.natural.passes.prompt import prompt
from memaudit.natural.passes.reply import StrictRow
from memaudit.natural.passes.requirements import MOST_LETTERS, Need, ShownUnit, question_data

STAGE = "adjudication"
VerdictName = Literal["accepted", "corrected", "ambiguous", "rejected"]


class RewriteRow(StrictRow):
    """A better statement of a unit."""

    unit: int
    statement: str


class AdjudicationReply(StrictRow):
    """The reply of this pass."""

    verdict: VerdictName
    required: list[int]
    rewrites: list[RewriteRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "AdjudicationReply":
        if len(set(self.required)) < len(self.required):
            raise ValueError("a required unit appears twice")
        if len({one.unit for one in self.rewrites}) < len(self.rewrites):
            raise ValueError("a unit is rewritten twice")
        if self.rewrites and self.verdict != "corrected":
            raise ValueError("only the verdict corrected comes with rewrites")
        return self


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the adjudicator says about a question; `required` and `rewrites` count if corrected."""

    name: VerdictName
    reason: str
    required: tuple[int, ...] = ()
    rewrites: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question with the need that is to be checked."""

    question: Question
    need: Need
    units: Sequence[ShownUnit]

    @property
    def shown(self) -> list[ShownUnit]:
        """All units; of a list too long, those of the sessions that the required ones are from."""
        if sum(len(one.statement) + len(one.quote) for one in self.units) <= MOST_LETTERS:
            return list(self.units)
        required = set(self.need.numbers)
        sessions = {one.session for one in self.units if one.number in required}
        return [one for one in self.units if one.session in sessions]

    def as_data(self) -> Quotable:
        """The annotator's decision as the prompt shows it."""
        return {
            "decision": self.need.decision,
            "required": [
                {"unit": number, "reason": reason} for number, reason in self.need.required
            ],
            "reason": self.need.reason,
        }


Place = tuple[str, str]
"""A conversation and a question."""


def adjudicate(
    proposals: Mapping[Place, Proposal], desk: Desk, model: str
) -> dict[Place, Verdict | None]:
    """A verdict for each proposal; None where the adjudicator gave no valid reply."""
    used = prompt(STAGE)
    requests = [
        (
            owner,
            Request.for_reply(
                AdjudicationReply, model,
                used.messages(
                    question=question_data(one.question),
                    units=[unit.with_quote() for unit in one.shown],
                    proposal=one.as_data(),
                ),
                used.template, desk.parameters,
            ),
        )
        for (owner, _), one in proposals.items()
    ]  # fmt: skip
    replies = desk.ask(STAGE, requests, AdjudicationReply)
    return {
        place: None if reply is None else _verdict(reply, proposal, place, desk)
        for (place, proposal), reply in zip(proposals.items(), replies, strict=True)
    }


def _verdict(reply: AdjudicationReply, proposal: Proposal, place: Place, desk: Desk) -> Verdict:
    """The verdict; one that contradicts itself or names units it was not shown is ambiguous."""
    owner, question = place
    shown = {unit.number for unit in proposal.shown}
    required = tuple(sorted(reply.required))
    rewrites = tuple(sorted((one.unit, one.statement.strip()) for one in reply.rewrites))
    unknown = sorted({*required, *(unit for unit, _ in rewrites)} - shown)
    problem = ""
    if unknown:
        problem = f"names the unknown unit {unknown[0]}"
    elif reply.verdict != "corrected" and required and required != proposal.need.numbers:
        problem = f"is {reply.verdict} and yet requires other units"
    elif not all(text for _, text in rewrites):
        problem = "rewrites a unit as nothing"
    if problem:
        what = "unknown unit" if unknown else "contradicts itself"
        desk.ledger.refuse(owner, STAGE, what, f"{question}: {problem}")
        return Verdict("ambiguous", f"the verdict {problem}; it said: {reply.reason}")
    if reply.verdict != "corrected":
        return Verdict(reply.verdict, reply.reason)
    known = {unit.number: unit.statement for unit in proposal.units}
    rewrites = tuple((unit, text) for unit, text in rewrites if known[unit] != text)
    if not rewrites and required == proposal.need.numbers:
        desk.ledger.refuse(owner, STAGE, "correction without change", question)
        return Verdict("accepted", reply.reason)
    return Verdict("corrected", reply.reason, required, rewrites)
