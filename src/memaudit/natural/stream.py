"""The stream of experiences: every turn, and the end of every session."""

from collections.abc import Iterable

from memaudit.core.package import Experience
from memaudit.datasets.shape import Session
from memaudit.natural.transcript import Transcript, text_of


def end_of(session: str) -> str:
    """The id of the experience that a session is over."""
    return f"{session}/end"


def experiences(transcript: Transcript, later: Iterable[tuple[str, str]] = ()) -> list[Experience]:
    """Turns and session ends in order; `later` adds steps after a session, as (session, id).

    A session's end has no text of its own. Without turns a session has none.
    """
    file_ids = {own: given for given, own in transcript.turn_ids.items()}
    steps: dict[str, list[str]] = {}
    for session_id, id in later:
        steps.setdefault(session_id, []).append(id)
    rows: list[Experience] = []
    for session in transcript.sessions:
        for turn in session.turns:
            given = file_ids[turn.id]
            rows.append(
                Experience(
                    id=turn.id,
                    text=text_of(turn),
                    index=len(rows),
                    session=session.id,
                    timestamp=turn.timestamp or session.timestamp,
                    speaker=turn.speaker,
                    # Attributes are hidden from writers: the file's ids may be telling.
                    attributes={} if given == turn.id else {"dataset_id": given},
                )
            )
        ends = [end_of(session.id)] if session.turns else []
        for id in ends + steps.get(session.id, []):
            rows.append(_end(id, len(rows), session))
    return rows


def _end(id: str, index: int, session: Session) -> Experience:
    return Experience(
        id=id, index=index, session=session.id, timestamp=session.timestamp,
        attributes={"step": "session end"},
    )  # fmt: skip
