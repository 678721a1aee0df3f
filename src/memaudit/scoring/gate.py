"""The ratio of a store at a budget that a CI gate or a test compares with a minimum."""

from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.grounds import is_estimate
from memaudit.core.package import Package
from memaudit.scoring.candidate_cells import assumed_pairs, judge_candidates
from memaudit.scoring.caveats import Caveats
from memaudit.scoring.fed_turns import fed_part
from memaudit.scoring.judged_store import OWN_SALIENCE, Salience, judge_store
from memaudit.scoring.judges import Judge
from memaudit.scoring.pruning import (
    EVERYTHING_FITS,
    POLICIES,
    NoSuchOrder,
    default_policy,
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
    assumed: tuple[Fraction, Fraction]
    """The shares of OPT and of what the store keeps that rest on assumed cells."""
    judge_assumes: bool
    """Whether cells of 0 are assumed too."""
    certified: bool
    caveats: Caveats

    @property
    def is_estimate(self) -> bool:
        return self.judge_assumes or is_estimate(self.assumed)

    def passes(self, minimum: float, allow_estimates: bool = False) -> bool:
        """Whether the ratio reaches a minimum.

        An error if the bounds do not decide it, or if it is an estimate and none is allowed.
        """
        if self.is_estimate and not allow_estimates:
            raise MemAuditError(
                f"not decided: the ratio of {self.store!r} is an estimate, {self.rests_on}; judge "
                "by labels or a model, or allow estimates (--allow-estimates)"
            )
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
    def rests_on(self) -> str:
        """The shares that rest on assumed cells, in words."""
        optimum, store = (f"{float(share):.1%}" for share in self.assumed)
        text = f"{optimum} of the optimum and {store} of the store rest on assumed cells"
        return f"{text}, and so does every 0" if self.judge_assumes else text

    @property
    def notes(self) -> str:
        """How it was cut and judged, and everything the score does not see."""
        mark = "an ESTIMATE: " if self.is_estimate else ""
        return ", ".join([self.kept_by, f"{mark}{self.rests_on}", *self.caveats.lines])


def gate_store(
    package: Package,
    store: ExportedStore,
    budget: Fraction,
    judge: Judge,
    *,
    policy: str | None = None,
    salience: Salience = OWN_SALIENCE,
    group_cap: int | None = None,
    seconds: float | None = None,
    trust_package_cells: bool = False,
) -> GateResult:
    """The ratio of a store; an error where there is none."""
    if policy is not None and policy not in POLICIES:
        raise MemAuditError(f"unknown policy {policy!r}; choose from {', '.join(POLICIES)}")
    part = fed_part(package, [store])
    package = part.package
    judged = judge_store(package, store, judge, salience).without_units(part.left_out)
    policy = policy or default_policy(judged)
    scored = package if trust_package_cells else judge_candidates(package, judge)
    kept_cells = scored is package and any(assumed_pairs(package).values())
    score = StoreScorer(scored, [judged], group_cap, seconds).score(judged, budget)
    by_policy = {pruned.policy: (pruned.ratio, pruned.score) for pruned in score.pruned}
    kept = kept_row(score.feasible, (score.union_ratio, score.score), by_policy, policy)
    if kept is None:
        raise NoSuchOrder(judged, policy)
    ratio, kept_score = kept
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
        kept_by=(EVERYTHING_FITS if score.feasible else f"cut by {policy}")
        + (", the package's assumed cells kept" if kept_cells else ""),
        assumed=(ratio.optimum.assumed, kept_score.assumed),
        judge_assumes=judge.is_estimate,
        certified=ratio.value is not None,
        caveats=judged.caveats,
    )
