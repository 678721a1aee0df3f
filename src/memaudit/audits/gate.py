"""One number for a store at a budget: what a gate in CI, or a test, compares with its bar."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.adapters.store_files import read_store
from memaudit.audits.exported import POLICIES, ExportAudit
from memaudit.audits.judges.registry import named_judge
from memaudit.audits.written import written
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package


@dataclass(frozen=True, slots=True)
class Gated:
    """The union ratio of what a store keeps within the budget."""

    store: str
    ratio: float
    kept_by: str
    is_estimate: bool
    skipped: int = 0
    """Rows of the export that could not be read: the store is not all there."""


def gated(
    package: Path,
    store: Path,
    budget: Fraction,
    judge: str = "lexical",
    label_memories: Path | None = None,
    cost_rule: str | None = None,
    policy: str = "recency",
) -> Gated:
    """The ratio of a store on disk; an error where there is none."""
    from memaudit.io.packages import read_package

    if policy not in POLICIES:
        raise MemAuditError(f"unknown policy {policy!r}; choose from {', '.join(POLICIES)}")
    found: Package = read_package(package)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    by = named_judge(judge, label_memories)
    exported = read_store(store)
    kept = written(found, exported, by)
    score = ExportAudit(found, [kept]).score(kept, budget)
    if score.feasible:
        ratio, how = score.union_ratio, "everything fits"
    else:
        rows = {one.policy: one.ratio for one in score.pruned}
        if policy not in rows:
            raise MemAuditError(f"{kept.name!r} has no {policy} for every memory; use recency")
        ratio, how = rows[policy], f"cut by {policy}"
    if ratio.value is None:
        raise MemAuditError(f"{kept.name!r} has no ratio at budget {budget}: {ratio.undefined}")
    skipped = sum(exported.count.skipped.values())
    return Gated(kept.name, float(ratio.value), how, by.is_estimate, skipped)
