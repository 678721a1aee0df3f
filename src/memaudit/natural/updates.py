"""Candidates that call something earlier outdated: tombstones and compound updates.

Which earlier sentence a turn may replace is guessed from the texts alone, for every turn: a rule
that asked where the labelled updates are would tell the writer which turns matter.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from memaudit.core.cost import words
from memaudit.datasets.shape import Turn
from memaudit.natural.extracts import SENTENCE_WORDS
from memaudit.natural.offer import Offer, Update
from memaudit.natural.sentences import CLOSING, sentences
from memaudit.natural.terms import Terms, terms
from memaudit.natural.transcript import Transcript

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
