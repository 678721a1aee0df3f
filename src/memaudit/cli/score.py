"""`memaudit score`: score exported stores against certified optima."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.adapters.store import ExportedStore
from memaudit.cli.options import (
    NO_LAZY,
    NO_SESSION,
    NO_STORE_OPTIONS,
    Budgets,
    CostRule,
    GroupCap,
    LabelMemories,
    LazyOptions,
    PackagesPath,
    QuerySalienceFile,
    SalienceFile,
    Seconds,
    SessionOptions,
    StoreArguments,
    StoreOptions,
    StoresOnly,
    Threads,
    TrustPackageCells,
    distinct_budgets,
    judging_session,
    lazy_plan,
    may_write,
    place_of,
    read_stores,
    spread,
)
from memaudit.cli.score_tables import (
    cells_table,
    explained_lines,
    kinds_tables,
    lost_table,
    open_optima,
    packages_table,
    rests_on,
    scores_table,
)
from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.text import counted
from memaudit.formats.score_file import FORMAT, VERSION
from memaudit.io.packages import read_packages, write_package
from memaudit.scoring.caveats import caveat_lines
from memaudit.scoring.judged_store import read_salience
from memaudit.scoring.judges import Judge, judged_how, named_judge, named_judges, refuse_shared_ids
from memaudit.scoring.loss_diagnosis import Diagnosis, KindRow, NoDiagnosis, pool_kind_rows
from memaudit.scoring.package_scores import (
    PackageScores,
    Scoring,
    StoreResult,
    Unscored,
    score_package,
    score_packages,
)
from memaudit.scoring.score_json import cells_data, explanation, kinds_data, lost_data
from memaudit.scoring.score_json import package_scores_data as package_data

if TYPE_CHECKING:
    from rich.console import Console

    from memaudit.models.session import ModelSession

Kinds = tuple[str, Fraction, Sequence[KindRow]]
"""A store, a budget, and its rows by kind of unit."""


@spread
def score(
    package: PackagesPath,
    stores: StoreArguments,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Decides coverage: lexical (an estimate), pointer, labels:FILE[,FILE...], "
            "calls:FILE or model:NAME; repeat it to give one file per store, in their order. "
            "Default: lexical.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    salience: SalienceFile = None,
    query_salience: QuerySalienceFile = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    threads: Threads = None,  # noqa: ARG001 - its callback sets them
    trust_package_cells: TrustPackageCells = False,
    store_options: StoreOptions = NO_STORE_OPTIONS,
    stores_only: StoresOnly = False,
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy", help="Judge only the cells that scores and optima rest on, in rounds."
        ),
    ] = False,
    lazy_options: LazyOptions = NO_LAZY,
    save_union: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the package with the memories of all stores, as judged."
        ),
    ] = None,
    show_cells: Annotated[
        bool,
        typer.Option(
            "--show-cells", help="List lost units, and the units that each memory covers."
        ),
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Explain the score of a unit or a memory; may be repeated."
        ),
    ] = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores against certified optima.

    Prints raw values, ratios, ratios after pruning to the budget, and where value is lost.
    """
    budgets = distinct_budgets(budget)
    names = judge or ["lexical"]
    scores = read_salience(salience, query_salience)
    packages = read_packages(package)
    if explain and len(packages) > 1:
        raise MemAuditError("--explain needs a single package; score one package at a time")
    if cost_rule is not None:
        packages = [package.recost(cost_rule) for package in packages]
    if stores_only:
        packages = [package.replace(candidates=(), coverage=()) for package in packages]
    exported = read_stores(stores, store_options)
    if save_union is not None:
        may_write(save_union, "package")
        if len(packages) > 1:
            raise MemAuditError("--save-union needs a single package; score one package at a time")
    if not lazy and lazy_options != NO_LAZY:
        raise MemAuditError("--filter and --max-cells go with --lazy")
    by_id = names[0].startswith("labels:") and label_memories is None
    if lazy and (by_id or names[0].partition(":")[0] in ("calls", "pointer")):
        raise MemAuditError(
            "--lazy needs a judge that goes by texts: model:NAME, lexical, or labels:FILE with "
            "--label-memories"
        )
    with judging_session(names, options, place_of(stores[0])) as session:
        judges = _judges(names, label_memories, exported, session)
        first = next(iter(judges.values()))
        plan = lazy_plan(lazy_options, packages, first, session) if lazy else None
        scoring = Scoring(budgets, judges, scores, group_cap, seconds, trust_package_cells, plan)
        if len(packages) == 1:
            results = score_package(packages[0], exported, scoring)
            if save_union is not None:
                write_package(results.union, save_union)
            print_package(results, show_cells, explain or [], as_json)
        else:
            results_by_package = score_packages(packages, exported, scoring)
            print_packages(results_by_package, scoring, show_cells, as_json, len(packages))


def _judges(
    names: Sequence[str],
    memories: Path | None,
    stores: Sequence[ExportedStore],
    session: "ModelSession | None",
) -> dict[str, Judge]:
    """The judge of each store: one for all, or one file of labels or calls per store."""
    if len(names) == 1:
        refuse_shared_ids(names, memories, stores)
        judge = named_judge(names[0], memories, session)
        return {store.name: judge for store in stores}
    kinds = {name.partition(":")[0] for name in names}
    if len(names) != len(stores) or len(kinds) > 1 or not kinds <= {"labels", "calls"}:
        raise MemAuditError(
            "give one judge for all stores, or one labels:FILE or calls:FILE per store, in their "
            "order; memaudit sensitivity compares judges"
        )
    by_file = named_judges(names, memories, session)
    return {store.name: judge for store, judge in zip(stores, by_file, strict=True)}


OVER = (
    "! costs more than the budget: F(Y) and its ratios are of the full store and may exceed 1; the "
    "columns from upper on are what fits the budget, relative to OPT of the common union"
)
OPEN = "a..b: an optimum is not certified, or cells are not judged; it lies between a and b"
KINDS = (
    "kept and the losses sum to OPT over all kinds; a loss is negative if the lower stage covers a "
    "kind better"
)


def print_package(scores: PackageScores, cells: bool, ids: Sequence[str], as_json: bool) -> None:
    explained = [explanation(id, scores) for id in ids]
    caveats = caveat_lines([(store.name, store.caveats) for store in scores.stores])
    if as_json:
        for line in caveats:
            typer.echo(safe(line), err=True)
        data = package_data(scores, cells)
        typer.echo(json.dumps({**data, "explained": explained} if ids else data, indent=1))
        return
    screen = console()
    screen.print(judge_line(scores.scoring, scores.is_estimate))
    screen.print(scores_table(scores.rows))
    print_legend(screen, scores.rows)
    for line in (*rests_on(scores), *open_optima(scores), *caveats):
        screen.print(safe_markup(line))
    for row in scores.rows:
        screen.print(safe_markup(diagnosis_sentence(row.diagnosis)))
    print_kinds(screen, [(row.score.name, row.score.budget, row.kinds) for row in scores.rows])
    screen.print(KINDS)
    if cells:
        print_cells(screen, scores)
    for data in explained:
        for line in explained_lines(data):
            screen.print(safe_markup(line))


def judge_line(scoring: Scoring, is_estimate: bool) -> str:
    """The judge, and whether the scores are an estimate."""
    mark = judged_how(scoring.judge_name, is_estimate)
    return f"coverage: judge {safe_markup(scoring.judge_name)}, {mark}"


def print_legend(screen: "Console", rows: Sequence[StoreResult]) -> None:
    """Explain the marks in the table."""
    if any(not row.score.feasible for row in rows):
        screen.print(OVER)
    optima = [
        optimum
        for row in rows
        for optimum in (row.score.package_ratio.optimum, row.score.union_ratio.optimum,
                        row.score.common_ratio.optimum, row.score.upper_optimum)
    ]  # fmt: skip
    not_judged = any(row.score.score.highest > row.score.score.value for row in rows)
    if not_judged or any(not optimum.certified for optimum in optima):
        screen.print(OPEN)


def diagnosis_sentence(diagnosis: Diagnosis | NoDiagnosis) -> str:
    """A diagnosis in one sentence, or why there is none."""
    if isinstance(diagnosis, NoDiagnosis):
        return str(diagnosis)
    losses = ", ".join(f"{step.name} {float(step.share):.1%}" for step in diagnosis.steps)
    near = ""
    if not diagnosis.is_exact:
        near = f" (shares to within {float(diagnosis.precision):.0e}: some h is irrational)"
    return (
        f"{diagnosis.store} at {plain(diagnosis.budget)}: keeps "
        f"{float(diagnosis.kept_share):.1%} of OPT ({diagnosis.policy}), loses {losses}{near}; "
        f"{diagnosis.advice}"
    )


def print_kinds(screen: "Console", kinds: Iterable[Kinds]) -> None:
    for heading, table in kinds_tables(kinds):
        screen.print()
        screen.print(safe_markup(heading))
        screen.print(table)
    screen.print()


def print_cells(screen: "Console", scores: PackageScores) -> None:
    """Print lost units at every budget, then the covered cells."""
    for row in scores.rows:
        lost = lost_data(scores, row)
        if lost:
            head = f"lost by {row.score.name} at {plain(row.score.budget)}"
            screen.print(safe_markup(f"{head}: {counted(len(lost), 'unit')}"))
            screen.print(lost_table(lost))
    for store, cells in cells_data(scores).items():
        screen.print(safe_markup(f"{store}: {counted(len(cells), 'cell')} above 0"))
        if cells:
            screen.print(cells_table(cells))


MOST_UNSCORED = 20


def print_packages(
    results: Iterable[PackageScores | Unscored],
    scoring: Scoring,
    cells: bool,
    as_json: bool,
    count: int,
) -> None:
    """Print rows of every package, means over packages, and what was not scored."""
    from memaudit.cli.leaderboard import show_board
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_entries import entries_of
    from memaudit.report.leaderboard_page import leaderboard_data

    files: list[dict[str, Any]] = []
    bounds: list[str] = []
    rows: list[tuple[str, StoreResult]] = []
    rest: list[str] = []
    missing: list[Unscored] = []
    screen = console()
    with progress("scoring", count) as done:
        for result in results:
            if isinstance(result, Unscored):
                missing.append(result)
                continue
            name = result.package.name
            files.append(package_data(result, cells and as_json))
            done(len(files))
            rows += [(name, row) for row in result.rows]
            bounds += [f"{name}: {line}" for line in open_optima(result)]
            rest += [f"{name}: {line}" for line in rests_on(result)]
            if cells and not as_json:
                screen.print(safe_markup(f"package {name}"))
                print_cells(screen, result)
    if not files:
        first = f"; {missing[0].package!r}: {missing[0].reason}" if missing else ""
        raise MemAuditError(f"no package could be scored{first}")
    unscored = [
        {"package": item.package, "store": item.store, "reason": item.reason} for item in missing
    ]
    means = board(entries_of([(file["package"], file) for file in files], unscored))
    kinds = _pooled_kinds([row for _, row in rows])
    if as_json:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "packages": files,
            "not_scored": unscored,
            "summary": leaderboard_data(means),
            "unit_kinds": [
                {"store": store, "budget": plain(budget), "kinds": kinds_data(group)}
                for store, budget, group in kinds
            ],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    screen.print(judge_line(scoring, any(row.is_estimate for _, row in rows)))
    screen.print(packages_table(rows))
    print_legend(screen, [row for _, row in rows])
    for line in (*rest, *bounds):
        screen.print(safe_markup(line))
    show_board(means)
    print_kinds(screen, kinds)
    screen.print(f"{KINDS}; values are summed over packages")
    for item in missing[:MOST_UNSCORED]:
        what = item.package if item.store is None else f"{item.store} on {item.package}"
        screen.print(safe_markup(f"not scored: {what}: {item.reason}"))
    if len(missing) > MOST_UNSCORED:
        screen.print(f"not scored: {len(missing) - MOST_UNSCORED:,} more")


def _pooled_kinds(rows: Sequence[StoreResult]) -> list[Kinds]:
    """Kind rows summed over packages, by budget and store."""
    by_store = sorted(rows, key=lambda row: (row.score.budget, row.score.name))
    return [
        (store, budget, pool_kind_rows(kind for row in group for kind in row.kinds))
        for (store, budget), group in groupby(
            by_store, lambda row: (row.score.name, row.score.budget)
        )
    ]
