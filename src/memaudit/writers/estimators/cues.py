"""The cue prior: hand-set weights on what a candidate shows. Nothing was fitted to any package."""

from collections.abc import Callable

from memaudit.writers.estimators.lexical import LexicalNovelty, lexical_novelty
from memaudit.writers.estimators.text_cues import text_cues
from memaudit.writers.view import View, VisibleCandidate

KIND_PRIOR = {
    "compound_update": 1.0,
    "tombstone": 0.8,
    "preference": 0.7,
    "rule": 0.7,
    "fact": 0.6,
    "event": 0.6,
    "temporal_event": 0.6,
    "interval_fact": 0.6,
    "abstention": 0.6,
    "summary": 0.6,
    "skill": 0.6,
    "raw": 0.6,
    "uncertainty": 0.5,
    "edge": 0.4,
}
"""What changes the answer to a later question comes first; an edge says little by itself."""

OTHER_KIND = 0.5

NUMBER, DATE, NAME, FIRST_PERSON, UPDATE, LENGTH = 0.2, 0.2, 0.1, 0.1, 0.2, 0.1
"""Specifics get asked for, and so does what changed; up to two names count. All add up to 1."""

MOST_NAMES = 2
HALF_LENGTH = 10
"""A text of this many words gets half of what length can give."""


def kind_prior(kind: str) -> float:
    """What a kind is worth before reading, in [0, 1]."""
    return KIND_PRIOR.get(kind, OTHER_KIND)


def cue_worth(text: str) -> float:
    """What the cues of a text add up to, in [0, 1]."""
    cues = text_cues(text)
    return (
        NUMBER * cues.number
        + DATE * cues.date
        + NAME * min(cues.names, MOST_NAMES)
        + FIRST_PERSON * cues.first_person
        + UPDATE * cues.update
        + LENGTH * cues.words / (cues.words + HALF_LENGTH)
    )


class CuePrior:
    """Confidence times the sum of the kind's prior and the text's cues; lexical novelty."""

    name = "cues"
    about = "kind, cues in the text and confidence, weights set by hand"

    def values(self, view: View) -> tuple[float, ...]:
        return tuple(_value(candidate) for candidate in view.candidates)

    def novelty(self, view: View) -> Callable[[], LexicalNovelty]:
        return lexical_novelty(view)


def _value(candidate: VisibleCandidate) -> float:
    confidence = 1.0 if candidate.confidence is None else float(candidate.confidence)
    return round(confidence * (kind_prior(candidate.kind) + cue_worth(candidate.text)), 9)
