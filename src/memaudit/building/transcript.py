"""What a writer may see of a conversation: its sessions and the dataset's representations.

Candidates are made from a Transcript, which contains no questions, answers or evidence, so that no
rule for candidates can depend on them. Writers see ids, so ids that could reveal which turns matter
are replaced by numbers.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memaudit.conversations.conversation import (
    Conversation,
    Question,
    Representation,
    Session,
    Turn,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Candidate, Experience

# LongMemEval calls sessions that hold an answer `answer_...`.
REVEALING_FORMATS = frozenset({"longmemeval"})
"""Formats whose session ids reveal where the answers are."""


@dataclass(frozen=True)
class Transcript:
    """Sessions in order of time, with ids that reveal nothing.

    `turn_ids` and `session_ids` map the file's ids to the transcript's.
    """

    sessions: tuple[Session, ...]
    representations: tuple[Representation, ...]
    turn_ids: dict[str, str]
    session_ids: dict[str, str]

    @cached_property
    def turn(self) -> dict[str, Turn]:
        """Turns by id, in the order of the stream."""
        return {turn.id: turn for session in self.sessions for turn in session.turns}

    @cached_property
    def session(self) -> dict[str, Session]:
        return {session.id: session for session in self.sessions}

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each turn in the stream."""
        return {id: number for number, id in enumerate(self.turn)}


STEP = "step"
"""The attribute of an experience that is no turn."""


def turn_text(turn: Turn) -> str:
    """The text of a turn, followed by the caption of its image."""
    if not turn.caption:
        return turn.text
    return f"{turn.text} [image: {turn.caption}]".strip()


def split_conversation(
    conversation: Conversation, format: str
) -> tuple[Transcript, tuple[Question, ...]]:
    """The two sides of a conversation: what a writer may see and what is asked."""
    sessions = conversation.in_time_order
    # Ids stay where they say nothing, so that people find turns again in the file.
    keep = format not in REVEALING_FORMATS and _uniform(conversation)
    session_ids = {
        session.id: session.id if keep else f"s{number}"
        for number, session in enumerate(sessions, start=1)
    }
    turn_ids = {
        turn.id: turn.id if keep else f"{session_ids[session.id]}:{number}"
        for session in sessions
        for number, turn in enumerate(session.turns, start=1)
    }
    representations = tuple(
        replace(
            shipped,
            session=None if shipped.session is None else session_ids[shipped.session],
            sources=tuple(turn_ids[turn] for turn in shipped.sources),
        )
        for shipped in conversation.representations
    )
    questions = tuple(
        replace(
            question,
            evidence=tuple(turn_ids[turn] for turn in question.evidence),
            evidence_sessions=tuple(session_ids[id] for id in question.evidence_sessions),
        )
        for question in conversation.questions
    )
    renamed = tuple(_renamed(session, session_ids, turn_ids) for session in sessions)
    return Transcript(renamed, representations, turn_ids, session_ids), questions


def _uniform(conversation: Conversation) -> bool:
    """Whether all ids differ only in digits. Hand-made names may mark turns that matter."""
    turns = {re.sub(r"\d+", "0", turn.id) for turn in conversation.turns}
    sessions = {re.sub(r"\d+", "0", session.id) for session in conversation.sessions}
    return len(turns) <= 1 and len(sessions) <= 1


def _renamed(session: Session, session_ids: dict[str, str], turn_ids: dict[str, str]) -> Session:
    own = session_ids[session.id]
    turns = tuple(replace(turn, id=turn_ids[turn.id], session=own) for turn in session.turns)
    return replace(session, id=own, turns=turns)


def session_end_id(session: str) -> str:
    """The id of the experience at the end of a session."""
    return f"{session}/end"


def experiences(transcript: Transcript, later: Iterable[tuple[str, str]] = ()) -> list[Experience]:
    """Turns and session ends in order; `later` adds steps (session, id) after a session.

    A session end has no text. A session without turns has no end.
    """
    file_ids = {own: file_id for file_id, own in transcript.turn_ids.items()}
    steps: dict[str, list[str]] = {}
    for session_id, id in later:
        steps.setdefault(session_id, []).append(id)
    rows: list[Experience] = []
    for session in transcript.sessions:
        for turn in session.turns:
            file_id = file_ids[turn.id]
            rows.append(
                Experience(
                    id=turn.id,
                    text=turn_text(turn),
                    index=len(rows),
                    session=session.id,
                    timestamp=turn.timestamp or session.timestamp,
                    speaker=turn.speaker,
                    # Attributes are hidden from writers, because the file's ids may be revealing.
                    attributes={} if file_id == turn.id else {"dataset_id": file_id},
                )
            )
        ends = [session_end_id(session.id)] if session.turns else []
        for id in ends + steps.get(session.id, []):
            rows.append(_end(id, len(rows), session))
    return rows


BY_TURN, BY_SESSION = GROUPS = ("turn", "session")
"""What candidates compete within: a turn, or a whole session as in the paper."""


def check_group(group: str) -> None:
    if group not in GROUPS:
        raise MemAuditError(f"unknown group {group!r}; choose {' or '.join(GROUPS)}")


def grouped(
    rows: Sequence[Experience], candidates: Sequence[Candidate], group: str
) -> tuple[list[Experience], list[Candidate]]:
    """Experiences and candidates; by session, every candidate is at the end of its session."""
    if group == BY_TURN:
        return list(rows), list(candidates)
    home = {row.id: session_end_id(str(row.session)) for row in rows}
    ends = set(home.values())
    # Steps of memories without a turn go: their candidates have moved to the end of the session
    # too.
    kept = [row for row in rows if row.id in ends or row.attributes.get(STEP) is None]
    renumbered = [row.model_copy(update={"index": place}) for place, row in enumerate(kept)]
    moved = [
        candidate.model_copy(update={"experience": home[candidate.experience]})
        for candidate in candidates
    ]
    return renumbered, moved


def _end(id: str, index: int, session: Session) -> Experience:
    return Experience(
        id=id,
        index=index,
        session=session.id,
        timestamp=session.timestamp,
        attributes={STEP: "session end"},
    )
