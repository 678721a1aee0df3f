"""The files of a calibration: summary.json and rows.jsonl, and the names they use."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from memaudit.kernel.io.file_model import Count, ExactText, StrictFileModel, WithinOne
from memaudit.lab.downstream.diagnosis_files import ReadingSpec

CALIBRATION_STEPS = {
    "ratio": "value of the store over the certified optimum",
    "kept_coverage": "share of every required unit that the store keeps, mean over questions",
    "kept_recall": "share of the required units that the store keeps in full",
    "evidence_recall": "share of the required units that the retrieved memories cover in full",
    "answered": "share of questions answered right with their evidence",
}
"""From writing to answering; each number knows one thing more than the one before."""
PARTING_REASONS = {
    "kept_coverage": "weights: the ratio sums units by their weight, recall counts questions "
    "equally, whether they need one unit or many",
    "kept_recall": "parts: the ratio credits a unit that is kept in part, recall does not",
    "evidence_recall": "retrieval: more is kept, but less of it is among the memories retrieved",
    "answered": "reading: more is retrieved, but less of it is answered correctly",
}
"""Why two orders part, by the first step at which they do."""

Rank = Annotated[float, Field(ge=-1, le=1)]


class CalibrationSpec(ReadingSpec):
    """The writers and budgets that were compared."""

    budgets: list[str]
    writers: Annotated[list[str], Field(min_length=1)]
    peeking_writers: list[str]


class CorrelationEstimate(StrictFileModel):
    """A rank correlation with its interval."""

    value: Rank | None
    ci_low: Rank | None
    ci_high: Rank | None


class CorrelationRow(StrictFileModel):
    """One outcome, compared in one way."""

    set: str
    target: str
    how: str
    n: Count
    spearman: CorrelationEstimate
    kendall: CorrelationEstimate


class PartingWriter(StrictFileModel):
    """One of the two writers, with every step."""

    writer: str
    ratio: WithinOne
    kept_coverage: WithinOne | None = None
    kept_recall: WithinOne | None = None
    evidence_recall: WithinOne | None = None
    answered: WithinOne | None = None


class Parting(StrictFileModel):
    """Two writers that the ratio and an outcome rank differently."""

    package: str
    budget: ExactText
    why: str
    first: PartingWriter
    second: PartingWriter


class OutcomePartings(StrictFileModel):
    """How often the ratio and one outcome rank two writers differently, and why."""

    target: str
    agree: Count
    tied: Count
    apart: dict[str, Count]
    largest: list[Parting]

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        if self.target not in CALIBRATION_STEPS:
            raise ValueError(f"{self.target[:40]!r} is not a step from writing to answering")
        if unknown := sorted(self.apart.keys() - PARTING_REASONS.keys()):
            raise ValueError(f"{unknown[0][:40]!r} is not a known reason for a difference")
        for pair in self.largest:
            if None in (getattr(pair.first, self.target), getattr(pair.second, self.target)):
                raise ValueError(f"a pair that differs by {self.target} lacks it")
        return self


class CalibrationSummary(StrictFileModel):
    """Everything but the points."""

    spec: CalibrationSpec
    points: Count
    undefined: Count
    sets: dict[str, Count]
    correlations: list[CorrelationRow]
    partings: list[OutcomePartings]

    @property
    def rows(self) -> int:
        """How many rows the folder has."""
        return self.points


class CalibrationRow(StrictFileModel):
    """A point: a store, its ratio and what came of it."""

    writer: str
    ratio: WithinOne | None
    evidence_recall: WithinOne | None
    answered: WithinOne | None
    token_f1: WithinOne | None
