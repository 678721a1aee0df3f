"""Which model does what in a build with models."""

from dataclasses import dataclass
from fractions import Fraction

from memaudit.building.label_passes import CONVERSATION, SESSION
from memaudit.building.transcript import BY_TURN, check_group
from memaudit.judges.model_judge import SPOT_CHECK_SHARE
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.package.cost import DECLARED, cost_rule


@dataclass(frozen=True, slots=True)
class ModelRecipe:
    """Which model does what, how costs are measured, and how much is judged."""

    model: str
    """Writes memories, units and requirements."""
    judge: str | None = None
    """Judges coverage; the same model if not given."""
    adjudicator: str | None = None
    """Another model that checks units and requirements; nobody if not given."""
    spot_checker: str | None = None
    """Another model that judges a sample of cells; the adjudicator if not given."""
    spot_share: Fraction = SPOT_CHECK_SHARE
    seed: int = 0
    """The seed of the sample."""
    format: str = "chat"
    cost_rule: str = "words"
    group: str = BY_TURN
    """What candidates compete within."""
    group_cap: int = 1
    judge_raw: bool = True
    """Whether raw turns are judged like other candidates if no quote decides."""
    frame: str = CONVERSATION
    """Whether a memory is judged with all required units or only those of its sessions."""

    def __post_init__(self) -> None:
        check_group(self.group)
        if not self.model:
            raise ParameterError("the build names no model; give {model} NAME")
        if self.cost_rule == DECLARED:
            raise MemAuditError(
                "a build measures its costs; choose a rule: words, unicode_words, bytes or "
                "tokens:NAME"
            )
        cost_rule(self.cost_rule)
        # A model agrees with itself, so its own check would only lend authority to its mistakes.
        if self.adjudicator == self.model:
            raise MemAuditError(
                f"{self.model!r} cannot adjudicate its own work; give another model"
            )
        if self.checker == self.coverage_judge:
            raise MemAuditError(
                f"the spot check is by {self.checker!r}, which judged the cells; give another model"
            )
        if self.frame not in (CONVERSATION, SESSION):
            raise MemAuditError(f"unknown frame {self.frame!r}; choose {CONVERSATION} or {SESSION}")
        if not 0 < self.spot_share <= 1:
            raise MemAuditError(
                f"the share of the spot check is {self.spot_share}; it must be in (0, 1]"
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
