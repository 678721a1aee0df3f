"""The visible features of a candidate, all between 0 and 1, for regression."""

from math import log1p

from memaudit.writers.estimators.cues import KIND_PRIOR
from memaudit.writers.estimators.text_cues import TextCues, text_cues
from memaudit.writers.view import View
from memaudit.writers.words import content_words, held

KINDS = tuple(sorted(KIND_PRIOR))
_CUES = (
    "number", "date", "names", "first person", "update", "deletion", "unsure", "liking", "question",
    "words",
)  # fmt: skip
FEATURES = (
    *(f"kind {kind}" for kind in KINDS),
    *(f"text {cue}" for cue in _CUES),
    *(f"experience {cue}" for cue in _CUES),
    "confidence",
    "cost",
    "cost in its group",
    "position",
    "heard before",
    "of its experience",
)
"""The names of the features, in the order of the columns. Other kinds have no column."""

MOST_NAMES = 3
MOST_WORDS = 200

Row = tuple[float, ...]


def features(view: View) -> list[Row]:
    """One row a candidate, in the order of the view, rounded so that they agree everywhere."""
    costs = [float(candidate.cost) for candidate in view.candidates]
    mean = sum(costs) / len(costs) if costs else 0.0
    last = max(1, len(view.experiences) - 1)
    heard: set[str] = set()
    rows: list[Row] = []
    for place, (experience, group) in enumerate(zip(view.experiences, view.groups, strict=True)):
        said = content_words(experience.text)
        source = _cue_row(text_cues(experience.text))
        dearest = max((float(candidate.cost) for candidate in group), default=0.0)
        for candidate in group:
            words, cost = content_words(candidate.text), float(candidate.cost)
            row = (
                *(float(candidate.kind == kind) for kind in KINDS),
                *_cue_row(text_cues(candidate.text)),
                *source,
                1.0 if candidate.confidence is None else float(candidate.confidence),
                cost / (cost + mean) if cost else 0.0,
                cost / dearest if dearest else 0.0,
                place / last,
                len(words & heard) / len(words) if words else 0.0,
                held(said, words),
            )
            rows.append(tuple(round(number, 9) for number in row))
        heard |= said
    return rows


def _cue_row(cues: TextCues) -> Row:
    return (
        float(cues.number),
        float(cues.date),
        min(cues.names, MOST_NAMES) / MOST_NAMES,
        float(cues.first_person),
        float(cues.update),
        float(cues.deletion),
        float(cues.unsure),
        float(cues.liking),
        float(cues.question),
        log1p(min(cues.words, MOST_WORDS)) / log1p(MOST_WORDS),
    )
