"""`memaudit gate`: fail a CI job if a store scores below a minimum."""

from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import (
    NO_SESSION,
    NO_STORE_OPTIONS,
    CostRule,
    Draws,
    Escalate,
    GroupCap,
    JudgeName,
    LabelMemories,
    PackagePath,
    PolicyName,
    QuerySalienceNames,
    SalienceNames,
    Seconds,
    SessionOptions,
    StoreArgument,
    StoreOptions,
    TrustPackageCells,
    escalation_plan,
    judging_session,
    place_of,
    read_stores,
    spread,
)
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.scoring.judges import DEFAULT_JUDGE
from memaudit.scoring.result import DRAWS


@spread
def gate(
    package: PackagePath,
    store: StoreArgument,
    budget: Annotated[
        str,
        typer.Option(
            metavar="B",
            help="The budget: a cost, a share of the conversation such as 10%, or own.",
        ),
    ],
    min_score: Annotated[float, typer.Option(metavar="S", help="The lowest score that passes.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STORE",
            help="Another store of the common union, as in memaudit score; may be repeated.",
        ),
    ] = None,
    judge: JudgeName = DEFAULT_JUDGE,
    label_memories: LabelMemories = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    query_salience: QuerySalienceNames = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    trust_package_cells: TrustPackageCells = False,
    store_options: StoreOptions = NO_STORE_OPTIONS,
    allow_estimates: Annotated[
        bool,
        typer.Option(
            "--allow-estimates",
            help="Decide even where more than 10% of a value rests on assumed cells, or where the "
            "error of the offline judge leaves it open.",
        ),
    ] = False,
    draws: Draws = DRAWS,
    escalate: Escalate = None,
    max_cells: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="escalate: ask about at most N cells."),
    ] = None,
    options: SessionOptions = NO_SESSION,
) -> None:
    """Exit with code 1 if the score of a store at a budget is below a minimum.

    The score is that of memaudit score with the same stores.
    """
    from memaudit import api
    from memaudit.scoring.escalation import Goal
    from memaudit.scoring.gate import gate_text, passes
    from memaudit.scoring.judges import named_judge
    from memaudit.scoring.salience import named_salience

    if not 0 <= min_score <= 1:
        raise MemAuditError(f"--min-score must be between 0 and 1, not {min_score:g}")
    if max_cells is not None and escalate is None:
        raise MemAuditError("--max-cells goes with --escalate")
    exported = read_stores([store, *(against or [])], store_options)
    by_salience = salience or [], query_salience or []
    asked = [judge, *([escalate] if escalate else []), *by_salience[0], *by_salience[1]]
    with judging_session(asked, options, place_of(store)) as session:
        plan = None
        if escalate is not None:
            plan = escalation_plan(escalate, Goal(minimum=min_score), max_cells, session)
        result = api.score(
            package,
            exported,
            [budget],
            named_judge(judge, label_memories, session),
            policy=policy,
            cost_rule=cost_rule,
            group_cap=group_cap,
            salience=named_salience(*by_salience, [one.name for one in exported], session),
            seconds=seconds,
            trust_package_cells=trust_package_cells,
            draws=draws,
            escalate=plan,
        )
    row = result.rows[0]
    passed = passes(row, min_score, allow_estimates)
    verdict = "pass" if passed else "FAIL"
    typer.echo(safe(f"{verdict}: {gate_text(result, row, min_score)}"))
    if not passed:
        raise typer.Exit(FAILED)
