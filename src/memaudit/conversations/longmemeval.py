"""LongMemEval: one record per question, with the sessions to search (oracle, S and M files)."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Question, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    RecordFields,
    record_fields,
    resolve_references,
)
from memaudit.kernel.io.foreign_json import records

ROLES = frozenset({"user", "assistant"})
ABSTENTION = "_abs"


class LongMemEval:
    """A list of records; turns marked `has_answer` are the evidence."""

    name = "longmemeval"
    about = "LongMemEval oracle, S or M: a JSON list, one question and its haystack per record"

    def recognises(self, keys: frozenset[str]) -> bool:
        return "haystack_sessions" in keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        for place, data in records(path):
            yield _load(data, place, ids)


def _load(data: dict[str, object], place: int, ids: IdRegistry) -> LoadedConversation:
    record = record_fields(data, "question_id", place, ids)
    sessions, marked, session_ids = _sessions(record)
    question = _question(record, sessions, marked, session_ids)
    conversation = Conversation(record.id, sessions, (question,))
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "haystack_dates")
    return LoadedConversation(conversation, record.notes.of(record.id))


def _sessions(record: RecordFields) -> tuple[tuple[Session, ...], tuple[str, ...], IdRegistry]:
    """The haystack, the ids of the turns marked as evidence, and the sessions' ids."""
    haystack = record.rows("haystack_sessions")
    for name in ("haystack_session_ids", "haystack_dates"):
        count = len(record.rows(name))
        if count != len(haystack):
            lengths = f"{count} entries for {len(haystack)} sessions"
            record.note("lists of different lengths", name, lengths)
    ids, turn_ids = IdRegistry(), IdRegistry()
    sessions: list[Session] = []
    marked: list[str] = []
    for index, rows in enumerate(haystack):
        entry = RecordFields(_entry(record, index), "haystack", record.id, record.notes)
        id = ids.assign_noted(
            entry.label("session_id"), f"session-{index + 1}", record.notes, "haystack_session_ids"
        )
        entry.id = id
        time = entry.time("date")
        turns: list[Turn] = []
        if rows == []:
            entry.note("empty session", "session")
        for place, turn in RecordFields({"turns": rows}, "haystack", id, record.notes).objects(
            "turns"
        ):
            turn.id = turn_ids.assign(f"{id}:{place + 1}")
            turns.append(_turn(turn, id, place, time))
            if turn.flag("has_answer"):
                marked.append(turn.id)
        sessions.append(Session(id, index, time, tuple(turns)))
    return tuple(sessions), tuple(marked), ids


def _entry(record: RecordFields, index: int) -> dict[str, object]:
    """What the lists beside the sessions say about one session."""
    entry: dict[str, object] = {}
    for name, key in (("haystack_session_ids", "session_id"), ("haystack_dates", "date")):
        column = record.data.get(name)
        if isinstance(column, list) and index < len(column):
            entry[key] = column[index]
    return entry


def _turn(row: RecordFields, session: str, place: int, time: str | None) -> Turn:
    role = row.text("role") or "unknown"
    if role not in ROLES:
        row.note("unknown speaker", "role", role)
    return Turn(row.id, session, place, role, role, row.required_text("content"), time)


def _question(
    record: RecordFields, sessions: tuple[Session, ...], marked: tuple[str, ...], ids: IdRegistry
) -> Question:
    asked_at = record.time("question_date")
    # Nothing but the end of its id says that a question cannot be answered.
    abstention = str(record.data.get("question_id")).endswith(ABSTENTION)
    cited = resolve_references(
        record.rows("answer_session_ids"), ids, record.notes, "answer_session_ids", record.id
    )
    # The turns that are marked are the evidence; the sessions that are named only bound it.
    evidence = set(marked)
    for session in sessions:
        # A question dated to the day is asked at its end.
        if asked_at and session.timestamp and session.timestamp[: len(asked_at)] > asked_at:
            times = f"{session.timestamp}, asked {asked_at}"
            record.notes.add("session after the question", "haystack_dates", session.id, times)
        if session.id not in cited and any(turn.id in evidence for turn in session.turns):
            record.notes.add("evidence outside the cited sessions", "has_answer", session.id)
    if not marked and not abstention:
        record.note("no evidence", "has_answer")
    return Question(
        id=record.id,
        text=record.required_text("question"),
        answer=record.text("answer"),
        kind=record.text("question_type") or "unknown",
        evidence=marked,
        evidence_sessions=cited,
        asked_at=asked_at,
        abstention=abstention,
        references=len(marked),
    )
