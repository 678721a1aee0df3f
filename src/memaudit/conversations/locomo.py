"""LoCoMo: ten long conversations of two people, with questions that cite dialogue ids."""

import re
from collections.abc import Iterator, Set
from pathlib import Path

from memaudit.conversations.conversation import (
    Conversation,
    Question,
    Representation,
    Session,
    Turn,
)
from memaudit.conversations.records import (
    IdRegistry,
    LoadedConversation,
    RecordFields,
    as_text,
    record_fields,
    resolve_references,
)
from memaudit.kernel.io.foreign_json import encodable, records
from memaudit.kernel.io.strict_json import kind_of

# The paper names the kinds, the file has only their numbers.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_SESSION = re.compile(r"session_[0-9]{1,6}")
_DATE = re.compile(r"(session_[0-9]{1,6})_date_time")
_REFERENCE = re.compile(r"D0*([1-9][0-9]*):0*([1-9][0-9]*)")


class LoCoMo:
    """A list of conversations; `evidence` lists the dia_ids that answer a question."""

    name = "locomo"
    about = "LoCoMo: a JSON list of conversations with questions, observations and summaries"

    def recognises(self, keys: frozenset[str]) -> bool:
        return {"conversation", "qa"} <= keys

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        ids = IdRegistry()
        for place, data in records(path):
            yield _load(data, place, ids)


def repaired(reference: str, ids: IdRegistry) -> list[tuple[str, str]]:
    """A reference's pieces; only splitting and leading zeros are repaired, the rest is malformed.

    `D8:6; D9:17` is two references and `D30:05` is `D30:5`; `D:11:26` and `D` could be anything.
    """
    if reference in ids:
        return [(reference, "")]
    pieces: list[tuple[str, str]] = []
    for piece in re.split(r"[;,\s]+", reference.strip(";, \t\r\n")):
        match = _REFERENCE.fullmatch(piece)
        plain = f"D{match[1]}:{match[2]}" if match else piece
        if piece in ids or piece == plain:
            pieces.append((piece, "" if match or piece in ids else "malformed reference"))
        else:
            pieces.append((plain, "zero-padded reference"))
    return pieces


def _load(data: dict[str, object], place: int, conversation_ids: IdRegistry) -> LoadedConversation:
    record = record_fields(data, "sample_id", place, conversation_ids)
    ids = IdRegistry()
    dialogue = RecordFields(record.object("conversation"), "conversation", record.id, record.notes)
    sessions = _sessions(dialogue, ids)
    conversation = Conversation(
        record.id,
        sessions,
        _questions(record, sessions, ids),
        _representations(record, {session.id for session in sessions}, ids),
    )
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "conversation")
    return LoadedConversation(conversation, record.notes.of(record.id))


def _sessions(dialogue: RecordFields, ids: IdRegistry) -> tuple[Session, ...]:
    """The sessions in the order of their numbers."""
    # Which of the two is called a user decides nothing: their roles are the names of the fields.
    people = {dialogue.text("speaker_a"): "speaker_a", dialogue.text("speaker_b"): "speaker_b"}
    keys = sorted(
        (key for key in dialogue.data if _SESSION.fullmatch(key)),
        key=lambda key: (int(key.partition("_")[2]), key),
    )
    for key in dialogue.data:
        # Some conversations of the published file have a date for sessions that it does not hold.
        date = _DATE.fullmatch(key)
        if date and date[1] not in dialogue.data:
            dialogue.note("date without a session", key, dialogue.data[key])
    sessions = []
    for index, key in enumerate(keys):
        time = dialogue.time(f"{key}_date_time")
        if dialogue.data[key] == []:
            dialogue.note("empty session", key)
        turns = tuple(
            _turn(row, key, place, time, people, ids) for place, row in dialogue.objects(key)
        )
        sessions.append(Session(key, index, time, turns))
    return tuple(sessions)


def _turn(
    row: RecordFields,
    session: str,
    place: int,
    time: str | None,
    people: dict[str | None, str],
    ids: IdRegistry,
) -> Turn:
    row.where = "conversation.session"
    # A missing dia_id is not made up: a reference might then name the wrong turn.
    id = ids.assign_noted(row.label("dia_id"), f"{session}:{place + 1}", row.notes, "dia_id")
    row.id = id
    speaker = row.text("speaker") or "unknown"
    if speaker not in people:
        row.note("unknown speaker", "speaker", speaker)
    caption = row.text("blip_caption", required=False)
    role = people.get(speaker, "unknown")
    return Turn(id, session, place, speaker, role, row.required_text("text"), time, caption)


def _questions(
    record: RecordFields, sessions: tuple[Session, ...], ids: IdRegistry
) -> tuple[Question, ...]:
    """The questions, numbered from 0 as published label corrections do."""
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = []
    for place, row in record.objects("qa"):
        row.id = f"qa{place}"
        kind = _kind(row)
        cited = row.rows("evidence")
        evidence = resolve_references(
            cited, ids, row.notes, row.place("evidence"), row.id, repaired
        )
        if not cited:
            row.note("no evidence", "evidence")
        # An adversarial question has no answer in the conversation, unless the file gives one.
        answer = row.text("answer", required=kind != "adversarial")
        questions.append(
            Question(
                id=row.id,
                text=row.required_text("question"),
                answer=answer,
                kind=kind,
                evidence=evidence,
                evidence_sessions=tuple(dict.fromkeys(home[turn] for turn in evidence)),
                abstention=kind == "adversarial" and answer is None,
                adversarial_answer=row.text("adversarial_answer", required=kind == "adversarial"),
                references=len(cited),
            )
        )
    return tuple(questions)


def _kind(row: RecordFields) -> str:
    category = row.data.get("category")
    if isinstance(category, int) and not isinstance(category, bool) and category in CATEGORIES:
        return CATEGORIES[category]
    shown = category if isinstance(category, int | str) else kind_of(category)
    row.note("unknown category", "category", shown)
    return "unknown"


def _representations(
    record: RecordFields, sessions: Set[str], turns: IdRegistry
) -> tuple[Representation, ...]:
    """Observations, session summaries and event summaries, as LoCoMo ships them beside the turns.

    An id is the file's key, the speaker and the place.
    """
    ids = IdRegistry()
    return (
        *_observations(record, sessions, ids, turns),
        *_summaries(record, sessions, ids),
        *_events(record, sessions, ids),
    )


def _parts(
    record: RecordFields, name: str, sessions: Set[str]
) -> Iterator[tuple[RecordFields, str | None]]:
    """The entries of one part, as fields of their own key, each with the session it is about."""
    for key, value in record.object(name).items():
        session = key.removeprefix("events_").removesuffix("_observation").removesuffix("_summary")
        part = RecordFields({encodable(key): value}, name, encodable(key), record.notes)
        if session not in sessions:
            record.notes.add("reference to nothing", name, part.id, session)
        yield part, session if session in sessions else None


def _rows(part: RecordFields) -> Iterator[tuple[str, str, object]]:
    """Every entry of every speaker: speaker, id and entry."""
    for speaker in part.data:
        # The date of an event summary stands among its speakers.
        if speaker != "date":
            for place, row in enumerate(part.rows(speaker)):
                name = encodable(speaker)
                yield name, f"{part.id}:{name}:{place + 1}", row


def _observations(
    record: RecordFields, sessions: Set[str], ids: IdRegistry, turns: IdRegistry
) -> Iterator[Representation]:
    kind = "observation"
    for part, session in _parts(record, kind, sessions):
        entries = RecordFields(part.object(part.id), kind, part.id, record.notes)
        for speaker, place, row in _rows(entries):
            id = ids.assign(place)
            if not isinstance(row, list) or len(row) != 2:
                pair = f"{kind_of(row)}, not a pair of text and reference"
                record.notes.add("wrong type", kind, id, pair)
                continue
            text = as_text(row[0], record.notes, kind, id)
            # One reference is written bare, several as a list.
            cited = row[1] if isinstance(row[1], list) else [row[1]]
            sources = resolve_references(cited, turns, record.notes, kind, id, repaired)
            if text is not None:
                yield Representation(id, kind, text, speaker, session, sources)


def _summaries(
    record: RecordFields, sessions: Set[str], ids: IdRegistry
) -> Iterator[Representation]:
    kind = "session_summary"
    for part, session in _parts(record, kind, sessions):
        text = part.text(part.id)
        if text is not None:
            yield Representation(ids.assign(part.id), kind, text, None, session)


def _events(record: RecordFields, sessions: Set[str], ids: IdRegistry) -> Iterator[Representation]:
    kind = "event_summary"
    for part, session in _parts(record, kind, sessions):
        entries = RecordFields(part.object(part.id), kind, part.id, record.notes)
        date = entries.time("date") if entries.data else None
        for speaker, place, row in _rows(entries):
            text = as_text(row, record.notes, kind, place)
            if text is not None:
                id = ids.assign(place)
                yield Representation(id, kind, text, speaker, session, (), date)
