"""A chat written by hand: JSONL rows, each a conversation, session, turn or question by its key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Question, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    Notes,
    RecordFields,
    field_names,
    resolve_references,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import json_lines

ROWS = {
    "conversation": frozenset({"conversation", "topic"}),
    "session": frozenset({"session", "time"}),
    "text": field_names("id speaker role text time caption place"),
    "question": field_names("id question answer kind evidence time abstention adversarial_answer"),
}
"""The key that says what a row is, and everything such a row may hold."""


@dataclass(slots=True)
class _Draft:
    """A conversation while its rows come in."""

    id: str
    topic: str | None
    notes: Notes
    sessions: list[tuple[str, str | None, list[Turn]]] = field(default_factory=list)
    questions: list[RecordFields] = field(default_factory=list)
    session_ids: IdRegistry = field(default_factory=IdRegistry)
    turn_ids: IdRegistry = field(default_factory=IdRegistry)


class Chat:
    """Rows in the order things happened; a conversation ends where the next begins."""

    name = "chat"
    about = "a chat written by hand: JSONL rows of conversations, sessions, turns and questions"

    def recognises(self, keys: frozenset[str]) -> bool:
        """By the one key that says what a row is, if most of the others may accompany it."""
        kinds = keys & ROWS.keys()
        return len(kinds) == 1 and 2 * len(keys & ROWS[min(kinds)]) > len(keys)

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        draft: _Draft | None = None
        for line, data in json_lines(path):
            kinds = sorted(data.keys() & ROWS.keys())
            # Rows have no field for their type: a person writes these files, and forgets it.
            if len(kinds) != 1:
                present = " and ".join(map(repr, kinds)) or "none"
                raise MemAuditError(
                    f"{path.name}:{line}: a row has exactly one of the keys "
                    f"{', '.join(map(repr, ROWS))}; this one has {present}"
                )
            if draft is None or kinds == ["conversation"]:
                if draft is not None:
                    yield _finish(draft)
                draft = _begin(data, ids)
            row = RecordFields(data, kinds[0], f"line {line}", draft.notes)
            row.note_unknown(ROWS[kinds[0]])
            _add(draft, row, kinds[0])
        if draft is None:
            raise MemAuditError(f"{path.name}: is empty")
        yield _finish(draft)


def _begin(data: dict[str, object], ids: IdRegistry) -> _Draft:
    """A new conversation; rows before the first heading belong to one without a name."""
    notes = Notes()
    if "conversation" not in data:
        return _Draft(ids.assign("conversation-1"), None, notes)
    row = RecordFields(data, "conversation", "", notes)
    given = row.label("conversation")
    id = ids.assign_noted(given, "conversation-1", notes, "conversation")
    return _Draft(id, row.text("topic", required=False), notes)


def _add(draft: _Draft, row: RecordFields, kind: str) -> None:
    if kind == "session":
        _open_session(draft, row.label("session"), row.time("time", required=False))
    elif kind == "question":
        draft.questions.append(row)  # its evidence may come later
    elif kind == "text":
        if not draft.sessions:
            _open_session(draft, "session-1", None)
        draft.sessions[-1][2].append(_turn(draft, row))


def _open_session(draft: _Draft, given: str | None, time: str | None) -> None:
    default = f"session-{len(draft.sessions) + 1}"
    id = draft.session_ids.assign_noted(given, default, draft.notes, "session")
    draft.sessions.append((id, time, []))


def _turn(draft: _Draft, row: RecordFields) -> Turn:
    session, time, before = draft.sessions[-1]
    default = f"{session}:{len(before) + 1}"
    id = draft.turn_ids.assign_or(row.label("id"), default, row.notes, "id")
    speaker = row.text("speaker", required=False) or "user"
    role = row.text("role", required=False) or ("assistant" if speaker == "assistant" else "user")
    return Turn(
        id,
        session,
        len(before),
        speaker,
        role,
        row.required_text("text"),
        row.time("time", required=False) or time,
        row.text("caption", required=False),
        row.text("place", required=False),
    )


def _finish(draft: _Draft) -> LoadedConversation:
    sessions = tuple(
        Session(id, index, time, tuple(turns))
        for index, (id, time, turns) in enumerate(draft.sessions)
    )
    for session in sessions:
        if not session.turns:
            draft.notes.add("empty session", "session", session.id)
    ids = IdRegistry()
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = tuple(
        _question(draft, row, f"q{number}", home, ids)
        for number, row in enumerate(draft.questions, start=1)
    )
    conversation = Conversation(draft.id, sessions, questions, (), draft.topic)
    if not conversation.is_in_time_order:
        draft.notes.add("sessions out of order", "session", draft.id)
    return LoadedConversation(conversation, draft.notes.of(draft.id))


def _question(
    draft: _Draft, row: RecordFields, default: str, home: dict[str, str], ids: IdRegistry
) -> Question:
    """A question; `default` is its id where the row has none, `home` the session of each turn."""
    id = ids.assign_or(row.label("id"), default, row.notes, "question.id")
    abstention = row.flag("abstention")
    cited = row.rows("evidence", required=False)
    # Whole sessions may be cited where nobody wants to count turns.
    sessions = [reference for reference in cited if _names_session(reference, draft)]
    turns = [reference for reference in cited if not _names_session(reference, draft)]
    evidence = resolve_references(turns, draft.turn_ids, row.notes, "question.evidence", row.id)
    named = resolve_references(sessions, draft.session_ids, row.notes, "question.evidence", row.id)
    if not cited and not abstention:
        row.note("no evidence", "evidence")
    return Question(
        id=id,
        text=row.required_text("question"),
        answer=row.text("answer", required=not abstention),
        kind=row.text("kind", required=False) or "question",
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys([*(home[turn] for turn in evidence), *named])),
        asked_at=row.time("time", required=False),
        abstention=abstention,
        adversarial_answer=row.text("adversarial_answer", required=False),
        references=len(cited),
    )


def _names_session(reference: object, draft: _Draft) -> bool:
    """Whether a reference means a session; a turn of the same id takes precedence."""
    id = str(reference)
    return id not in draft.turn_ids and id in draft.session_ids
