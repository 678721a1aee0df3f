"""What LoCoMo ships besides the turns: observations, session summaries, event summaries."""

import re
from collections.abc import Iterator, Set
from pathlib import Path

from memaudit.datasets.conversation import Conversation, Question, Representation, Session, Turn
from memaudit.datasets.fields import Fields, Names, Repair, as_text, resolve
from memaudit.datasets.irregularities import Loaded, whole
from memaudit.datasets.json_source import kind_of
from memaudit.datasets.json_stream import opened_record, records


def representations(
    record: Fields, sessions: Set[str], turns: Names, repair: Repair
) -> tuple[Representation, ...]:
    """All of them, in that order; an id is the file's key, the speaker and the place."""
    ids = Names()
    return (
        *_observations(record, sessions, ids, turns, repair),
        *_summaries(record, sessions, ids),
        *_events(record, sessions, ids),
    )


def _parts(record: Fields, name: str, sessions: Set[str]) -> Iterator[tuple[Fields, str | None]]:
    """The entries of one part, as fields of their own key, each with the session it is about."""
    for key, value in record.object(name).items():
        session = key.removeprefix("events_").removesuffix("_observation").removesuffix("_summary")
        part = Fields({whole(key): value}, name, whole(key), record.notes)
        if session not in sessions:
            record.notes.add("reference to nothing", name, part.id, session)
        yield part, session if session in sessions else None


def _rows(said: Fields) -> Iterator[tuple[str, str, object]]:
    """Everything speakers are listed with: speaker, id and entry."""
    for speaker in said.data:
        if speaker != "date":
            for place, row in enumerate(said.rows(speaker)):
                yield whole(speaker), f"{said.id}:{whole(speaker)}:{place + 1}", row


def _observations(
    record: Fields, sessions: Set[str], ids: Names, turns: Names, repair: Repair
) -> Iterator[Representation]:
    kind = "observation"
    for part, session in _parts(record, kind, sessions):
        said = Fields(part.object(part.id), kind, part.id, record.notes)
        for speaker, place, row in _rows(said):
            id = ids.take(place)
            if not isinstance(row, list) or len(row) != 2:
                found = f"{kind_of(row)}, not a pair of text and reference"
                record.notes.add("wrong type", kind, id, found)
                continue
            text = as_text(row[0], record.notes, kind, id)
            cited = row[1] if isinstance(row[1], list) else [row[1]]
            sources = resolve(cited, turns, record.notes, kind, id, repair)
            if text is not None:
                yield Representation(id, kind, text, speaker, session, sources)


def _summaries(record: Fields, sessions: Set[str], ids: Names) -> Iterator[Representation]:
    kind = "session_summary"
    for part, session in _parts(record, kind, sessions):
        text = part.text(part.id)
        if text is not None:
            yield Representation(ids.take(part.id), kind, text, None, session)


def _events(record: Fields, sessions: Set[str], ids: Names) -> Iterator[Representation]:
    kind = "event_summary"
    for part, session in _parts(record, kind, sessions):
        said = Fields(part.object(part.id), kind, part.id, record.notes)
        date = said.time("date") if said.data else None
        for speaker, place, row in _rows(said):
            text = as_text(row, record.notes, kind, place)
            if text is not None:
                id = ids.take(place)
                yield Representation(id, kind, text, speaker, session, (), date)


CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
RECORD = frozenset(
    {"sample_id", "conversation", "qa", "observation", "session_summary", "event_summary"}
)
TURN = frozenset({
    "speaker", "dia_id", "text", "blip_caption",
    "img_url", "query", "re-download", "img_file", "img_id",
})  # fmt: skip
QUESTION = frozenset({"question", "answer", "evidence", "category", "adversarial_answer"})

_SESSION = re.compile(r"session_[0-9]{1,6}")
_DATE = re.compile(r"(session_[0-9]{1,6})_date_time")
_REFERENCE = re.compile(r"D0*([1-9][0-9]*):0*([1-9][0-9]*)")


class LoCoMo:
    """A list of conversations; `evidence` lists the dia_ids that answer a question."""

    name = "locomo"
    about = "LoCoMo: a JSON list of conversations with questions, observations and summaries"

    def recognises(self, keys: frozenset[str]) -> bool:
        """By the conversation and its questions."""
        return {"conversation", "qa"} <= keys

    def conversations(self, path: Path) -> Iterator[Loaded]:
        """One conversation a record."""
        names = Names()
        for place, data in records(path):
            yield _load(data, place, names)


def repaired(reference: str, names: Names) -> list[tuple[str, str]]:
    """A reference's pieces; only splitting and leading zeros are repaired, the rest is malformed.

    `D8:6; D9:17` is two references and `D30:05` is `D30:5`; `D:11:26` and `D` could be anything.
    """
    if reference in names:
        return [(reference, "")]
    found: list[tuple[str, str]] = []
    for piece in re.split(r"[;,\s]+", reference.strip(";, \t\r\n")):
        match = _REFERENCE.fullmatch(piece)
        plain = f"D{match[1]}:{match[2]}" if match else piece
        if piece in names or piece == plain:
            found.append((piece, "" if match or piece in names else "malformed reference"))
        else:
            found.append((plain, "zero-padded reference"))
    return found


def _load(data: dict[str, object], place: int, conversation_names: Names) -> Loaded:
    record = opened_record(data, "sample_id", place, conversation_names)
    record.only(RECORD)
    names = Names()
    talk = Fields(record.object("conversation"), "conversation", record.id, record.notes)
    sessions = _sessions(talk, names)
    conversation = Conversation(
        record.id, sessions, _questions(record, sessions, names),
        representations(record, {session.id for session in sessions}, names, repaired),
    )  # fmt: skip
    if not conversation.is_in_time_order:
        record.note("sessions out of order", "conversation")
    return Loaded(conversation, record.notes.of(record.id))


def _sessions(talk: Fields, names: Names) -> tuple[Session, ...]:
    """The sessions in the order of their numbers."""
    people = {talk.text("speaker_a"): "speaker_a", talk.text("speaker_b"): "speaker_b"}
    keys = sorted(
        (key for key in talk.data if _SESSION.fullmatch(key)),
        key=lambda key: (int(key.partition("_")[2]), key),
    )
    for key in talk.data:
        date = _DATE.fullmatch(key)
        if date and date[1] not in talk.data:
            talk.note("date without a session", key, talk.data[key])
        elif not date and not _SESSION.fullmatch(key) and key not in people.values():
            talk.notes.unknown_field(talk.where, talk.id, key)
    sessions = []
    for index, key in enumerate(keys):
        time = talk.time(f"{key}_date_time")
        if talk.data[key] == []:
            talk.note("empty session", key)
        turns = tuple(
            _turn(row, key, place, time, people, names) for place, row in talk.objects(key)
        )
        sessions.append(Session(key, index, time, turns))
    return tuple(sessions)


def _turn(
    row: Fields, session: str, place: int, time: str | None, people: dict[str | None, str],
    names: Names,
) -> Turn:  # fmt: skip
    row.where = "conversation.session"
    # A missing dia_id is not made up: a reference might then name the wrong turn.
    id = names.take_noted(row.label("dia_id"), f"{session}:{place + 1}", row.notes, "dia_id")
    row.id = id
    row.only(TURN)
    speaker = row.text("speaker") or "unknown"
    if speaker not in people:
        row.note("unknown speaker", "speaker", speaker)
    caption = row.text("blip_caption", required=False)
    role = people.get(speaker, "unknown")
    return Turn(id, session, place, speaker, role, row.spoken("text"), time, caption)


def _questions(record: Fields, sessions: tuple[Session, ...], names: Names) -> tuple[Question, ...]:
    """The questions, numbered from 0 as published corrections of their labels do."""
    home = {turn.id: session.id for session in sessions for turn in session.turns}
    found = []
    for place, row in record.objects("qa"):
        row.id = f"qa{place}"
        row.only(QUESTION)
        kind = _kind(row)
        cited = row.rows("evidence")
        evidence = resolve(cited, names, row.notes, row.place("evidence"), row.id, repaired)
        if not cited:
            row.note("no evidence", "evidence")
        # An adversarial question has no answer in the conversation, unless the file gives one.
        answer = row.text("answer", required=kind != "adversarial")
        found.append(
            Question(
                id=row.id,
                text=row.spoken("question"),
                answer=answer,
                kind=kind,
                evidence=evidence,
                evidence_sessions=tuple(dict.fromkeys(home[turn] for turn in evidence)),
                abstention=kind == "adversarial" and answer is None,
                adversarial_answer=row.text("adversarial_answer", required=kind == "adversarial"),
                references=len(cited),
            )
        )
    return tuple(found)


def _kind(row: Fields) -> str:
    """The category's name."""
    category = row.data.get("category")
    if isinstance(category, int) and not isinstance(category, bool) and category in CATEGORIES:
        return CATEGORIES[category]
    found = category if isinstance(category, int | str) else kind_of(category)
    row.note("unknown category", "category", found)
    return "unknown"
