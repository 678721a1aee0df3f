"""The ratio of a store at a budget that a CI gate or a test compares with a minimum."""

from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.scoring.caveats import Caveats
from memaudit.scoring.judged_store import OWN_SALIENCE, Salience, judge_store
from memaudit.scoring.judges import Judge
from memaudit.scoring.pruning import (
    DEFAULT_POLICY,
    EVERYTHING_FITS,
    POLICIES,
    MissingSalience,
    kept_row,
)
from memaudit.scoring.score import StoreScorer


@dataclass(frozen=True, slots=True)
class GateResult:
    """The union ratio of what a store keeps within the budget.

    `ratio` and `highest` are the two numbers it lies between where its optimum is not certified,
    and a hair apart where some h is irrational.
    """

    store: str
    ratio: float
    highest: float
    kept_by: str
    is_estimate: bool
    certified: bool
    caveats: Caveats

    def passes(self, minimum: float) -> bool:
        """Whether the ratio reaches a minimum; an error if the bounds do not decide it."""
        if self.ratio >= minimum or (self.certified and self.highest >= minimum):
            return True
        if self.highest >= minimum:
            raise MemAuditError(
                f"not decided: {self.store!r} reaches between {self.ratio:.4f} and "
                f"{self.highest:.4f}, the optimum is not certified; give more --seconds"
            )
        return False

    @property
    def reaches(self) -> str:
        """The ratio in words."""
        if self.certified:
            return f"{self.ratio:.4f}"
        return f"{self.ratio:.4f} to {self.highest:.4f} (optimum not certified)"

    @property
    def notes(self) -> str:
        """How it was cut and judged, and everything the score does not see."""
        estimated = ["coverage estimated"] if self.is_estimate else []
        return ", ".join([self.kept_by, *estimated, *self.caveats.lines])


def gate_store(
    package: Package,
    store: ExportedStore,
    budget: Fraction,
    judge: Judge,
    *,
    policy: str = DEFAULT_POLICY,
    salience: Salience = OWN_SALIENCE,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> GateResult:
    """The ratio of a store; an error where there is none."""
    if policy not in POLICIES:
        raise MemAuditError(f"unknown policy {policy!r}; choose from {', '.join(POLICIES)}")
    judged = judge_store(package, store, judge, salience)
    score = StoreScorer(package, [judged], group_cap, seconds).score(judged, budget)
    by_policy = {pruned.policy: pruned.ratio for pruned in score.pruned}
    ratio = kept_row(score.feasible, score.union_ratio, by_policy, policy)
    if ratio is None:
        raise MissingSalience(judged.name, policy)
    ends = ratio.between if ratio.value is None else (ratio.value, ratio.value * ratio.slack)
    if ends is None:
        raise MemAuditError(
            f"{judged.name!r} has no ratio at budget {plain(budget)}: {ratio.undefined}"
        )
    # What is kept within the budget is one of the stores the optimum is taken over: at most 1.
    low, high = (float(min(end, Fraction(1))) for end in ends)
    return GateResult(
        store=judged.name,
        ratio=low,
        highest=high,
        kept_by=EVERYTHING_FITS if score.feasible else f"cut by {policy}",
        is_estimate=judge.is_estimate,
        certified=ratio.value is not None,
        caveats=judged.caveats,
    )
