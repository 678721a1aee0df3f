"""Logs of messages: OpenAI's and ShareGPT's layouts, and the sessions of Claude Code."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Session, Turn
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    Notes,
    RecordFields,
    as_text,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import records

OPENAI, SHAREGPT = "messages", "conversations"
"""The field that holds the messages, in each of the two layouts."""

SPEAKER = {OPENAI: "role", SHAREGPT: "from"}
TEXT = {OPENAI: "content", SHAREGPT: "value"}
ROLES = {
    OPENAI: {
        role: role for role in ("user", "assistant", "system", "developer", "tool", "function")
    },
    SHAREGPT: {"human": "user", "gpt": "assistant", "system": "system"},
}
"""What each layout calls the roles."""

BARE = frozenset({"role", "content"})
"""What a message without a record around it has, and perhaps a name."""

SESSION = "session-1"


class Messages:
    """A conversation is one session, without times or questions."""

    name = "messages"
    about = (
        "message logs: JSON or JSONL records with OpenAI `messages` or ShareGPT `conversations`, "
        "or a message `{role, content}` per record"
    )

    def recognises(self, keys: frozenset[str]) -> bool:
        """By `messages`, by `conversations` if at least half of the keys are ShareGPT's, or as a
        bare message."""
        if OPENAI in keys:
            return SHAREGPT not in keys
        if BARE <= keys <= BARE | {"name"}:
            return True
        return SHAREGPT in keys and 2 * len(keys & {"id", SHAREGPT}) >= len(keys)

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        rows = records(path)
        first = next(rows, None)
        # Many programs write one message per line, without saying where a conversation ends.
        if first is not None and first[1].keys() >= BARE:
            messages: list[object] = [first[1], *(data for _, data in rows)]
            yield _load({OPENAI: messages, "id": path.stem}, OPENAI, 0, ids)
            return
        for place, data in chain([] if first is None else [first], rows):
            layouts = [layout for layout in SPEAKER if layout in data]
            if len(layouts) != 1:
                both = " and ".join(map(repr, layouts)) or "neither"
                raise MemAuditError(
                    f"{path.name}: record {place + 1} must have either {OPENAI!r} or {SHAREGPT!r}; "
                    f"it has {both}"
                )
            _check_layout(data, layouts[0], path.name, place)
            yield _load(data, layouts[0], place, ids)


def _check_layout(data: dict[str, object], layout: str, name: str, place: int) -> None:
    """Refuse the logs of other programs, which also call their list `messages`."""
    rows = data[layout]
    messages = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    speaker = SPEAKER[layout]
    if messages and not any(speaker in message for message in messages):
        raise MemAuditError(
            f"{name}: record {place + 1}: no message of {layout!r} has the field {speaker!r}; "
            f"this is another kind of log"
        )


def _load(data: dict[str, object], layout: str, place: int, ids: IdRegistry) -> LoadedConversation:
    record = RecordFields(data, "", "", Notes())
    record.id = ids.assign_or(record.label("id"), f"record-{place + 1}", record.notes, "id")
    turns = []
    for number, row in record.objects(layout):
        row.id = f"{SESSION}:{number + 1}"
        if (turn := _turn(row, layout, number)) is not None:
            turns.append(turn)
    if not turns:
        record.note("empty session", layout)
    session = Session(SESSION, 0, None, tuple(turns))
    return LoadedConversation(Conversation(record.id, (session,)), record.notes.of(record.id))


def _turn(row: RecordFields, layout: str, place: int) -> Turn | None:
    """A message; None without words, as a call of a tool is."""
    given = row.text(SPEAKER[layout]) or "unknown"
    role = ROLES[layout].get(given)
    if role is None:
        row.note("unknown speaker", SPEAKER[layout], given)
    name = row.text("name", required=False) if layout == OPENAI else None
    text = _text(row, TEXT[layout])
    if text is None:
        return None
    return Turn(row.id, SESSION, place, name or role or given, role or given, text)


def _text(row: RecordFields, name: str) -> str | None:
    """The words of a message: a text, or a list of parts of which some are text."""
    value = row.data.get(name)
    if not isinstance(value, list):
        text = row.text(name, required=False)
    else:
        words = [_part(row, name, part) for part in value]
        text = "\n".join(part for part in words if part is not None)
    if text is None or not text.strip():
        row.note("message without text", name)
        return None
    return text


def _part(row: RecordFields, name: str, part: object) -> str | None:
    if isinstance(part, dict) and part.get("type") == "text":
        return as_text(part.get("text"), row.notes, row.place(name), row.id)
    kind = part.get("type") if isinstance(part, dict) else None
    row.note("part without text", name, kind if isinstance(kind, str) else "")
    return None


SPOKEN = frozenset({"user", "assistant"})
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
        for place, data in records(path):
            row = RecordFields(data, "", f"line-{place + 1}", notes)
            kind = row.text("type")
            if kind not in SPOKEN:
                row.note("system or tool message", "type", kind or "")
                continue
            # A file may hold several sessions, as one that was resumed does.
            session = row.label("sessionId") or UNNAMED
            turn = _code_turn(row, session, len(sessions.get(session, ())), ids)
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


def _code_turn(row: RecordFields, session: str, place: int, ids: IdRegistry) -> Turn | None:
    """What was said on a line; None for side chains and without words, as calls of tools are."""
    row.id = ids.assign_noted(row.label("uuid"), row.id, row.notes, "uuid")
    message = RecordFields(row.object("message"), "message", row.id, row.notes)
    # Subagents write into the file of the session that called them.
    if row.flag("isSidechain"):
        row.note("message on another branch", "isSidechain")
        return None
    role = message.text("role") or "unknown"
    if role not in SPOKEN:
        message.note("unknown speaker", "role", role)
    time = row.time("timestamp", required=False)
    text = _text(message, "content")
    return None if text is None else Turn(row.id, session, place, role, role, text, time)
