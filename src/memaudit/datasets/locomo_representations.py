"""What LoCoMo ships besides the turns: observations, session summaries, event summaries."""

from collections.abc import Iterator, Set

from memaudit.datasets.fields import Fields, as_text
from memaudit.datasets.irregular import whole
from memaudit.datasets.lenient_json import kind_of
from memaudit.datasets.names import Names, Repair, resolve
from memaudit.datasets.shape import Representation


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
