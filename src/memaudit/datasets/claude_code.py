"""Claude Code: a session file of `~/.claude/projects`, a message or an event on each line."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.datasets.conversation import Conversation, Session, Turn
from memaudit.datasets.records import (
    IdRegistry,
    LoadedConversation,
    Notes,
    RecordFields,
    as_text,
)
from memaudit.io.foreign_json import listed_or_lined

SPOKEN = frozenset({"user", "assistant"})
LINE = frozenset(
    {
        "type",
        "message",
        "uuid",
        "sessionId",
        "timestamp",
        "isSidechain",
        "parentUuid",
        "userType",
        "cwd",
        "version",
        "gitBranch",
        "requestId",
        "permissionMode",
        "isMeta",
        "toolUseResult",
        "entrypoint",
        "slug",
    }
)
MESSAGE = frozenset(
    {
        "role",
        "content",
        "id",
        "type",
        "model",
        "usage",
        "stop_reason",
        "stop_sequence",
    }
)
FIRST_LINES = (
    frozenset({"type", "message", "uuid", "sessionId"}),
    frozenset({"type", "summary", "leafUuid"}),
    frozenset({"type", "messageId", "snapshot"}),
)
"""What the first line of a file has: a message, a summary, or a snapshot of files."""

UNNAMED = "session"


class ClaudeCode:
    """One conversation for the file, named by its first session; a `sessionId` is a session.

    Side chains are the work of subagents, not what was said to the user, and are left out.
    """

    name = "claude-code"
    about = "Claude Code session files, JSONL: ~/.claude/projects/PROJECT/SESSION.jsonl"

    def recognises(self, keys: frozenset[str]) -> bool:
        return any(marks <= keys for marks in FIRST_LINES)

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        notes, ids = Notes(), IdRegistry()
        sessions: dict[str, list[Turn]] = {}
        times: dict[str, str | None] = {}
        for place, data in listed_or_lined(path):
            row = RecordFields(data, "", f"line-{place + 1}", notes)
            kind = row.text("type")
            if kind not in SPOKEN:
                row.note("system or tool message", "type", kind or "")
                continue
            session = row.label("sessionId") or UNNAMED
            turn = _turn(row, session, len(sessions.get(session, ())), ids)
            if turn is not None:
                sessions.setdefault(session, []).append(turn)
                times.setdefault(session, turn.timestamp)
        if sessions:
            name = next(iter(sessions))
            found = tuple(
                Session(id, number, times[id], tuple(turns))
                for number, (id, turns) in enumerate(sessions.items())
            )
            yield LoadedConversation(Conversation(name, found), notes.of(name))


def _turn(row: RecordFields, session: str, place: int, ids: IdRegistry) -> Turn | None:
    """What was said on a line; None for side chains and without words, as calls of tools are."""
    row.id = ids.assign_noted(row.label("uuid"), row.id, row.notes, "uuid")
    row.note_unknown(LINE)
    message = RecordFields(row.object("message"), "message", row.id, row.notes)
    message.note_unknown(MESSAGE)
    if row.flag("isSidechain"):
        row.note("message on another branch", "isSidechain")
        return None
    role = message.text("role") or "unknown"
    if role not in SPOKEN:
        message.note("unknown speaker", "role", role)
    time = row.time("timestamp", required=False)
    text = _text(message)
    return None if text is None else Turn(row.id, session, place, role, role, text, time)


def _text(message: RecordFields) -> str | None:
    """The words of a message: a text, or a list of parts of which some are text."""
    value = message.data.get("content")
    if isinstance(value, list):
        words = [_part(message, part) for part in value]
        text = "\n".join(part for part in words if part is not None)
    else:
        text = message.text("content", required=False) or ""
    if not text.strip():
        message.note("message without text", "content")
        return None
    return text


def _part(message: RecordFields, part: object) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    if isinstance(part, dict) and kind == "text":
        return as_text(part.get("text"), message.notes, message.place("content"), message.id)
    message.note("part without text", "content", kind if isinstance(kind, str) else "")
    return None
