"""Candidates cut out of the turns by fixed rules: raw, window, sentence, span, session.

The rules look at the texts alone and are the same for every turn.
"""

from collections.abc import Iterator

from memaudit.core.cost import words
from memaudit.datasets.shape import Session, Turn
from memaudit.natural.offer import Offer
from memaudit.natural.sentences import first_words, one_line, sentences
from memaudit.natural.stream import end_of
from memaudit.natural.terms import terms
from memaudit.natural.transcript import Transcript, text_of

WINDOW_WORDS = 400
"""A window of more words is not offered: it is no shorter than what it is cut from."""

SENTENCES = 4
"""Sentences offered of one turn, at most: those with the most terms."""

SENTENCE_WORDS = 3
"""Shorter sentences are greetings and cries."""

SPAN_WORDS = 20
SPAN_FROM = 30
"""A turn of more than SPAN_FROM words is also offered cut off after SPAN_WORDS."""

RULES = {
    "raw": "a turn as it is, with the caption of its image",
    "window": f"a turn and its neighbours with their speakers, up to {WINDOW_WORDS} words",
    "sentence": (
        f"of a turn with several: the {SENTENCES} with the most terms, "
        f"from {SENTENCE_WORDS} words on"
    ),
    "span": f"the first {SPAN_WORDS} words of a turn of more than {SPAN_FROM}",
    "session": "all turns of a session with their speakers",
}
"""Kinds of extracts, and how each is made."""


def extracts(transcript: Transcript) -> Iterator[Offer]:
    """All extracts, group by group; a text that its group already has is dropped."""
    for session in transcript.sessions:
        turns = session.turns
        for place, turn in enumerate(turns):
            seen: set[str] = set()
            for offer in _of_turn(turns, place, turn):
                if (text := one_line(offer.text)) and text not in seen:
                    seen.add(text)
                    yield offer
        if whole := _session(session):
            yield whole


def spoken(turn: Turn) -> str:
    """A turn with its speaker, as one of several."""
    return f"{turn.speaker}: {text_of(turn)}"


def _of_turn(turns: tuple[Turn, ...], place: int, turn: Turn) -> Iterator[Offer]:
    text, kind = text_of(turn), "raw"
    yield Offer(f"{turn.id}/{kind}", turn.id, kind, text, f"rule:{kind}", whole=(turn.id,))
    near = turns[max(0, place - 1) : place + 2]
    around = "\n".join(map(spoken, near))
    if len(near) > 1 and text.strip() and words(around) <= WINDOW_WORDS:
        ids = tuple(one.id for one in near)
        kind = "window"
        yield Offer(f"{turn.id}/{kind}", turn.id, kind, around, f"rule:{kind}", whole=ids)
    kind = "sentence"
    for number, sentence in chosen_sentences(text):
        yield Offer(
            f"{turn.id}/{kind}-{number}", turn.id, kind, sentence, f"rule:{kind}", piece_of=turn.id
        )
    if words(text) > SPAN_FROM:
        cut, kind = first_words(text, SPAN_WORDS), "span"
        yield Offer(f"{turn.id}/{kind}", turn.id, kind, cut, f"rule:{kind}", piece_of=turn.id)


def chosen_sentences(text: str) -> list[tuple[int, str]]:
    """The sentences that are offered, with their numbers; none of a turn that is one sentence."""
    found = list(enumerate(sentences(text), start=1))
    if len(found) < 2:
        return []
    long_enough = [one for one in found if words(one[1]) >= SENTENCE_WORDS]
    best = sorted(long_enough, key=lambda one: (-len(terms(one[1])), one[0]))[:SENTENCES]
    return sorted(best)


def _session(session: Session) -> Offer | None:
    said = [turn for turn in session.turns if text_of(turn).strip()]
    if not said:
        return None
    return Offer(
        f"{session.id}/session", end_of(session.id), "session", "\n".join(map(spoken, said)),
        "rule:session", whole=tuple(turn.id for turn in said),
    )  # fmt: skip
