"""Which model does what in a build with models."""

from dataclasses import dataclass

from memaudit.building.annotations import check_measured
from memaudit.building.transcript import BY_TURN, check_group
from memaudit.kernel.errors import MemAuditError, ParameterError


@dataclass(frozen=True, slots=True)
class ModelRecipe:
    """Which model does what, and how costs are measured."""

    model: str
    """Writes memories, units and requirements."""
    judge: str | None = None
    """Judges coverage; the same model if not given."""
    adjudicator: str | None = None
    """Another model that checks units and requirements; nobody if not given."""
    spot_checker: str | None = None
    """Another model that judges a sample of cells; the adjudicator if not given."""
    format: str = "chat"
    cost_rule: str = "words"
    group: str = BY_TURN
    """What candidates compete within."""

    def __post_init__(self) -> None:
        check_group(self.group)
        if not self.model:
            raise ParameterError("the build names no model; give {model} NAME")
        check_measured(self.cost_rule)
        # A model agrees with itself, so its own check would only lend authority to its mistakes.
        if self.adjudicator == self.model:
            raise MemAuditError(
                f"{self.model!r} cannot adjudicate its own work; give another model"
            )
        if self.checker == self.coverage_judge:
            raise MemAuditError(
                f"the spot check is by {self.checker!r}, which judged the cells; give another model"
            )

    @property
    def coverage_judge(self) -> str:
        return self.judge or self.model

    @property
    def checker(self) -> str | None:
        """The model that judges the sample again."""
        if self.spot_checker is not None or self.adjudicator == self.coverage_judge:
            return self.spot_checker
        return self.adjudicator

    @property
    def models(self) -> dict[str, str | None]:
        return {
            "memories": self.model,
            "units": self.model,
            "requirements": self.model,
            "adjudication": self.adjudicator,
            "coverage": self.coverage_judge,
            "spot check": self.checker,
        }
