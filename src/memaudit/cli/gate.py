"""`memaudit gate`: fail a CI job if a store scores below a minimum."""

from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import (
    Ask,
    CostRule,
    JudgeNames,
    MaxCells,
    PackagePath,
    PolicyName,
    SalienceNames,
    model_session,
    plan_in_force,
    read_stores,
)
from memaudit.cli.terminal import safe


def gate(
    package: PackagePath,
    stores: Annotated[
        list[str],
        typer.Argument(
            metavar="STORE",
            help="The store that has to pass, as memaudit score takes it; further ones only join "
            "the common union.",
        ),
    ],
    budget: Annotated[
        str,
        typer.Option(
            metavar="B",
            help="The budget: a cost, a share of the conversation such as 10%, or own.",
        ),
    ],
    min_score: Annotated[float, typer.Option(metavar="S", help="The lowest score that passes.")],
    judge: JudgeNames = None,
    ask: Ask = None,
    max_cells: MaxCells = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    cost_rule: CostRule = None,
    allow_estimates: Annotated[
        bool,
        typer.Option(
            "--allow-estimates",
            help="Decide even where more than 10% of a value rests on assumed cells, or where the "
            "error of the offline judge leaves it open.",
        ),
    ] = False,
) -> None:
    """Exit with code 1 if the score of the first store at a budget is below a minimum.

    The score is that of memaudit score with the same stores.
    """
    from memaudit.judges.gate import gate_text, passes
    from memaudit.judges.score_plan import ScorePlan
    from memaudit.kernel.io.packages import read_package

    plan = ScorePlan.of(
        budgets=[budget],
        judge=judge or None,
        ask=ask,
        max_cells=max_cells,
        min_score=min_score,
        policy=policy,
        salience=tuple(salience or ()),
        cost_rule=cost_rule,
        **plan_in_force(judge),
    )
    exported = read_stores(stores)
    with model_session(bool(plan.asked_models)) as session:
        scoring, asking = plan.scoring(exported, session), plan.asking(session)
        result = plan.score(read_package(package), exported, scoring, asking)
    # Rows are in the order of the stores, and there is one budget.
    row = result.rows[0]
    passed = passes(row, min_score, allow_estimates)
    verdict = "pass" if passed else "FAIL"
    typer.echo(safe(f"{verdict}: {gate_text(result, row, min_score)}"))
    if not passed:
        raise typer.Exit(FAILED)
