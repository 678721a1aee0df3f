"""Claude.ai's data export: `conversations.json`, every chat of an account."""

from collections.abc import Iterator
from pathlib import Path

from memaudit.datasets.conversation import Conversation, Session, Turn, numbered_by_time
from memaudit.datasets.records import IdRegistry, LoadedConversation, Notes, RecordFields
from memaudit.io.foreign_json import records

CHAT = frozenset(
    {
        "uuid",
        "name",
        "summary",
        "created_at",
        "updated_at",
        "account",
        "chat_messages",
    }
)
MESSAGE = frozenset(
    {
        "uuid",
        "sender",
        "text",
        "created_at",
        "updated_at",
        "content",
        "attachments",
        "files",
        "parent_message_uuid",
    }
)
ROLES = {"human": "user", "assistant": "assistant"}
ACCOUNT = "account"
"""The id of the one conversation."""


class ClaudeConversations:
    """One conversation for the account, because a memory reaches across chats; a chat is a session.

    The sessions are in order of time. The export lists the newest chat first.
    """

    name = "claude-conversations"
    about = "Claude.ai export: conversations.json, all chats of an account as one conversation"

    def recognises(self, keys: frozenset[str]) -> bool:
        return "chat_messages" in keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        notes, chats, messages = Notes(), IdRegistry(), IdRegistry()
        sessions = [_session(data, place, chats, messages, notes) for place, data in records(path)]
        if sessions:
            conversation = Conversation(ACCOUNT, numbered_by_time(sessions))
            yield LoadedConversation(conversation, notes.of(ACCOUNT))


def _session(
    data: dict[str, object], place: int, chats: IdRegistry, messages: IdRegistry, notes: Notes
) -> Session:
    chat = RecordFields(data, "", "", notes)
    chat.id = chats.assign_noted(chat.label("uuid"), f"chat-{place + 1}", notes, "uuid")
    chat.note_unknown(CHAT)
    time = chat.time("created_at")
    turns = []
    for number, row in chat.objects("chat_messages"):
        default = f"{chat.id}:{number + 1}"
        row.id = messages.assign_noted(row.label("uuid"), default, notes, "chat_messages.uuid")
        row.note_unknown(MESSAGE)
        if (turn := _turn(row, chat.id, number, time)) is not None:
            turns.append(turn)
    if not turns:
        chat.note("empty session", "chat_messages")
    return Session(chat.id, place, time, tuple(turns))


def _turn(row: RecordFields, session: str, place: int, time: str | None) -> Turn | None:
    sender = row.text("sender") or "unknown"
    if sender not in ROLES:
        row.note("unknown speaker", "sender", sender)
    for name in ("attachments", "files"):
        for attached in row.rows(name, required=False):
            shown = attached.get("file_name") if isinstance(attached, dict) else None
            row.note("attachment", name, shown if isinstance(shown, str) else "")
    text = row.text("text")
    own_time = row.time("created_at", required=False)
    if text is None or not text.strip():
        row.note("message without text", "text")
        return None
    role = ROLES.get(sender, sender)
    return Turn(row.id, session, place, role, role, text, own_time or time)
