"""From needs and verdicts to what each query requires, and whether it counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memaudit.datasets.shape import Question
from memaudit.natural.passes.adjudication import Verdict
from memaudit.natural.passes.requirements import Need

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
