"""HaluMem: users with dated sessions, the memory points of each, and questions that cite points."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from memaudit.conversations.conversation import Conversation, MemoryPoint, Question, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    RecordFields,
    as_text,
    record_fields,
)
from memaudit.kernel.io.foreign_json import records
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.io.timestamps import MONTHS

ROLES = frozenset({"user", "assistant"})
SOURCES = frozenset({"primary", "secondary", "interference", "system"})
ABSTENTION = "Memory Boundary"
"""The type of questions about what no memory point tells."""

_MONTHS = [month[:3].capitalize() for month in MONTHS]
# Not strptime, which reads months in the language of the machine.
_TIME = re.compile(
    rf"(?P<month>{'|'.join(_MONTHS)}) (?P<day>[0-9]{{1,2}}), (?P<year>[0-9]{{4}}), "
    r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
)


class HaluMem:
    """A JSONL file, a line per user; a session's questions are asked when it has ended."""

    name = "halumem"
    about = "HaluMem Medium or Long: JSONL of users with sessions, memory points and questions"

    def recognises(self, keys: frozenset[str]) -> bool:
        return {"persona_info", "sessions"} <= keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        for place, data in records(path):
            yield _load(data, place, ids)


@dataclass(slots=True)
class _Draft:
    """A user's sessions while they are read; questions wait until all points are known."""

    sessions: list[Session] = field(default_factory=list)
    points: list[MemoryPoint] = field(default_factory=list)
    questions: list[tuple[RecordFields, str, str | None]] = field(default_factory=list)


def _load(data: dict[str, object], place: int, ids: IdRegistry) -> LoadedConversation:
    record = record_fields(data, "uuid", place, ids)
    draft = _Draft()
    for number, row in record.objects("sessions"):
        _add_session(draft, row, number)
    questions = tuple(
        _question(row, f"q{number}", session, asked_at, draft.points)
        for number, (row, session, asked_at) in enumerate(draft.questions, start=1)
    )
    conversation = Conversation(
        record.id, tuple(draft.sessions), questions, memory_points=tuple(draft.points)
    )
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "sessions")
    return LoadedConversation(conversation, record.notes.of(record.id))


def _add_session(draft: _Draft, row: RecordFields, place: int) -> None:
    id = f"session-{place + 1}"
    row.id = id
    begins, ends = _time(row, "start_time"), _time(row, "end_time")
    turns = tuple(_turn(message, id, number, begins) for number, message in row.objects("dialogue"))
    if not turns:
        row.note("empty session", "dialogue")
    draft.sessions.append(Session(id, len(draft.sessions), begins, turns))
    ids = IdRegistry()
    for number, point in row.objects("memory_points"):
        draft.points.append(_point(point, id, number, ids))
    # Questions wait until all sessions are read: they may cite points of later ones.
    if "questions" in row.data:  # a session that nothing is asked about may have none
        draft.questions += [(question, id, ends) for _, question in row.objects("questions")]


def _turn(row: RecordFields, session: str, place: int, time: str | None) -> Turn:
    row.id = f"{session}:{place + 1}"
    role = row.text("role") or "unknown"
    if role not in ROLES:
        row.note("unknown speaker", "role", role)
    own_time = _time(row, "timestamp", required=False)
    return Turn(row.id, session, place, role, role, row.required_text("content"), own_time or time)


def _point(row: RecordFields, session: str, place: int, ids: IdRegistry) -> MemoryPoint:
    # Indexes begin again in every session, so a point is named with its session.
    number = ids.assign_noted(row.label("index"), f"place-{place + 1}", row.notes, "index")
    row.id = f"{session}/point-{number}"
    source = row.text("memory_source") or "unknown"
    if source not in SOURCES:
        row.note("unknown category", "memory_source", source)
    earlier = row.rows("original_memories", required=False)
    place_name = row.place("original_memories")
    replaced = [as_text(text, row.notes, place_name, row.id) for text in earlier]
    return MemoryPoint(
        id=row.id,
        session=session,
        text=row.required_text("memory_content"),
        kind=row.text("memory_type") or "unknown",
        source=source if source in SOURCES else "unknown",
        importance=_importance(row),
        is_update=_is_update(row),
        replaces=tuple(text for text in replaced if text),
        timestamp=_time(row, "timestamp", required=False),
    )


def _importance(row: RecordFields) -> float | None:
    value = row.data.get("importance")
    if isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    if value is None:
        row.note("missing field", "importance")
    else:
        shown = value if isinstance(value, int | Decimal) else kind_of(value)
        row.note("wrong type", "importance", f"{shown}, not a number from 0 to 1")
    return None


def _is_update(row: RecordFields) -> bool:
    """The published files write "True" and "False" as text."""
    value = row.data.get("is_update")
    if isinstance(value, bool):
        return value
    if value not in ("True", "False"):
        row.note("wrong type", "is_update", f"{kind_of(value)}, not True or False")
    return value == "True"


def _question(
    row: RecordFields, id: str, session: str, asked_at: str | None, points: list[MemoryPoint]
) -> Question:
    row.id = id
    kind = row.text("question_type") or "unknown"
    abstention = kind == ABSTENTION
    cited = row.rows("evidence")
    found: dict[str, MemoryPoint] = {}
    for _, evidence in row.objects("evidence") if cited else ():
        point = _cited(evidence, session, points)
        if point is not None and point.id in found:
            row.note("repeated reference", "evidence", point.text)
        elif point is not None:
            found[point.id] = point
    if not cited and not abstention:
        row.note("no evidence", "evidence")
    return Question(
        id=id,
        text=row.required_text("question"),
        answer=row.text("answer"),
        kind=kind,
        evidence_sessions=tuple(dict.fromkeys(point.session for point in found.values())),
        asked_at=asked_at,
        abstention=abstention,
        references=len(cited),
        evidence_points=tuple(found),
    )


def _cited(row: RecordFields, session: str, points: list[MemoryPoint]) -> MemoryPoint | None:
    """The point with the cited text: that of the question's own session, or the only one."""
    text, kind = row.text("memory_content"), row.text("memory_type", required=False)
    if text is None:
        return None
    # Points are cited by their text alone, and the same text may be a point of several sessions.
    same = [point for point in points if point.text == text]
    own = [point for point in same if point.session == session]
    alike = [point for point in own or same if point.kind == kind]
    same = alike or own or same
    if len(same) != 1:
        what = "ambiguous reference" if same else "reference to nothing"
        row.notes.add(what, row.where, row.id, text)
        return None
    return same[0]


def _time(row: RecordFields, name: str, required: bool = True) -> str | None:
    """A time such as `Dec 15, 2025, 08:41:23`, in any locale."""
    text = row.text(name, required)
    if text is None:
        return None
    match = _TIME.fullmatch(text)
    try:
        if match:
            parts = match.groupdict()
            day = int(parts["year"]), _MONTHS.index(parts["month"]) + 1, int(parts["day"])
            clock = int(parts["hour"]), int(parts["minute"]), int(parts["second"])
            return datetime(*day, *clock).isoformat()
    except ValueError:  # a 31st of June
        pass
    row.note("time not understood", name, text)
    return None
