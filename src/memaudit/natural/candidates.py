"""Candidates without a model: cut from turns, shipped with the dataset, tombstones, updates."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.cost import words
from memaudit.core.text import CLOSING, Terms, first_words, one_line, sentences, terms
from memaudit.datasets.conversation import Session, Turn
from memaudit.natural.transcript import Transcript, end_of, text_of


@dataclass(frozen=True, slots=True)
class Update:
    """A sentence of a later turn beside one of an earlier turn that it may replace."""

    earlier: str
    old: str
    later: str
    new: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Something a writer could store.

    `whole` are the turns it holds word for word, `piece_of` the turn it is a verbatim piece of,
    `points` the turns its author names as its sources, `about` the session it speaks of.
    `judged` means that people's labels decide what it covers, and no rule does.
    """

    id: str
    experience: str
    kind: str
    text: str
    generator: str
    whole: tuple[str, ...] = ()
    piece_of: str | None = None
    points: tuple[str, ...] = ()
    about: str | None = None
    update: Update | None = None
    judged: bool = False
    confidence: Fraction | None = None


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


PAIRS = 3
"""Earlier turns that a turn is paired with, at most."""

SHARED_TERMS = 2
LONGEST = 60
"""Words of a sentence that takes part; longer ones are pasted documents."""

RULE = (
    f"pairs-v1: a turn that is not an assistant's and the {PAIRS} earlier turns of its speaker, in "
    f"earlier sessions, with the sentence most like one of its own (at least {SHARED_TERMS} shared "
    "terms, rare ones count more)"
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    turn: str
    text: str
    terms: Terms
    questions: bool


def update_offers(transcript: Transcript) -> Iterator[Offer]:
    """Two offers a pair, at the later turn."""
    for number, pair in pairs(transcript):
        suffix = "" if number == 1 else f"-{number}"
        for kind, text in (
            ("tombstone", f"No longer holds: {pair.old}"),
            ("compound_update", f"{pair.new} (before: {pair.old})"),
        ):
            yield Offer(
                f"{pair.later}/{kind}{suffix}", pair.later, kind, text, "rule:pairs-v1", update=pair
            )


def pairs(transcript: Transcript) -> Iterator[tuple[int, Update]]:
    """Each turn's pairs, the most alike first, numbered from 1."""
    rarity = _rarity(transcript)
    index: dict[tuple[str, str], list[_Sentence]] = defaultdict(list)
    for session in transcript.sessions:
        told = [_sentences(turn) for turn in session.turns if turn.role != "assistant"]
        speakers = [turn.speaker for turn in session.turns if turn.role != "assistant"]
        for speaker, mine in zip(speakers, told, strict=True):
            yield from enumerate(_best(mine, speaker, index, rarity), start=1)
        for speaker, mine in zip(speakers, told, strict=True):
            for sentence in mine:
                for term in sentence.terms:
                    index[speaker, term].append(sentence)


def _best(
    mine: list[_Sentence], speaker: str, index: dict[tuple[str, str], list[_Sentence]],
    rarity: dict[str, float],
) -> list[Update]:  # fmt: skip
    """The pairs of one turn; per earlier turn the two sentences most alike."""
    best: dict[str, tuple[float, Update]] = {}
    for new in mine:
        if new.questions:
            continue
        scores: dict[_Sentence, list[float]] = defaultdict(list)
        for term in sorted(new.terms):
            for old in index.get((speaker, term), ()):
                if not old.questions:
                    scores[old].append(rarity[term])
        for old, shared in scores.items():
            if len(shared) < SHARED_TERMS:
                continue
            # Rounded, so that the order of additions cannot decide between equals.
            score = round(math.fsum(shared) / math.sqrt(len(old.terms) * len(new.terms)), 9)
            if score > best.get(old.turn, (0.0,))[0]:
                best[old.turn] = score, Update(old.turn, old.text, new.turn, new.text)
    ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
    return [pair for _, (_, pair) in ranked[:PAIRS]]


def _sentences(turn: Turn) -> list[_Sentence]:
    return [
        _Sentence(turn.id, text, terms(text), text.rstrip(CLOSING).endswith("?"))
        for text in sentences(turn.text)
        if SENTENCE_WORDS <= words(text) <= LONGEST
    ]


def _rarity(transcript: Transcript) -> dict[str, float]:
    """Per term, log of the turns over the turns that have it."""
    having = Counter(term for turn in transcript.turn.values() for term in terms(turn.text))
    total = len(transcript.turn) + 1
    return {term: math.log(total / count) for term, count in having.items()}
