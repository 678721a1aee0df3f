"""Pass e: another model checks units and requirements, question by question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import model_validator

from memaudit.datasets.conversation import Question
from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.passes.requirements import MOST_LETTERS, Need, ShownUnit, question_data
from memaudit.natural.prompts import pass_prompt

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
    proposals: Mapping[Place, Proposal], session: ModelSession, model: str
) -> dict[Place, Verdict | None]:
    """A verdict for each proposal; None where the adjudicator gave no valid reply."""
    used = pass_prompt(STAGE)
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
                used.template, session.parameters,
            ),
        )
        for (owner, _), one in proposals.items()
    ]  # fmt: skip
    replies = session.ask(STAGE, requests, AdjudicationReply)
    return {
        place: None if reply is None else _verdict(reply, proposal, place, session)
        for (place, proposal), reply in zip(proposals.items(), replies, strict=True)
    }


def _verdict(
    reply: AdjudicationReply, proposal: Proposal, place: Place, session: ModelSession
) -> Verdict:
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
        session.ledger.refuse(owner, STAGE, what, f"{question}: {problem}")
        return Verdict("ambiguous", f"the verdict {problem}; it said: {reply.reason}")
    if reply.verdict != "corrected":
        return Verdict(reply.verdict, reply.reason)
    known = {unit.number: unit.statement for unit in proposal.units}
    rewrites = tuple((unit, text) for unit, text in rewrites if known[unit] != text)
    if not rewrites and required == proposal.need.numbers:
        session.ledger.refuse(owner, STAGE, "correction without change", question)
        return Verdict("accepted", reply.reason)
    return Verdict("corrected", reply.reason, required, rewrites)


ACCEPTED, CORRECTED, AMBIGUOUS, REJECTED = "accepted", "corrected", "ambiguous", "rejected"
UNADJUDICATED = "unadjudicated"
"""No adjudicator was asked."""
UNSUPPORTED = "unsupported"
"""The units do not support the answer, and nobody corrected that."""
FAILED = "failed"
"""The model gave no valid reply about the question."""
INCOMPLETE = "incomplete"
"""Of a package: memories, units or cells are missing because replies are."""
UNASKED = "without questions"

IN_POOL = (ACCEPTED, CORRECTED, UNADJUDICATED)
"""What scores may be computed from."""

QUERY_STATUSES = (
    ACCEPTED, CORRECTED, AMBIGUOUS, REJECTED, UNADJUDICATED, UNSUPPORTED, FAILED,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of a question: the units it requires, why, and its status."""

    status: str
    required: tuple[int, ...]
    why: Mapping[int, str]
    reason: str
    before: tuple[int, ...] | None = None
    """The units required before a correction."""


@dataclass(slots=True)
class Rulings:
    """All questions of a conversation, and the units that were reworded on the way."""

    questions: dict[str, Ruling] = field(default_factory=dict)
    rewrites: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By unit: the new statement, and the question whose verdict asks for it."""

    @property
    def required(self) -> set[int]:
        """Units that some question requires."""
        return {number for ruling in self.questions.values() for number in ruling.required}

    def counts(self) -> dict[str, int]:
        """How many questions have which status; every status is listed."""
        found = Counter(ruling.status for ruling in self.questions.values())
        return {status: found[status] for status in QUERY_STATUSES}


def rule(
    questions: Sequence[Question],
    needs: Mapping[str, Need | None],
    verdicts: Mapping[str, Verdict | None] | None,
) -> Rulings:
    """The rulings in the order of the questions; the first rewrite of a unit stands."""
    found = Rulings()
    for question in questions:
        need = needs[question.id]
        if need is None:
            found.questions[question.id] = Ruling(FAILED, (), {}, "no valid reply")
        elif verdicts is None:
            found.questions[question.id] = _plain(need)
        else:
            found.questions[question.id] = _judged(question.id, need, verdicts[question.id], found)
    return found


def _plain(need: Need) -> Ruling:
    status = UNSUPPORTED if need.decision == "unsupported" else UNADJUDICATED
    return Ruling(status, need.numbers, dict(need.required), need.reason)


def _judged(question: str, need: Need, verdict: Verdict | None, found: Rulings) -> Ruling:
    why = dict(need.required)
    if verdict is None:
        return Ruling(AMBIGUOUS, need.numbers, why, "the adjudicator gave no valid reply")
    if verdict.name == ACCEPTED and need.decision == "unsupported":
        return Ruling(UNSUPPORTED, need.numbers, why, need.reason)  # both say so
    if verdict.name != CORRECTED:
        return Ruling(verdict.name, need.numbers, why, verdict.reason)
    for unit, text in verdict.rewrites:
        known = found.rewrites.get(unit)
        if known is not None and known[0] != text:
            reason = f"wants unit {unit} reworded otherwise than {known[1]} does"
            return Ruling(AMBIGUOUS, need.numbers, why, reason)
    for unit, text in verdict.rewrites:
        found.rewrites.setdefault(unit, (text, question))
    kept = {unit: why.get(unit, "") for unit in verdict.required}
    return Ruling(CORRECTED, verdict.required, kept, verdict.reason, need.numbers)


def package_status(rulings: Rulings, holes: Sequence[str]) -> str:
    """The status of a package: holes first, then what its questions allow."""
    statuses = {ruling.status for ruling in rulings.questions.values()}
    if holes:
        return INCOMPLETE
    if not statuses:
        return UNASKED
    if not statuses & set(IN_POOL):
        out = (AMBIGUOUS, REJECTED, UNSUPPORTED, FAILED)
        return next(status for status in out if status in statuses)
    if CORRECTED in statuses:
        return CORRECTED
    return UNADJUDICATED if UNADJUDICATED in statuses else ACCEPTED
