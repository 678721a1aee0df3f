"""Candidates that the dataset itself ships: observations, session summaries, event summaries."""

from dataclasses import dataclass

from memaudit.natural.offer import Offer
from memaudit.natural.stream import end_of
from memaudit.natural.transcript import Transcript

KINDS = {"observation": "fact", "session_summary": "summary", "event_summary": "event"}
"""What a dataset calls its representations, and the candidate kinds they become."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """The offers, and the ids of representations that belong to no session that is there."""

    offers: tuple[Offer, ...]
    homeless: tuple[str, ...]


def shipped(transcript: Transcript) -> Shipped:
    """Each representation at the latest turn it names as a source, else at its session's end."""
    offers: list[Offer] = []
    homeless: list[str] = []
    seen: set[tuple[str, str]] = set()
    for one in transcript.representations:
        session = transcript.session.get(one.session or "")
        if one.sources:
            experience = max(one.sources, key=lambda turn: transcript.place[turn])
        elif session is not None and session.turns:
            experience = end_of(session.id)
        else:
            homeless.append(one.id)
            continue
        if one.text.strip() and (experience, one.text) not in seen:
            seen.add((experience, one.text))
            offers.append(
                Offer(
                    one.id,
                    experience,
                    KINDS.get(one.kind, one.kind),
                    one.text,
                    f"dataset:{one.kind}",
                    points=one.sources,
                    about=None if one.sources else one.session,
                )
            )
    return Shipped(tuple(offers), tuple(homeless))
