"""A chat written by hand: JSONL, one short row a turn, the kind of row told by its one key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.datasets.conversation import Conversation, Question, Session, Turn
from memaudit.datasets.fields import Fields, Names, resolve
from memaudit.datasets.irregularities import Loaded, Notes
from memaudit.datasets.json_stream import json_lines

ROWS = {
    "conversation": frozenset({"conversation", "topic"}),
    "session": frozenset({"session", "time"}),
    "text": frozenset({"id", "speaker", "role", "text", "time", "caption", "place"}),
    "question": frozenset({
        "id", "question", "answer", "kind", "evidence", "time", "abstention", "adversarial_answer",
    }),
}  # fmt: skip
"""The key that says what a row is, and everything such a row may hold."""


@dataclass(slots=True)
class _Draft:
    """A conversation while its rows come in."""

    id: str
    topic: str | None
    notes: Notes
    sessions: list[tuple[str, str | None, list[Turn]]] = field(default_factory=list)
    questions: list[Fields] = field(default_factory=list)
    session_names: Names = field(default_factory=Names)
    turn_names: Names = field(default_factory=Names)


class Chat:
    """Rows in the order things happened; a conversation ends where the next begins."""

    name = "chat"
    about = "a chat written by hand: JSONL rows of conversations, sessions, turns and questions"

    def recognises(self, keys: frozenset[str]) -> bool:
        """By a row's one telling key, if most of the others may stand beside it."""
        telling = keys & ROWS.keys()
        return len(telling) == 1 and 2 * len(keys & ROWS[min(telling)]) > len(keys)

    def conversations(self, path: Path) -> Iterator[Loaded]:
        """One at a time."""
        names = Names()
        draft: _Draft | None = None
        for line, data in json_lines(path):
            kinds = sorted(data.keys() & ROWS.keys())
            if len(kinds) != 1:
                found = " and ".join(map(repr, kinds)) or "none"
                raise MemAuditError(
                    f"{path.name}:{line}: a row has exactly one of the keys "
                    f"{', '.join(map(repr, ROWS))}; this one has {found}"
                )
            if draft is None or kinds == ["conversation"]:
                if draft is not None:
                    yield _finish(draft)
                draft = _begin(data, names)
            row = Fields(data, kinds[0], f"line {line}", draft.notes)
            row.only(ROWS[kinds[0]])
            _add(draft, row, kinds[0])
        if draft is None:
            raise MemAuditError(f"{path.name}: is empty")
        yield _finish(draft)


def _begin(data: dict[str, object], names: Names) -> _Draft:
    """A conversation; rows before the first heading belong to one without a name."""
    notes = Notes()
    if "conversation" not in data:
        return _Draft(names.take("conversation-1"), None, notes)
    row = Fields(data, "conversation", "", notes)
    given = row.label("conversation")
    id = names.take_noted(given, "conversation-1", notes, "conversation")
    return _Draft(id, row.text("topic", required=False), notes)


def _add(draft: _Draft, row: Fields, kind: str) -> None:
    if kind == "session":
        _open_session(draft, row.label("session"), row.time("time", required=False))
    elif kind == "question":
        draft.questions.append(row)  # its evidence may come later
    elif kind == "text":
        if not draft.sessions:
            _open_session(draft, "session-1", None)
        draft.sessions[-1][2].append(_turn(draft, row))


def _open_session(draft: _Draft, given: str | None, time: str | None) -> None:
    otherwise = f"session-{len(draft.sessions) + 1}"
    id = draft.session_names.take_noted(given, otherwise, draft.notes, "session")
    draft.sessions.append((id, time, []))


def _turn(draft: _Draft, row: Fields) -> Turn:
    session, time, before = draft.sessions[-1]
    given = row.label("id")
    own = f"{session}:{len(before) + 1}"
    id = draft.turn_names.take(own) if given is None else draft.turn_names.take_noted(
        given, own, row.notes, "id"
    )  # fmt: skip
    speaker = row.text("speaker", required=False) or "user"
    role = row.text("role", required=False) or ("assistant" if speaker == "assistant" else "user")
    return Turn(
        id, session, len(before), speaker, role, row.spoken("text"),
        row.time("time", required=False) or time,
        row.text("caption", required=False), row.text("place", required=False),
    )  # fmt: skip


def _finish(draft: _Draft) -> Loaded:
    sessions = tuple(
        Session(id, index, time, tuple(turns))
        for index, (id, time, turns) in enumerate(draft.sessions)
    )
    for session in sessions:
        if not session.turns:
            draft.notes.add("empty session", "session", session.id)
    names = Names()
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = tuple(
        _question(draft, row, f"q{number}", home, names)
        for number, row in enumerate(draft.questions, start=1)
    )
    conversation = Conversation(draft.id, sessions, questions, (), draft.topic)
    if not conversation.is_in_time_order:
        draft.notes.add("sessions out of order", "session", draft.id)
    return Loaded(conversation, draft.notes.of(draft.id))


def _question(draft: _Draft, row: Fields, own: str, home: dict[str, str], names: Names) -> Question:
    """A question; `own` is its id where the row has none, `home` the session of each turn."""
    given = row.label("id")
    id = (
        names.take(own) if given is None else names.take_noted(given, own, row.notes, "question.id")
    )
    abstention = row.flag("abstention")
    cited = row.rows("evidence", required=False)
    whole_sessions = [one for one in cited if _names_session(one, draft)]
    turns = [one for one in cited if not _names_session(one, draft)]
    evidence = resolve(turns, draft.turn_names, row.notes, "question.evidence", row.id)
    named = resolve(whole_sessions, draft.session_names, row.notes, "question.evidence", row.id)
    if not cited and not abstention:
        row.note("no evidence", "evidence")
    return Question(
        id=id,
        text=row.spoken("question"),
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
    """Whether a reference means a session; a turn of the same id goes first."""
    id = str(reference)
    return id not in draft.turn_names and id in draft.session_names
