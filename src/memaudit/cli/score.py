"""`memaudit score`: what exported stores are worth against certified optima."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.judging import NO_DESK, DeskOptions, judging_desk
from memaudit.cli.option_groups import spread
from memaudit.cli.scoring_options import (
    Budgets,
    CostRule,
    GroupCap,
    LabelMemories,
    PackagesPath,
    QuerySalienceFile,
    SalienceFile,
    Seconds,
    StorePaths,
    distinct_budgets,
)
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.adapters.store import ExportedStore
    from memaudit.natural.passes.model_session import Desk
    from memaudit.scoring.judges.protocol import Judge


@spread
def score(
    package: PackagesPath,
    stores: StorePaths,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="lexical if none is given (an estimate), pointer, labels:FILE, calls:FILE, "
            "model:NAME; several files go to the stores in their order.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    salience: SalienceFile = None,
    query_salience: QuerySalienceFile = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    show_cells: Annotated[
        bool,
        typer.Option("--show-cells", help="List lost units and which memory covers what."),
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Tell all about a unit or a memory; repeatable."),
    ] = None,
    options: DeskOptions = NO_DESK,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores: raw value, ratios to certified optima, pruned rows, and where value is lost."""
    from memaudit.adapters.store import read_store
    from memaudit.cli.score_many import print_many
    from memaudit.cli.score_output import print_one
    from memaudit.io.packages import read_packages
    from memaudit.scoring.judged_store import read_salience
    from memaudit.scoring.package_scores import Scoring, refuse_equal_names, sheet, sheets

    amounts = distinct_budgets(budget)
    names = judge or ["lexical"]
    rated = read_salience(salience, query_salience)
    packages = read_packages(package)
    if explain and len(packages) > 1:
        raise MemAuditError("--explain is about one package; score one alone")
    if cost_rule is not None:
        packages = [one.recost(cost_rule) for one in packages]
    exported = [read_store(path) for path in stores]
    refuse_equal_names(exported)
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    with judging_desk(names, options, stores[0]) as desk:
        judges = _judges(names, label_memories, exported, desk)
        scoring = Scoring(amounts, judges, rated, group_cap, seconds)
        if len(packages) == 1:
            print_one(sheet(packages[0], exported, scoring), show_cells, explain or [], as_json)
        else:
            found = sheets(packages, exported, scoring)
            print_many(found, scoring, show_cells, as_json, len(packages))


def _judges(
    names: Sequence[str],
    memories: Path | None,
    stores: Sequence["ExportedStore"],
    desk: "Desk | None",
) -> dict[str, "Judge"]:
    """The judge of each store: one for all, or files of labels or calls, one a store."""
    from memaudit.scoring.judges.registry import named_judge, named_judges, refuse_shared_ids

    if len(names) == 1:
        refuse_shared_ids(names, memories, stores)
        one = named_judge(names[0], memories, desk)
        return {store.name: one for store in stores}
    kinds = {name.partition(":")[0] for name in names}
    if len(names) != len(stores) or len(kinds) > 1 or not kinds <= {"labels", "calls"}:
        raise MemAuditError(
            "give one judge for all stores, or one file of labels or of calls for each store, in "
            "their order; memaudit sensitivity compares judges"
        )
    by_file = named_judges(names, memories, desk)
    return {store.name: one for store, one in zip(stores, by_file, strict=True)}
