"""The data exports of Claude.ai and ChatGPT: every conversation of an account."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from memaudit.conversations.conversation import Conversation, Session, Turn, numbered_by_time
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    Notes,
    RecordFields,
    as_text,
)
from memaudit.kernel.io.foreign_json import records

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
        yield from _account(sessions, notes)


def _account(sessions: list[Session], notes: Notes) -> Iterator[LoadedConversation]:
    """All chats as one conversation; none for an export without a chat."""
    if sessions:
        conversation = Conversation(ACCOUNT, numbered_by_time(sessions))
        yield LoadedConversation(conversation, notes.of(ACCOUNT))


def _session(
    data: dict[str, object], place: int, chats: IdRegistry, messages: IdRegistry, notes: Notes
) -> Session:
    chat = RecordFields(data, "", "", notes)
    chat.id = chats.assign_noted(chat.label("uuid"), f"chat-{place + 1}", notes, "uuid")
    time = chat.time("created_at")
    turns = []
    for number, row in chat.objects("chat_messages"):
        default = f"{chat.id}:{number + 1}"
        row.id = messages.assign_noted(row.label("uuid"), default, notes, "chat_messages.uuid")
        if (turn := _turn(row, chat.id, number, time)) is not None:
            turns.append(turn)
    if not turns:
        chat.note("empty session", "chat_messages")
    return Session(chat.id, place, time, tuple(turns))


def _turn(row: RecordFields, session: str, place: int, time: str | None) -> Turn | None:
    sender = row.text("sender") or "unknown"
    if sender not in ROLES:
        row.note("unknown speaker", "sender", sender)
    # The export has their names, and for some the words that were read from them. They were not
    # said.
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


CHATGPT_ROLES = frozenset({"user", "assistant"})
EVERYBODY = "all"
"""The recipient of a message that is not a call of a tool."""


class ChatGPTConversations:
    """One conversation for the account, because a memory reaches across chats; a chat is a session.

    The sessions are in order of time. A chat is the branch that ends at `current_node`.
    """

    name = "chatgpt-conversations"
    about = "ChatGPT export: conversations.json, all chats of an account as one conversation"

    def recognises(self, keys: frozenset[str]) -> bool:
        return {"mapping", "current_node"} <= keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        notes, chats, messages = Notes(), IdRegistry(), IdRegistry()
        sessions = [
            _chatgpt_session(data, place, chats, messages, notes) for place, data in records(path)
        ]
        yield from _account(sessions, notes)


def _chatgpt_session(
    data: dict[str, object], place: int, chats: IdRegistry, messages: IdRegistry, notes: Notes
) -> Session:
    chat = RecordFields(data, "", "", notes)
    default = f"chat-{place + 1}"
    id = chat.label("conversation_id") or chat.label("id")  # older exports have neither
    chat.id = chats.assign_or(id, default, notes, "conversation_id")
    time = chat.instant("create_time")
    nodes = _nodes(chat)
    branch = _branch(chat, nodes)
    turns: list[Turn] = []
    for name in branch:
        turn = _chatgpt_turn(nodes[name], chat.id, len(turns), time)
        if turn is not None:
            id = messages.assign_noted(turn.id, turn.id, notes, "mapping")
            turns.append(replace(turn, id=id))
    # Counted one by one: a memory may come from an answer that is no longer shown.
    for name in sorted(nodes.keys() - set(branch)):
        if nodes[name].data.get("message") is not None:
            nodes[name].note("message on another branch", "message")
    if not turns:
        chat.note("empty session", "mapping")
    return Session(chat.id, place, time, tuple(turns))


def _nodes(chat: RecordFields) -> dict[str, RecordFields]:
    """The nodes of the tree by the names that other nodes call them."""
    mapping = RecordFields(chat.object("mapping"), "mapping", chat.id, chat.notes)
    nodes = {}
    for name in mapping.data:
        id = as_text(name, chat.notes, "mapping", chat.id) or name
        row = RecordFields(mapping.object(name), "mapping", id, chat.notes)
        if (own := row.label("id")) not in (None, id):
            row.note("number differs from place", "id", own)
        nodes[id] = row
    return nodes


def _branch(chat: RecordFields, nodes: dict[str, RecordFields]) -> list[str]:
    """The nodes from the root to the current one; broken links end it and are noted."""
    # An answer that was generated again is another child of one question. The chat as the user left
    # it is the way up from `current_node`; `branch` also remembers what was passed, since links of
    # a damaged file may go in a circle.
    branch: dict[str, None] = {}
    row, link = chat, "current_node"
    while (id := row.text(link, required=row is chat)) is not None:
        if id not in nodes:
            row.note("reference to nothing", link, id)
            break
        if id in branch:
            row.note("repeated reference", link, id)
            break
        branch[id] = None
        row, link = nodes[id], "parent"
    return list(reversed(branch))


def _chatgpt_turn(node: RecordFields, session: str, place: int, time: str | None) -> Turn | None:
    """The message of a node; None for the root, the system, tools, and without words."""
    if node.data.get("message") is None:
        return None
    row = RecordFields(node.object("message"), "mapping.message", node.id, node.notes)
    author = RecordFields(row.object("author"), row.place("author"), node.id, node.notes)
    role = author.text("role") or "unknown"
    recipient = row.text("recipient", required=False) or EVERYBODY
    own_time = row.instant("create_time", required=False)
    text = _text(RecordFields(row.object("content"), row.place("content"), node.id, node.notes))
    # The assistant also speaks to tools: such a message is a call, not something that was said.
    if role in ("system", "tool") or recipient != EVERYBODY:
        author.note("system or tool message", "role", role)
        return None
    if not text.strip():
        row.note("message without text", "content")
        return None
    if role not in CHATGPT_ROLES:
        author.note("unknown speaker", "role", role)
    return Turn(node.id, session, place, role, role, text, own_time or time)


def _text(content: RecordFields) -> str:
    """The texts among the parts; only text and text with images has parts."""
    content.text("content_type")
    words = []
    for part in content.rows("parts", required=False):
        if isinstance(part, dict):
            kind = part.get("content_type")
            content.note("part without text", "parts", kind if isinstance(kind, str) else "")
        elif (text := as_text(part, content.notes, content.place("parts"), content.id)) is not None:
            words.append(text)
    return "\n".join(word for word in words if word)
