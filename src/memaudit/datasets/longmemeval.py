"""LongMemEval: one record a question, with the sessions to search (oracle, S and M files)."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.datasets.conversation import Conversation, Question, Session, Turn
from memaudit.datasets.fields import Fields, Names, resolve
from memaudit.datasets.irregularities import Loaded
from memaudit.datasets.json_stream import opened_record, records

RECORD = frozenset({
    "question_id", "question_type", "question", "answer", "question_date", "haystack_dates",
    "haystack_session_ids", "haystack_sessions", "answer_session_ids",
})  # fmt: skip
TURN = frozenset({"role", "content", "has_answer"})
ROLES = frozenset({"user", "assistant"})
ABSTENTION = "_abs"


class LongMemEval:
    """A list of records; turns marked `has_answer` are the evidence."""

    name = "longmemeval"
    about = "LongMemEval oracle, S or M: a JSON list, one question and its haystack a record"

    def recognises(self, keys: frozenset[str]) -> bool:
        """By the haystack."""
        return "haystack_sessions" in keys

    def conversations(self, path: Path) -> Iterator[Loaded]:
        """One conversation a record."""
        names = Names()
        for place, data in records(path):
            yield _load(data, place, names)


def _load(data: dict[str, object], place: int, names: Names) -> Loaded:
    record = opened_record(data, "question_id", place, names)
    record.only(RECORD)
    sessions, marked, session_names = _sessions(record)
    question = _question(record, sessions, marked, session_names)
    conversation = Conversation(record.id, sessions, (question,))
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "haystack_dates")
    return Loaded(conversation, record.notes.of(record.id))


def _sessions(record: Fields) -> tuple[tuple[Session, ...], tuple[str, ...], Names]:
    """The haystack, the ids of the turns marked as evidence, and the sessions' ids."""
    haystack = record.rows("haystack_sessions")
    for name in ("haystack_session_ids", "haystack_dates"):
        count = len(record.rows(name))
        if count != len(haystack):
            found = f"{count} entries for {len(haystack)} sessions"
            record.note("lists of different lengths", name, found)
    names, turn_names = Names(), Names()
    sessions: list[Session] = []
    marked: list[str] = []
    for index, rows in enumerate(haystack):
        entry = Fields(_entry(record, index), "haystack", record.id, record.notes)
        id = names.take_noted(
            entry.label("session_id"), f"session-{index + 1}", record.notes, "haystack_session_ids"
        )
        entry.id = id
        time = entry.time("date")
        turns: list[Turn] = []
        if rows == []:
            entry.note("empty session", "session")
        for place, turn in Fields({"turns": rows}, "haystack", id, record.notes).objects("turns"):
            turn_id = turn_names.take(f"{id}:{place + 1}")
            turn.id = turn_id
            turns.append(_turn(turn, turn_id, id, place, time))
            if turn.flag("has_answer"):
                marked.append(turn_id)
        sessions.append(Session(id, index, time, tuple(turns)))
    return tuple(sessions), tuple(marked), names


def _entry(record: Fields, index: int) -> dict[str, object]:
    """What the lists beside the sessions say of one."""
    found: dict[str, object] = {}
    for name, key in (("haystack_session_ids", "session_id"), ("haystack_dates", "date")):
        column = record.data.get(name)
        if isinstance(column, list) and index < len(column):
            found[key] = column[index]
    return found


def _turn(row: Fields, id: str, session: str, place: int, time: str | None) -> Turn:
    row.only(TURN)
    role = row.text("role") or "unknown"
    if role not in ROLES:
        row.note("unknown speaker", "role", role)
    return Turn(id, session, place, role, role, row.spoken("content"), time)


def _question(
    record: Fields, sessions: tuple[Session, ...], marked: tuple[str, ...], names: Names
) -> Question:
    asked_at = record.time("question_date")
    abstention = str(record.data.get("question_id")).endswith(ABSTENTION)
    cited = resolve(
        record.rows("answer_session_ids"), names, record.notes, "answer_session_ids", record.id
    )
    evidence = set(marked)
    for session in sessions:
        # A question dated to the day is asked at its end.
        if asked_at and session.timestamp and session.timestamp[: len(asked_at)] > asked_at:
            found = f"{session.timestamp}, asked {asked_at}"
            record.notes.add("session after the question", "haystack_dates", session.id, found)
        if session.id not in cited and any(turn.id in evidence for turn in session.turns):
            record.notes.add("evidence outside the cited sessions", "has_answer", session.id)
    if not marked and not abstention:
        record.note("no evidence", "has_answer")
    return Question(
        id=record.id,
        text=record.spoken("question"),
        answer=record.text("answer"),
        kind=record.text("question_type") or "unknown",
        evidence=marked,
        evidence_sessions=cited,
        asked_at=asked_at,
        abstention=abstention,
        references=len(marked),
    )
