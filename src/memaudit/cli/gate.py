"""`memaudit gate`: fail a CI job if a store scores below a minimum ratio."""

from typing import Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import (
    NO_SESSION,
    NO_STORE_OPTIONS,
    CostRule,
    GroupCap,
    JudgeName,
    LabelMemories,
    PackagePath,
    QuerySalienceFile,
    SalienceFile,
    Seconds,
    SessionOptions,
    StoreArgument,
    StoreOptions,
    TrustPackageCells,
    judging_session,
    one_budget,
    place_of,
    read_stores,
    spread,
)
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError


@spread
def gate(
    package: PackagePath,
    store: StoreArgument,
    budget: Annotated[str, typer.Option(metavar="B", help="The budget, a cost.")],
    min_ratio: Annotated[float, typer.Option(metavar="R", help="The lowest ratio that passes.")],
    judge: JudgeName = "lexical",
    label_memories: LabelMemories = None,
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How a store over budget is pruned: recency, top, salience or query_salience. "
            "Default: recency, or top where entries of a document have no times.",
        ),
    ] = None,
    salience: SalienceFile = None,
    query_salience: QuerySalienceFile = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    trust_package_cells: TrustPackageCells = False,
    store_options: StoreOptions = NO_STORE_OPTIONS,
    allow_estimates: Annotated[
        bool,
        typer.Option(
            "--allow-estimates",
            help="Decide even where more than 10% of a value rests on assumed cells.",
        ),
    ] = False,
    options: SessionOptions = NO_SESSION,
) -> None:
    """Exit with code 1 if a store's union ratio at a budget is below a minimum."""
    from memaudit.io.packages import read_package
    from memaudit.scoring.gate import gate_store
    from memaudit.scoring.judged_store import read_salience
    from memaudit.scoring.judges import named_judge

    if not 0 <= min_ratio <= 1:
        raise MemAuditError(f"--min-ratio must be between 0 and 1, not {min_ratio:g}")
    at = one_budget(budget)
    scores = read_salience(salience, query_salience)
    scored = read_package(package)
    if cost_rule is not None:
        scored = scored.recost(cost_rule)
    (exported,) = read_stores([store], store_options)
    with judging_session([judge], options, place_of(store)) as session:
        result = gate_store(
            scored, exported, at, named_judge(judge, label_memories, session), policy=policy,
            salience=scores, group_cap=group_cap, seconds=seconds,
            trust_package_cells=trust_package_cells,
        )  # fmt: skip
    passed = result.passes(min_ratio, allow_estimates)
    typer.echo(
        safe(
            f"{'pass' if passed else 'FAIL'}: {result.store} reaches {result.reaches} of the best "
            f"store within {budget} (minimum {min_ratio}, {result.notes})"
        )
    )
    if not passed:
        raise typer.Exit(FAILED)
