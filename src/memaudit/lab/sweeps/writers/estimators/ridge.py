"""Ridge regression on visible features: the features, the model file and the estimator."""

import hashlib
import json
from collections.abc import Callable
from functools import cache, cached_property
from importlib.resources import files
from math import fsum, log1p
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.writers.estimators.lexical import (
    KIND_PRIOR,
    LexicalNovelty,
    TextCues,
    contained_share,
    content_words,
    lexical_novelty,
    text_cues,
)
from memaudit.lab.sweeps.writers.protocol import View


def content_digest(view: View) -> str:
    """The SHA-256 of what was said and offered; it keeps training and test packages apart.

    Ids, the order of candidates in a group and session names do not change it. Costs, confidences
    and the group cap do not either: the same content under another cost rule is the same content.
    """
    sessions: dict[str | None, int] = {None: -1}
    steps = []
    for experience, group in zip(view.experiences, view.groups, strict=True):
        session = sessions.setdefault(experience.session, len(sessions) - 1)
        offered = sorted((candidate.kind, candidate.text) for candidate in group)
        steps.append([session, experience.timestamp, experience.speaker, experience.text, offered])
    text = json.dumps(steps, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


KINDS = tuple(sorted(KIND_PRIOR))
_CUES = (
    "number",
    "date",
    "names",
    "first person",
    "update",
    "deletion",
    "unsure",
    "liking",
    "question",
    "words",
)
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

MAX_NAMES = 3
MAX_WORDS = 200

FeatureRow = tuple[float, ...]


def features(view: View) -> list[FeatureRow]:
    """One row per candidate in the order of the view, rounded so that machines agree."""
    costs = [float(candidate.cost) for candidate in view.candidates]
    mean = sum(costs) / len(costs) if costs else 0.0
    last = max(1, len(view.experiences) - 1)
    heard: set[str] = set()
    rows: list[FeatureRow] = []
    for place, (experience, group) in enumerate(zip(view.experiences, view.groups, strict=True)):
        said = content_words(experience.text)
        source = _cue_row(text_cues(experience.text))
        highest_cost = max((float(candidate.cost) for candidate in group), default=0.0)
        for candidate in group:
            words, cost = content_words(candidate.text), float(candidate.cost)
            row = (
                *(float(candidate.kind == kind) for kind in KINDS),
                *_cue_row(text_cues(candidate.text)),
                *source,
                1.0 if candidate.confidence is None else float(candidate.confidence),
                cost / (cost + mean) if cost else 0.0,
                cost / highest_cost if highest_cost else 0.0,
                place / last,
                len(words & heard) / len(words) if words else 0.0,
                contained_share(said, words),
            )
            # Logarithms and divisions differ in the last bits between machines; nine digits do not.
            rows.append(tuple(round(number, 9) for number in row))
        # After the group's rows: a candidate always repeats its own experience, so that is not
        # news.
        heard |= said
    return rows


def _cue_row(cues: TextCues) -> FeatureRow:
    return (
        float(cues.number),
        float(cues.date),
        min(cues.names, MAX_NAMES) / MAX_NAMES,
        float(cues.first_person),
        float(cues.update),
        float(cues.deletion),
        float(cues.unsure),
        float(cues.liking),
        float(cues.question),
        log1p(min(cues.words, MAX_WORDS)) / log1p(MAX_WORDS),
    )


_SHA256 = r"^[0-9a-f]{64}$"


class TrainingPackage(BaseModel):
    """A package that a model was trained on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str = Field(pattern=_SHA256, description="the package's digest")
    content: str = Field(pattern=_SHA256, description="digest of what it shows, without ids")


class RidgeModel(BaseModel):
    """A linear model of the features."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, ignored_types=(cached_property,)
    )

    format: Literal["memaudit-ridge"] = "memaudit-ridge"
    version: Literal[1] = 1
    memaudit: str = Field(description="version of the program that trained it")
    alpha: float = Field(gt=0)
    features: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    training: tuple[TrainingPackage, ...]

    @model_validator(mode="after")
    def _of_this_program(self) -> Self:
        # Coefficients belong to columns by their order, so another list of names is another model.
        if self.features != FEATURES:
            raise ValueError("its features are not those of this program; train a new model")
        if len(self.coefficients) != len(self.features):
            raise ValueError(
                f"it has {len(self.coefficients)} coefficients for {len(self.features)} features"
            )
        return self

    @cached_property
    def trained_on(self) -> frozenset[str]:
        """The content digests of the training packages."""
        return frozenset(trained.content for trained in self.training)


@cache
def default_model() -> RidgeModel:
    """The model that comes with the program; `train.py` makes it."""
    file = files("memaudit.lab.sweeps.writers.estimators").joinpath("ridge_default.json")
    return RidgeModel.model_validate_json(file.read_text("utf-8"))


class Ridge:
    """Predicted share of the package's total weight, never below 0; lexical novelty.

    Refuses a view whose content it was trained on.
    """

    name = "ridge"
    about = "ridge regression on visible features, trained on other packages of the event graph"

    def __init__(self, model: RidgeModel | None = None) -> None:
        self._model = model

    @cached_property
    def model(self) -> RidgeModel:
        """The given model or the default one, read on first use."""
        return default_model() if self._model is None else self._model

    def values(self, view: View) -> tuple[float, ...]:
        if (content := content_digest(view)) in self.model.trained_on:
            raise MemAuditError(
                f"the ridge model was trained on this content ({content[:12]}): "
                "evaluate it on other packages, or train it without this one"
            )
        return tuple(predicted(self.model, row) for row in features(view))

    def novelty(self, view: View) -> Callable[[], LexicalNovelty]:
        return lexical_novelty(view)


def predicted(model: RidgeModel, row: FeatureRow) -> float:
    """The prediction for one row, summed without rounding errors so that machines agree."""
    parts = [weight * number for weight, number in zip(model.coefficients, row, strict=True)]
    return max(0.0, round(fsum((model.intercept, *parts)), 9))
