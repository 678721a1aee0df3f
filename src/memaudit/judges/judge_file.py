"""What comes with an offline judge: its weights, its error on conversations it had not seen, and
conversations that nobody's memories are about, which the level of chance is measured against.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from memaudit.kernel.io.file_model import Count, FileModel
from memaudit.kernel.package.package import EvidenceUnit, Experience, Package

VERSION = 1

LABELS = ("none", "partial", "full")

# Bounds refuse what a damaged or hostile file could hold: infinities and NaN give no error later,
# only wrong scores.
Number = Annotated[float, Field(ge=-1e6, le=1e6)]
Probability = Annotated[float, Field(gt=0, lt=1)]


class Logistic(FileModel):
    """A probability: the logistic function of bias + weights * standardised features."""

    bias: Number
    weights: tuple[Number, ...]
    spread: Annotated[float, Field(ge=0, le=10)]
    """How far the bias for memories of one form in one conversation lies from this one: a standard
    deviation."""


class ErrorRow(FileModel):
    """Pairs of one kind of unit that the judge called `judged`, by what they are."""

    kind: str
    judged: Literal["none", "partial", "full"]
    none: Count
    partial: Count
    full: Count

    @property
    def total(self) -> int:
        return self.none + self.partial + self.full


class HeldOutError(FileModel):
    """What the judge says of pairs of conversations that it was not fitted on, and what is true."""

    conversations: tuple[str, ...]
    pairs: Count
    rows: tuple[ErrorRow, ...]

    def rates(self, full_only: bool) -> tuple[float, float]:
        """Precision and recall of any coverage, or of full coverage."""
        called = right = wanted = 0
        for row in self.rows:
            true = row.full if full_only else row.partial + row.full
            wanted += true
            if row.judged == "full" or (row.judged == "partial" and not full_only):
                called += row.total
                right += true
        return right / max(1, called), right / max(1, wanted)


class OtherScript(FileModel):
    """A script that too few conversations are written in to learn it, but one or two to check it.

    The biases are added for such packages. They were chosen on the conversations of the error.
    """

    script: str
    covered_bias: Number
    full_bias: Number
    error: HeldOutError


class TrainingConversation(FileModel):
    name: str
    digest: str
    pairs: Count


class JudgeFile(FileModel):
    """An offline judge. A pair is full from `full_from`, otherwise partial from `partial_from`."""

    format: Literal["memaudit-judge"] = "memaudit-judge"
    version: Literal[1] = 1
    memaudit: str
    embedder: str | None = None
    scripts: tuple[str, ...]
    """Scripts of the conversations it was fitted to. It reads these and the other ones below."""
    features: tuple[str, ...]
    mean: tuple[Number, ...]
    scale: tuple[Number, ...]
    covered: Logistic
    full: Logistic
    partial_from: Probability
    full_from: Probability
    error: HeldOutError
    other_scripts: tuple[OtherScript, ...] = ()
    training: tuple[TrainingConversation, ...]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        columns = (self.mean, self.scale, self.covered.weights, self.full.weights)
        if any(len(column) != len(self.features) for column in columns):
            raise ValueError("mean, scale and weights need one number per feature")
        if min(self.scale) < 1e-9:
            raise ValueError("scale must be above 0 for every feature")
        return self


@cache
def strangers() -> tuple[Package, ...]:
    """Units and cited turns of the shipped long set, as packages without candidates.

    They are a file of their own: reading the set would take every reader of conversations along.
    """
    file = files("memaudit").joinpath("judges", "weights", "strangers.json")
    conversations = json.loads(file.read_text("utf-8"))["conversations"]
    return tuple(
        Package(
            name=conversation["name"],
            experiences=tuple(
                Experience(id=id, text=text, index=index)
                for index, (id, text) in enumerate(conversation["turns"].items())
            ),
            candidates=(),
            units=tuple(EvidenceUnit.model_validate(unit) for unit in conversation["units"]),
        )
        for conversation in conversations
    )
