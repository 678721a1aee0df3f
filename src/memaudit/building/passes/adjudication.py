"""Pass e: another model checks units and requirements, question by question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field, model_validator

from memaudit.building.passes.requirements import (
    MAX_CHARACTERS,
    Requirement,
    ShownUnit,
    question_data,
)
from memaudit.conversations.conversation import Question
from memaudit.models.prompts import Quotable, StrictRow
from memaudit.models.session import ModelSession

STAGE = "adjudication"
VerdictName = Literal["accepted", "corrected", "ambiguous", "rejected"]


# The names and docstrings of reply types are part of every request's hash.
class RightRow(StrictRow):
    """A unit that is required."""

    unit: int
    alternatives: list[int] = Field(alias="or")


class RewriteRow(StrictRow):
    """A better statement of a unit."""

    unit: int
    statement: str


class AdjudicationReply(StrictRow):
    """The reply of this pass."""

    verdict: VerdictName
    required: list[RightRow]
    rewrites: list[RewriteRow]
    reason: str

    @model_validator(mode="after")
    def _holds_together(self) -> "AdjudicationReply":
        named = [number for row in self.required for number in (row.unit, *row.alternatives)]
        if len(set(named)) < len(named):
            raise ValueError("a required unit appears twice")
        if len({row.unit for row in self.rewrites}) < len(self.rewrites):
            raise ValueError("a unit is rewritten twice")
        if self.rewrites and self.verdict != "corrected":
            raise ValueError("only the verdict corrected comes with rewrites")
        return self


Alternatives = Mapping[int, tuple[int, ...]]
"""By required unit: the units that are as good as it."""


@dataclass(frozen=True, slots=True)
class AdjudicatorVerdict:
    """The adjudicator on a question; `required` and `rewrites` count only if corrected."""

    name: VerdictName
    reason: str
    required: tuple[int, ...] = ()
    rewrites: tuple[tuple[int, str], ...] = ()
    alternatives: Alternatives = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RequirementProposal:
    """A question with the requirement to be checked."""

    question: Question
    requirement: Requirement
    units: Sequence[ShownUnit]

    @property
    def shown(self) -> list[ShownUnit]:
        """All units, or those of the required units' sessions if the list is too long."""
        if sum(len(unit.statement) + len(unit.quote) for unit in self.units) <= MAX_CHARACTERS:
            return list(self.units)
        others = self.requirement.alternatives.values()
        required = {*self.requirement.numbers, *(number for some in others for number in some)}
        sessions = {unit.session for unit in self.units if unit.number in required}
        return [unit for unit in self.units if unit.session in sessions]

    @property
    def blocks(self) -> dict[str, Quotable]:
        """What the prompt shows: the question, the units and the annotator's decision."""
        given = self.requirement
        return {
            "question": question_data(self.question),
            "units": [unit.with_quote() for unit in self.shown],
            "proposal": {
                "decision": given.decision,
                "required": [self._row(number, reason) for number, reason in given.required],
                "reason": given.reason,
            },
        }

    def _row(self, number: int, reason: str) -> Quotable:
        others = self.requirement.alternatives.get(number, ())
        data: dict[str, Quotable] = {"unit": number, "reason": reason}
        return {**data, "or": list(others)} if others else data


QuestionKey = tuple[str, str]
"""A conversation and a question."""


def adjudicate(
    proposals: Mapping[QuestionKey, RequirementProposal],
    session: ModelSession,
    model: str,
) -> dict[QuestionKey, AdjudicatorVerdict | None]:
    """A verdict for each proposal; None if the adjudicator gave no valid reply."""
    blocks = [(owner, proposal.blocks) for (owner, _), proposal in proposals.items()]
    replies = session.ask_pass(STAGE, blocks, AdjudicationReply, model)
    return {
        place: None if reply is None else _verdict(reply, proposal, place, session)
        for (place, proposal), reply in zip(proposals.items(), replies, strict=True)
    }


def _verdict(
    reply: AdjudicationReply,
    proposal: RequirementProposal,
    place: QuestionKey,
    session: ModelSession,
) -> AdjudicatorVerdict:
    """The verdict. One that contradicts itself or names unknown units is ambiguous."""
    owner, question = place
    shown = {unit.number for unit in proposal.shown}
    required, alternatives = _required(reply)
    proposed = (proposal.requirement.numbers, dict(proposal.requirement.alternatives))
    rewrites = tuple(sorted((row.unit, row.statement.strip()) for row in reply.rewrites))
    others = {number for numbers in alternatives.values() for number in numbers}
    unknown = sorted({*required, *others, *(unit for unit, _ in rewrites)} - shown)
    problem = ""
    # A verdict that cannot be taken at its word is neither used nor repaired: the question drops
    # out.
    if unknown:
        problem = f"names the unknown unit {unknown[0]}"
    elif reply.verdict != "corrected" and required and required != proposed[0]:
        problem = f"is {reply.verdict} and yet requires other units"
    elif not all(text for _, text in rewrites):
        problem = "rewrites a unit as nothing"
    if problem:
        what = "unknown unit" if unknown else "contradicts itself"
        session.ledger.refuse(owner, STAGE, what, f"{question}: {problem}")
        return AdjudicatorVerdict("ambiguous", f"the verdict {problem}; it said: {reply.reason}")
    if reply.verdict != "corrected":
        return AdjudicatorVerdict(reply.verdict, reply.reason)
    statements = {unit.number: unit.statement for unit in proposal.units}
    rewrites = tuple((unit, text) for unit, text in rewrites if statements[unit] != text)
    # Models call a verdict corrected and change nothing; counted as such, it would look like an
    # error of the first model.
    if not rewrites and (required, alternatives) == proposed:
        session.ledger.refuse(owner, STAGE, "correction without change", question)
        return AdjudicatorVerdict("accepted", reply.reason)
    return AdjudicatorVerdict("corrected", reply.reason, required, rewrites, alternatives)


def _required(
    reply: AdjudicationReply,
) -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
    """The numbers in order, and by number what is as good."""
    numbers = tuple(sorted(row.unit for row in reply.required))
    return numbers, {
        row.unit: tuple(sorted(row.alternatives)) for row in reply.required if row.alternatives
    }


ACCEPTED, CORRECTED, AMBIGUOUS, REJECTED = "accepted", "corrected", "ambiguous", "rejected"
UNADJUDICATED = "unadjudicated"
"""No adjudicator was asked."""
UNSUPPORTED = "unsupported"
"""The units do not support the answer, and nothing was corrected."""
CONTRADICTED = "contradicted"
"""The units say something else than the answer, and nothing was corrected."""
FAILED = "failed"
"""The model gave no valid reply about the question."""
INCOMPLETE = "incomplete"
"""Of a package: memories, units or cells are missing because replies failed."""
UNASKED = "without questions"

OUT_OF_POOL = {"unsupported": UNSUPPORTED, "contradicted": CONTRADICTED}
"""By decision: the status of a question that cannot count."""

IN_POOL = (ACCEPTED, CORRECTED, UNADJUDICATED)
"""Statuses that count in scores."""

QUERY_STATUSES = (
    ACCEPTED,
    CORRECTED,
    AMBIGUOUS,
    REJECTED,
    UNADJUDICATED,
    UNSUPPORTED,
    CONTRADICTED,
    FAILED,
)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of a question: its status, required units and reasons."""

    status: str
    required: tuple[int, ...]
    why: Mapping[int, str]
    reason: str
    before: tuple[int, ...] | None = None
    """The units required before a correction."""
    alternatives: Alternatives = field(default_factory=dict)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """Each required unit with what is as good."""
        return [(number, *self.alternatives.get(number, ())) for number in self.required]


@dataclass(slots=True)
class Rulings:
    """The outcomes of a conversation's questions, and the reworded units."""

    questions: dict[str, Ruling] = field(default_factory=dict)
    rewrites: dict[int, tuple[str, str]] = field(default_factory=dict)
    """By unit: the new statement, and the question whose verdict asks for it."""

    @property
    def required(self) -> set[int]:
        """All units that a question requires, alone or as an alternative."""
        return {number for group in self.groups for number in group}

    @property
    def groups(self) -> set[tuple[int, ...]]:
        return {group for ruling in self.questions.values() for group in ruling.groups}

    def counts(self) -> dict[str, int]:
        """How many questions have which status; every status is listed."""
        counts = Counter(ruling.status for ruling in self.questions.values())
        return {status: counts[status] for status in QUERY_STATUSES}


def make_rulings(
    questions: Sequence[Question],
    requirements: Mapping[str, Requirement | None],
    verdicts: Mapping[str, AdjudicatorVerdict | None] | None,
) -> Rulings:
    """The rulings in the order of the questions. The first rewrite of a unit stands."""
    rulings = Rulings()
    for question in questions:
        requirement = requirements[question.id]
        if requirement is None:
            ruling = Ruling(FAILED, (), {}, "no valid reply")
        elif verdicts is None:
            ruling = _as_proposed(requirement, OUT_OF_POOL.get(requirement.decision, UNADJUDICATED))
        else:
            verdict = verdicts[question.id]
            ruling = _adjudicated(question.id, requirement, verdict, rulings.rewrites)
        rulings.questions[question.id] = ruling
    return rulings


def _adjudicated(
    question: str,
    requirement: Requirement,
    verdict: AdjudicatorVerdict | None,
    rewrites: dict[int, tuple[str, str]],
) -> Ruling:
    if verdict is None:
        return _as_proposed(requirement, AMBIGUOUS, "the adjudicator gave no valid reply")
    # Accepted means that the proposal is right, and the proposal says that the answer has no
    # evidence.
    if verdict.name == ACCEPTED and requirement.decision in OUT_OF_POOL:
        return _as_proposed(requirement, OUT_OF_POOL[requirement.decision])  # both say so
    if verdict.name != CORRECTED:
        return _as_proposed(requirement, verdict.name, verdict.reason)
    for unit, text in verdict.rewrites:
        # The unit is shared by questions, so two wordings cannot both stand. The first question's
        # does, and the other is out of the pool rather than scored by a text it did not ask for.
        earlier = rewrites.get(unit)
        if earlier is not None and earlier[0] != text:
            reason = f"wants unit {unit} reworded otherwise than {earlier[1]} does"
            return _as_proposed(requirement, AMBIGUOUS, reason)
    for unit, text in verdict.rewrites:
        rewrites.setdefault(unit, (text, question))
    reasons = dict(requirement.required)
    why = {unit: reasons.get(unit, "") for unit in verdict.required}
    return Ruling(
        CORRECTED, verdict.required, why, verdict.reason, requirement.numbers, verdict.alternatives
    )


def _as_proposed(requirement: Requirement, status: str, reason: str | None = None) -> Ruling:
    """The units of the requirement with this status."""
    said = requirement.reason if reason is None else reason
    return Ruling(
        status,
        requirement.numbers,
        dict(requirement.required),
        said,
        alternatives=requirement.alternatives,
    )


def package_status(rulings: Rulings, missing: Sequence[str]) -> str:
    """The status of a package: incomplete if parts are missing, else by its questions."""
    statuses = {ruling.status for ruling in rulings.questions.values()}
    if missing:
        return INCOMPLETE
    if not statuses:
        return UNASKED
    if not statuses & set(IN_POOL):
        out = (AMBIGUOUS, REJECTED, CONTRADICTED, UNSUPPORTED, FAILED)
        return next(status for status in out if status in statuses)
    if CORRECTED in statuses:
        return CORRECTED
    return UNADJUDICATED if UNADJUDICATED in statuses else ACCEPTED
