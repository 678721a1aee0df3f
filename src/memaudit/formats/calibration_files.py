"""What the files of a calibration say, as typed models."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from memaudit.downstream.calibration_points import STEPS
from memaudit.downstream.calibration_summary import REASONS
from memaudit.formats.diagnosis_files import Count, Exact, Reading, Stated, WithinOne

Rank = Annotated[float, Field(ge=-1, le=1)]


class CalibrationSpec(Reading):
    """What was compared."""

    budgets: list[str]
    writers: Annotated[list[str], Field(min_length=1)]
    peeking_writers: list[str]


class Correlated(Stated):
    """A rank correlation with its interval."""

    value: Rank | None
    ci_low: Rank | None
    ci_high: Rank | None


class CorrelationRow(Stated):
    """One outcome, compared in one way."""

    set: str
    target: str
    how: str
    n: Count
    spearman: Correlated
    kendall: Correlated


class Side(Stated):
    """One writer of a parting, with every step."""

    writer: str
    ratio: WithinOne
    kept_coverage: WithinOne | None = None
    kept_recall: WithinOne | None = None
    evidence_recall: WithinOne | None = None
    answered: WithinOne | None = None


class Parting(Stated):
    """Two writers that part."""

    package: str
    budget: Exact
    why: str
    first: Side
    second: Side


class Parted(Stated):
    """Where ratio and one outcome part."""

    target: str
    agree: Count
    tied: Count
    apart: dict[str, Count]
    largest: list[Parting]

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.target not in STEPS:
            raise ValueError(f"{self.target[:40]!r} is no step from writing to answering")
        if unknown := sorted(self.apart.keys() - REASONS.keys()):
            raise ValueError(f"{unknown[0][:40]!r} is no reason to part")
        for one in self.largest:
            if getattr(one.first, self.target) is None or getattr(one.second, self.target) is None:
                raise ValueError(f"a pair that parts by {self.target} lacks it")
        return self


class CalibrationSummary(Stated):
    """Everything but the points."""

    spec: CalibrationSpec
    points: Count
    undefined: Count
    sets: dict[str, Count]
    correlations: list[CorrelationRow]
    partings: list[Parted]

    @property
    def rows(self) -> int:
        """How many rows it is of."""
        return self.points


class CalibrationRow(Stated):
    """A point: a store, its ratio and what came of it."""

    writer: str
    ratio: WithinOne | None
    evidence_recall: WithinOne | None
    answered: WithinOne | None
    token_f1: WithinOne | None
