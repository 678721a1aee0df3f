"""Evidence units and queries from the gold labels of a dataset."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from memaudit.building.transcript import Transcript, turn_text
from memaudit.conversations.conversation import MemoryPoint, Question
from memaudit.kernel.exact import exact
from memaudit.kernel.package.package import (
    ABSTENTION,
    CURRENT,
    STALE,
    SUPERSESSION,
    TEMPORAL,
    EvidenceUnit,
    Query,
    Source,
)
from memaudit.kernel.package.unit_parts import part_units
from memaudit.kernel.score.truth import REPLACED

FACT, PREFERENCE = "fact", "preference"
CHANGE = "supersession/"
"""Begins the ids of units that say that something was replaced."""
UPDATE_KINDS = frozenset({"knowledge-update", "update"})
"""Question kinds whose last evidence turn replaces the earlier ones."""

KIND_OF = {
    "temporal": TEMPORAL,
    "temporal-reasoning": TEMPORAL,
    "single-session-preference": PREFERENCE,
    "preference": PREFERENCE,
}
"""Unit kinds by the kind of the question that cites them; the default is a fact."""

PRIORITY = (CURRENT, STALE, TEMPORAL, PREFERENCE, FACT, ABSTENTION)
"""A turn cited by several questions is one unit, of the first of these kinds."""


@dataclass(frozen=True, slots=True)
class LocatedUnit:
    """A unit and the turns that state it: any of `turns`, or all together if `needs_all`.

    `statement` is the text that rules compare with, `quote` the part of it that annotators marked,
    `who` whom a text has to name to state the unit.
    A supersession unit has no turns: `replaces` are the outdated ones, `by` the current one.
    `parts` are names and words of its parts, if it has several, the core first.
    """

    unit: EvidenceUnit
    turns: tuple[str, ...]
    session: str | None
    statement: str
    quote: str = ""
    who: str = ""
    needs_all: bool = False
    replaces: tuple[str, ...] = ()
    by: str | None = None
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def units(self) -> tuple[EvidenceUnit, ...]:
        """What stands for it in the package: itself, or the units of its parts."""
        return part_units(self.unit, self.parts)


def gold_evidence(
    transcript: Transcript, questions: Sequence[Question]
) -> tuple[list[LocatedUnit], list[Query]]:
    """A unit per cited turn, a supersession per update, and the queries that require them.

    What an update replaced is a unit that no update requires: knowing it answers no question. Where
    a question of another kind cites the turn, such as one about the past, that one requires it.
    """
    replaced = {turn for question in questions for turn in replaced_turns(transcript, question)}
    required: dict[str, list[str]] = {}
    kinds: dict[str, set[str]] = defaultdict(set)
    whole_sessions: dict[str, None] = {}
    changes: list[LocatedUnit] = []
    for question in questions:
        cited = sorted(question.evidence, key=lambda turn: transcript.place[turn])
        is_update = question.kind in UPDATE_KINDS and not question.abstention
        required[question.id] = [
            turn for turn in cited if not (is_update and turn in replaced and len(cited) > 1)
        ]
        for turn, kind in zip(cited, _kinds(question, len(cited)), strict=True):
            # A turn that one update made current and a later one replaced is no longer current.
            kinds[turn].add(STALE if kind == CURRENT and turn in replaced else kind)
        if is_update and len(cited) > 1:
            changes.append(_change(transcript, question.id, cited))
            required[question.id].append(changes[-1].unit.id)
        # Where a question cites a session and no turn, nothing short of all of it is known to be
        # evidence.
        if not cited and not question.abstention:
            sessions = [id for id in question.evidence_sessions if transcript.session[id].turns]
            whole_sessions.update(dict.fromkeys(sessions))
            required[question.id] = sessions
    units = [
        _turn_unit(transcript, turn, min(kinds[turn], key=PRIORITY.index))
        for turn in transcript.turn
        if turn in kinds
    ]
    units += [_session_unit(transcript, session) for session in whole_sessions]
    queries = [
        query_of(question, required[question.id], replaced_turns(transcript, question))
        for question in questions
    ]
    return units + changes, queries


def replaced_turns(transcript: Transcript, question: Question) -> tuple[str, ...]:
    """The turns that the last one an update cites has replaced, in order of time."""
    if question.kind not in UPDATE_KINDS or question.abstention:
        return ()
    cited = sorted(question.evidence, key=lambda turn: transcript.place[turn])
    return tuple(cited[:-1])


INTERFERENCE = "interference"
"""What a memory should not hold: such units weigh nothing."""


REPLACES = "replaces"
"""The attribute of a point's unit that names the units it updates."""


def point_evidence(
    transcript: Transcript, points: Sequence[MemoryPoint], questions: Sequence[Question]
) -> tuple[list[LocatedUnit], list[Query]]:
    """A unit per memory point of a dataset, with its importance as weight, and the queries that
    require points. A point that a later one updates is stale."""
    ids: dict[str, list[str]] = defaultdict(list)
    for point in points:
        ids[point.text].append(point.id)
    outdated = {text for point in points for text in point.replaces}
    units = []
    for point in points:
        kind = CURRENT if point.is_update else STALE if point.text in outdated else FACT
        weight = None if point.importance is None else exact(str(point.importance))
        if point.source == INTERFERENCE:
            kind, weight = INTERFERENCE, Fraction(0)
        attributes: dict[str, JsonValue] = {"type": point.kind, "source": point.source}
        if point.replaces:
            attributes[REPLACES] = [id for text in point.replaces for id in ids[text]]
        session = transcript.session_ids[point.session]
        unit = EvidenceUnit(
            id=point.id,
            kind=kind,
            text=point.text,
            timestamp=point.timestamp,
            weight=weight,
            sources=(Source(id=session, session=session),),
            attributes=attributes,
        )
        units.append(LocatedUnit(unit, (), session, point.text))
    return units, [query_of(question, question.evidence_points) for question in questions]


def query_of(question: Question, required: Sequence[str], replaced: Sequence[str] = ()) -> Query:
    """A question as a query of importance 1."""
    attributes: dict[str, JsonValue] = {"abstention": True} if question.abstention else {}
    if replaced:
        attributes[REPLACED] = list(replaced)
    return Query(
        id=question.id,
        text=question.text,
        answer=question.answer,
        kind=question.kind,
        required=tuple(required),
        attributes=attributes,
    )


def _kinds(question: Question, count: int) -> list[str]:
    """The kinds of a question's evidence, in order of time."""
    if question.abstention:
        return [ABSTENTION] * count
    if question.kind in UPDATE_KINDS and count > 1:
        return [STALE] * (count - 1) + [CURRENT]
    return [KIND_OF.get(question.kind, FACT)] * count


def _turn_unit(transcript: Transcript, id: str, kind: str) -> LocatedUnit:
    turn = transcript.turn[id]
    text = turn_text(turn)
    unit = EvidenceUnit(
        id=id,
        kind=kind,
        text=f"{turn.speaker}: {text}",
        timestamp=turn.timestamp,
        sources=(Source(id=id, session=turn.session, text=text),),
    )
    return LocatedUnit(unit, (id,), turn.session, text, who=turn.speaker)


def _session_unit(transcript: Transcript, id: str) -> LocatedUnit:
    session = transcript.session[id]
    turns = tuple(turn.id for turn in session.turns if turn_text(turn).strip())
    unit = EvidenceUnit(
        id=id,
        kind=FACT,
        text=f"All of session {id}",
        timestamp=session.timestamp,
        sources=(Source(id=id, session=id),),
    )
    statement = "\n".join(turn_text(turn) for turn in session.turns)
    return LocatedUnit(unit, turns, id, statement, needs_all=True)


def _change(transcript: Transcript, question: str, cited: Sequence[str]) -> LocatedUnit:
    """The supersession unit: the earlier turns no longer hold since the last one."""
    *old, new = cited
    turn = transcript.turn[new]
    unit = EvidenceUnit(
        id=f"{CHANGE}{question}",
        kind=SUPERSESSION,
        text=f"Since {new}, what {', '.join(old)} said no longer holds.",
        timestamp=turn.timestamp,
        sources=tuple(
            Source(id=id, session=transcript.turn[id].session, text=turn_text(transcript.turn[id]))
            for id in cited
        ),
    )
    return LocatedUnit(unit, (), turn.session, turn_text(turn), replaces=tuple(old), by=new)
