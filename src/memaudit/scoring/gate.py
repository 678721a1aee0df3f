"""One number for a store at a budget: what a gate in CI, or a test, compares with its bar."""

import math
from dataclasses import dataclass
from fractions import Fraction

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.scoring.caveats import Account
from memaudit.scoring.judged_store import OWN_SALIENCE, Salience, written
from memaudit.scoring.judges.protocol import Judge
from memaudit.scoring.store_scores import POLICIES, ExportAudit

ESTIMATED = "coverage estimated"


@dataclass(frozen=True, slots=True)
class Gated:
    """The union ratio of what a store keeps within the budget, or the two numbers it lies between:
    where its optimum is not certified, and, a hair apart, where some h is irrational."""

    store: str
    ratio: float
    highest: float
    kept_by: str
    is_estimate: bool
    certified: bool
    account: Account

    def passes(self, bar: float) -> bool:
        """Whether it reaches a bar; an error where that is not decided."""
        if self.ratio >= bar or (self.certified and self.highest >= bar):
            return True
        if self.highest >= bar:
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
        estimated = [ESTIMATED] if self.is_estimate else []
        return ", ".join([self.kept_by, *estimated, *self.account.lines])


def gated(
    package: Package,
    store: ExportedStore,
    budget: Fraction,
    judge: Judge,
    *,
    policy: str = "recency",
    salience: Salience = OWN_SALIENCE,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> Gated:
    """The ratio of a store; an error where there is none."""
    if policy not in POLICIES:
        raise MemAuditError(f"unknown policy {policy!r}; choose from {', '.join(POLICIES)}")
    kept = written(package, store, judge, salience)
    score = ExportAudit(package, [kept], group_cap, seconds).score(kept, budget)
    if score.feasible:
        ratio, how = score.union_ratio, "everything fits"
    else:
        rows = {one.policy: one.ratio for one in score.pruned}
        if policy not in rows:
            raise MemAuditError(f"{kept.name!r} has no {policy} for every memory; use recency")
        ratio, how = rows[policy], f"cut by {policy}"
    ends = ratio.between if ratio.value is None else (ratio.value, ratio.value * ratio.slack)
    if ends is None:
        raise MemAuditError(
            f"{kept.name!r} has no ratio at budget {plain(budget)}: {ratio.undefined}"
        )
    # What is kept within the budget is one of the stores the optimum is taken over: at most 1.
    low, high = (float(min(end, Fraction(1))) for end in ends)
    return Gated(
        kept.name, low, high, how, judge.is_estimate, ratio.value is not None, kept.account
    )


def checked_seconds(seconds: float | None) -> float | None:
    """The limit of `--seconds`; nothing that is no time."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise MemAuditError(f"--seconds {seconds:g} is no time limit; give a number above 0")
    return seconds
