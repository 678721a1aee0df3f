"""Candidates without a model: extracts, representations of the dataset, tombstones and updates.

Fixed rules look at the texts alone and are the same for every turn. Which earlier sentence a turn
may replace is guessed for every turn: a rule that used the labelled updates would tell the writer
which turns matter.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from memaudit.building.transcript import Transcript, session_end_id, turn_text
from memaudit.conversations.conversation import Session, Turn
from memaudit.kernel.package.cost import text_words
from memaudit.kernel.words.text import CLOSING, QUESTION_MARKS, Terms, sentences, terms


@dataclass(frozen=True, slots=True)
class UpdatePair:
    """A sentence of a later turn beside one of an earlier turn that it may replace."""

    earlier: str
    old: str
    later: str
    new: str


@dataclass(frozen=True, slots=True)
class Offer:
    """Something a writer could store.

    `whole_turns` are the turns it contains verbatim, `points` the turns its author names as its
    sources, `about` the session it is about.
    `judged` means that labels decide what it covers, not rules.
    """

    id: str
    experience: str
    kind: str
    text: str
    generator: str
    whole_turns: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    about: str | None = None
    update: UpdatePair | None = None
    judged: bool = False
    confidence: Fraction | None = None


EXTRACT_RULES = {
    "raw": "a turn with its date and speaker, and the caption of its image",
    "session": "all turns of a session with their speakers, the date first",
}
"""How each kind of extract is made. No two extracts of one turn contain each other, so that a group
cap above 1 rewards nothing twice."""


def extracts(transcript: Transcript) -> Iterator[Offer]:
    """Every turn, and every session at its end, as a store would keep them."""
    for session in transcript.sessions:
        spoken = [turn for turn in session.turns if turn_text(turn).strip()]
        for turn in spoken:
            yield Offer(
                f"{turn.id}/raw",
                turn.id,
                "raw",
                dated(turn, session),
                "rule:raw",
                whole_turns=(turn.id,),
            )
        if spoken:
            yield Offer(
                f"{session.id}/session",
                session_end_id(session.id),
                "session",
                "\n".join([*_date(session.timestamp), *map(said, spoken)]),
                "rule:session",
                whole_turns=tuple(turn.id for turn in spoken),
            )


def said(turn: Turn) -> str:
    """A turn with its speaker."""
    return f"{turn.speaker}: {turn_text(turn)}"


def dated(turn: Turn, session: Session) -> str:
    """A turn with its date, where it has one, and its speaker."""
    return " ".join([*_date(turn.timestamp or session.timestamp), said(turn)])


def _date(timestamp: str | None) -> list[str]:
    return [f"[{timestamp[:10]}]"] if timestamp else []


KINDS = {"observation": "fact", "session_summary": "summary", "event_summary": "event"}
"""Candidate kinds by what a dataset calls its representations."""


@dataclass(frozen=True, slots=True)
class DatasetOffers:
    """Offers made of a dataset's representations, and the ids of those without a session."""

    offers: tuple[Offer, ...]
    unplaced: tuple[str, ...]


def dataset_offers(transcript: Transcript) -> DatasetOffers:
    """Each representation at its latest source turn, or at the end of its session."""
    offers: list[Offer] = []
    unplaced: list[str] = []
    seen: set[tuple[str, str]] = set()
    for shipped in transcript.representations:
        session = transcript.session.get(shipped.session or "")
        if shipped.sources:
            experience = max(shipped.sources, key=lambda turn: transcript.place[turn])
        elif session is not None and session.turns:
            experience = session_end_id(session.id)
        else:
            unplaced.append(shipped.id)
            continue
        # Equal candidates of a turn would only slow the solver.
        if shipped.text.strip() and (experience, shipped.text) not in seen:
            seen.add((experience, shipped.text))
            offers.append(
                Offer(
                    shipped.id,
                    experience,
                    KINDS.get(shipped.kind, shipped.kind),
                    shipped.text,
                    f"dataset:{shipped.kind}",
                    points=shipped.sources,
                    about=None if shipped.sources else shipped.session,
                )
            )
    return DatasetOffers(tuple(offers), tuple(unplaced))


# Every pair adds two candidates, which compete within the turn.
MAX_PAIRS = 3
"""Earlier turns that a turn is paired with at most."""

SHARED_TERMS = 2
MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 3, 60
"""Shorter sentences are greetings and exclamations, longer ones pasted documents: no pairs."""

PAIR_RULE = (
    f"pairs-v1: a turn that is not an assistant's and the {MAX_PAIRS} earlier turns of its "
    "speaker, in earlier sessions, with the sentence most like one of its own (at least "
    f"{SHARED_TERMS} shared terms, rare ones count more)"
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    turn: str
    text: str
    terms: Terms
    questions: bool


def update_offers(transcript: Transcript) -> Iterator[Offer]:
    """A tombstone and a compound update per pair, at the later turn."""
    for number, pair in pairs(transcript):
        suffix = "" if number == 1 else f"-{number}"
        turn = transcript.turn[pair.later]
        date = _date(turn.timestamp or transcript.session[turn.session].timestamp)
        for kind, text in (
            ("tombstone", f"No longer holds: {turn.speaker}: {pair.old}"),
            ("compound_update", f"{turn.speaker}: {pair.new} (before: {pair.old})"),
        ):
            yield Offer(
                f"{pair.later}/{kind}{suffix}",
                pair.later,
                kind,
                " ".join([*date, text]),
                "rule:pairs-v1",
                update=pair,
            )


def pairs(transcript: Transcript) -> Iterator[tuple[int, UpdatePair]]:
    """Each turn's pairs, the most similar first, numbered from 1."""
    rarity = _rarity(transcript)
    index: dict[tuple[str, str], list[_Sentence]] = defaultdict(list)
    for session in transcript.sessions:
        turns = [
            (turn.speaker, _sentences(turn)) for turn in session.turns if turn.role != "assistant"
        ]
        # The index gets a session's sentences only after all of its turns have looked: pairs are
        # with earlier sessions alone.
        for speaker, own in turns:
            yield from enumerate(_best(own, speaker, index, rarity), start=1)
        for speaker, own in turns:
            for sentence in own:
                for term in sentence.terms:
                    index[speaker, term].append(sentence)


def _best(
    own: list[_Sentence],
    speaker: str,
    index: dict[tuple[str, str], list[_Sentence]],
    rarity: dict[str, float],
) -> list[UpdatePair]:
    """The pairs of one turn: per earlier turn the two most similar sentences."""
    best: dict[str, tuple[float, UpdatePair]] = {}
    for new in own:
        # A question states nothing that could replace or be replaced.
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
            # Rounded, so that the order of additions cannot break ties.
            score = round(math.fsum(shared) / math.sqrt(len(old.terms) * len(new.terms)), 9)
            if score > best.get(old.turn, (0.0,))[0]:
                best[old.turn] = score, UpdatePair(old.turn, old.text, new.turn, new.text)
    ranked = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))
    return [pair for _, (_, pair) in ranked[:MAX_PAIRS]]


def _sentences(turn: Turn) -> list[_Sentence]:
    return [
        _Sentence(turn.id, text, terms(text), text.rstrip(CLOSING).endswith(QUESTION_MARKS))
        for text in sentences(turn.text)
        if MIN_SENTENCE_WORDS <= text_words(text) <= MAX_SENTENCE_WORDS
    ]


def _rarity(transcript: Transcript) -> dict[str, float]:
    """Per term the log of all turns over the turns that contain it."""
    having = Counter(term for turn in transcript.turn.values() for term in terms(turn.text))
    total = len(transcript.turn) + 1
    return {term: math.log(total / count) for term, count in having.items()}
