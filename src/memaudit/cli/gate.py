"""`memaudit gate`: a bar for CI."""

from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.scoring_options import (
    CostRule,
    LabelMemories,
    OfflineJudge,
    PackagePath,
    StorePath,
)
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError


def gate(
    package: PackagePath,
    store: StorePath,
    budget: Annotated[str, typer.Option(metavar="B", help="The budget.")],
    min_ratio: Annotated[float, typer.Option(metavar="R", help="The lowest ratio that passes.")],
    judge: OfflineJudge = "lexical",
    label_memories: LabelMemories = None,
    cost_rule: CostRule = None,
    policy: Annotated[
        str, typer.Option(metavar="NAME", help="How a store over budget is cut: recency, salience.")
    ] = "recency",
) -> None:
    """Exit with 1 if a store's union ratio within the budget is below a bar."""
    from memaudit.audits.gate import gated
    from memaudit.cli.solve import parse_budgets

    if not 0 <= min_ratio <= 1:
        raise MemAuditError(f"--min-ratio {min_ratio:g} is no ratio; give one between 0 and 1")
    (at, *more) = parse_budgets(budget)
    if more:
        raise MemAuditError("a gate has one budget; run it once for each")
    found = gated(package, store, at, judge, label_memories, cost_rule, policy)
    passed = found.ratio >= min_ratio
    note = ", coverage estimated" if found.is_estimate else ""
    if found.skipped:
        note += f", PARTLY READ: {found.skipped} rows of the export are not in the store"
    typer.echo(
        safe(
            f"{'pass' if passed else 'FAIL'}: {found.store} reaches {found.ratio:.4f} of the best "
            f"store within {budget} (bar {min_ratio:g}, {found.kept_by}{note})"
        )
    )
    if not passed:
        raise typer.Exit(FAILED)
