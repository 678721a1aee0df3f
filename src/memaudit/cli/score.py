"""`memaudit score`: score exported stores against certified optima."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.adapters.store import ExportedStore
from memaudit.cli.options import (
    NO_LAZY,
    NO_SESSION,
    NO_STORE_OPTIONS,
    CostRule,
    GroupCap,
    LabelMemories,
    LazyOptions,
    PackagesPath,
    PolicyName,
    QuerySalienceFile,
    SalienceFile,
    Seconds,
    SessionOptions,
    StoreArguments,
    StoreOptions,
    StoresOnly,
    Threads,
    TrustPackageCells,
    judging_session,
    lazy_plan,
    may_write,
    place_of,
    read_stores,
    spread,
)
from memaudit.cli.score_tables import (
    SCORE,
    all_numbers_table,
    cells_table,
    explained_lines,
    kinds_tables,
    lost_table,
    meanings,
    scores_table,
)
from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.core.budgets import USUAL_BUDGETS, asked_budgets
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.text import counted
from memaudit.formats.score_file import FORMAT, VERSION
from memaudit.io.packages import read_packages, write_package
from memaudit.scoring.judged_store import read_salience
from memaudit.scoring.judges import (
    Judge,
    goes_by_id,
    judged_how,
    named_judge,
    named_judges,
    refuse_shared_ids,
)
from memaudit.scoring.loss_diagnosis import KindRow, NoDiagnosis, pool_kind_rows
from memaudit.scoring.package_scores import Unscored, score_package, score_packages
from memaudit.scoring.pruning import named_policy
from memaudit.scoring.result import ScoreResult, Scoring, StoreScore, all_rows
from memaudit.scoring.score_json import cells_data, explanation, kinds_data
from memaudit.scoring.score_json import package_scores_data as package_data

if TYPE_CHECKING:
    from rich.console import Console

    from memaudit.models.session import ModelSession

Kinds = tuple[str, str, Sequence[KindRow]]
"""A store, a budget, and its rows by kind of unit."""


@spread
def score(
    package: PackagesPath,
    stores: StoreArguments,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="B[,B...]",
            help="Budgets: costs such as 250, shares of the conversation such as 10%, or own, the "
            f"cost of each store. Default: {','.join(USUAL_BUDGETS)}.",
        ),
    ] = None,
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
    policy: PolicyName = None,
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
    label_template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the cells to be labelled, with texts, as CSV or JSONL, and score nothing.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the score over all budgets, as svg, png or pdf."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Print all numbers, each with its meaning, and kinds of units."),
    ] = False,
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

    The score is what a store keeps within the budget, over OPT of the common union: of the package
    and all stores together. A store over budget is cut by a policy, which is named.
    """
    budgets = None if budget is None else asked_budgets(budget)
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
    if not (lazy or label_template) and lazy_options != NO_LAZY:
        raise MemAuditError("--filter and --max-cells go with --lazy or --label-template")
    if label_template is not None:
        _write_template(label_template, packages, exported, lazy_options.filter)
        return
    if picture is not None:
        _check_picture(picture, len(packages))
    with judging_session(names, options, place_of(stores[0])) as session:
        judges = _judges(names, label_memories, exported, session)
        first = next(iter(judges.values()))
        if lazy and (goes_by_id(first) or names[0] == "pointer"):
            raise MemAuditError(
                "--lazy needs a judge that goes by texts: model:NAME, lexical, or labels:FILE with "
                "the texts of memories or --label-memories"
            )
        plan = lazy_plan(lazy_options, packages, first, session) if lazy else None
        scoring = Scoring(
            budgets, judges, scores, group_cap, seconds, trust_package_cells, plan,
            named_policy(policy),
        )  # fmt: skip
        if len(packages) == 1:
            results = score_package(packages[0], exported, scoring)
            if save_union is not None:
                write_package(results.union, save_union)
            if picture is not None:
                _draw(results, picture)
            print_package(results, everything, show_cells, explain or [], as_json)
        else:
            results_by_package = score_packages(packages, exported, scoring)
            print_packages(
                results_by_package, scoring, everything, show_cells, as_json, len(packages)
            )


def _write_template(
    file: Path, packages: Sequence[Package], stores: Sequence[ExportedStore], filter: str
) -> None:
    from memaudit.scoring.label_template import write_label_template
    from memaudit.scoring.pair_filters import named_filter

    if len(packages) > 1:
        raise MemAuditError("--label-template needs a single package; write one at a time")
    written = write_label_template(file, packages[0], stores, named_filter(filter))
    typer.echo(safe(f"{written} in {file}: fill in coverage (0, 0.5 or 1), then score with"))
    typer.echo(safe(f"  --judge labels:{file}"))


def _check_picture(picture: Path, packages: int) -> None:
    from memaudit.report.figures.opt_frontiers import check_plot

    check_plot(picture)
    if packages > 1:
        raise MemAuditError("--picture needs a single package; score one package at a time")


def _draw(results: ScoreResult, picture: Path) -> None:
    from memaudit.report.figures.score_curve import write_score_curve

    with progress("frontiers", len(results.stores) + 1) as done:
        write_score_curve(results, picture, done)


def _judges(
    names: Sequence[str],
    memories: Path | None,
    stores: Sequence[ExportedStore],
    session: "ModelSession | None",
) -> dict[str, Judge]:
    """The judge of each store: one for all, or one file of labels or calls per store."""
    if len(names) == 1:
        judge = named_judge(names[0], memories, session)
        refuse_shared_ids(judge, stores)
        return {store.name: judge for store in stores}
    kinds = {name.partition(":")[0] for name in names}
    if len(names) != len(stores) or len(kinds) > 1 or not kinds <= {"labels", "calls"}:
        raise MemAuditError(
            "give one judge for all stores, or one labels:FILE or calls:FILE per store, in their "
            "order; memaudit sensitivity compares judges"
        )
    by_file = named_judges(names, memories, session)
    return {store.name: judge for store, judge in zip(stores, by_file, strict=True)}


OPEN = "a..b: an optimum is not certified, or cells are not judged; it lies between a and b"
KINDS = "kept and lost, less what was gained for it (+), sum to OPT over all kinds"


def print_package(
    scores: ScoreResult, everything: bool, cells: bool, ids: Sequence[str], as_json: bool
) -> None:
    explained = [explanation(id, scores) for id in ids]
    if as_json:
        for line in scores.caveats:
            typer.echo(safe(line), err=True)
        data = package_data(scores, cells)
        typer.echo(json.dumps({**data, "explained": explained} if ids else data, indent=1))
        return
    screen = console()
    rows = all_rows([scores])
    print_scores(screen, scores.scoring, rows, everything)
    for line in scores.warnings:
        screen.print(safe_markup(line))
    for line in advice_lines(scores.rows):
        screen.print(safe_markup(line))
    if everything:
        print_kinds(screen, [(row.store, row.at, row.kinds) for row in scores.rows])
    if cells:
        print_cells(screen, scores)
    for data in explained:
        for line in explained_lines(data):
            screen.print(safe_markup(line))
    if not everything:
        screen.print("--all prints the other numbers and the kinds of units, each with its meaning")


def print_scores(
    screen: "Console", scoring: Scoring, rows: Sequence[tuple[str, StoreScore]], everything: bool
) -> None:
    """Print the judge, the table of scores, and what marks and columns mean."""
    only = [row for _, row in rows]
    with_package = len({package for package, _ in rows}) > 1
    screen.print(judge_line(scoring, any(row.is_estimate for row in only)))
    if scoring.budgets is None:
        screen.print(USUAL)
    screen.print(scores_table(rows, with_package))
    screen.print(SCORE)
    if any(row.between is not None for row in only):
        screen.print(OPEN)
    if everything:
        screen.print(all_numbers_table(rows, with_package))
        for line in meanings(only):
            screen.print(line)


USUAL = (
    f"no --budget was given, so scores are at {', '.join(USUAL_BUDGETS[:-1])} of the conversation, "
    "from tight to ample, and at the own cost of each store"
)


def judge_line(scoring: Scoring, is_estimate: bool) -> str:
    """The judge, and whether the scores are an estimate."""
    mark = judged_how(scoring.judge_name, is_estimate)
    return f"coverage: judge {safe_markup(scoring.judge_name)}, {mark}"


def advice_lines(rows: Sequence[StoreScore]) -> list[str]:
    """What each store could improve, and at which budgets; or why there is no diagnosis."""
    places: dict[tuple[str, str], list[str]] = {}
    lines: list[str] = []
    for row in rows:
        if isinstance(row.diagnosis, NoDiagnosis):
            lines.append(str(row.diagnosis))
            continue
        near = ""
        if not row.diagnosis.is_exact:
            precision = float(row.diagnosis.precision)
            near = f" (losses to within {precision:.0e}: some h is irrational)"
        places.setdefault((row.store, f"{row.diagnosis.advice}{near}"), []).append(row.at)
    lines += [f"{store} at {', '.join(at)}: {text}" for (store, text), at in places.items()]
    return lines


def print_kinds(screen: "Console", kinds: Iterable[Kinds]) -> None:
    for heading, table in kinds_tables(kinds):
        screen.print()
        screen.print(safe_markup(heading))
        screen.print(table)
    screen.print(KINDS)


def print_cells(screen: "Console", scores: ScoreResult) -> None:
    """Print lost units at every budget, then the covered cells."""
    for row in scores.rows:
        if row.lost:
            screen.print(safe_markup(f"lost by {row.store} at {row.at}: {row.lost!r}"))
            screen.print(lost_table(row.lost))
    for store, cells in cells_data(scores).items():
        screen.print(safe_markup(f"{store}: {counted(len(cells), 'cell')} above 0"))
        if cells:
            screen.print(cells_table(cells))


MOST_UNSCORED = 20


def print_packages(
    results: Iterable[ScoreResult | Unscored],
    scoring: Scoring,
    everything: bool,
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
    warnings: list[str] = []
    rows: list[tuple[str, StoreScore]] = []
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
            warnings += [f"{name}: {line}" for line in result.warnings]
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
                {"store": store, "budget": budget, "kinds": kinds_data(group)}
                for store, budget, group in kinds
            ],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    print_scores(screen, scoring, rows, everything)
    for line in warnings:
        screen.print(safe_markup(line))
    show_board(means)
    if everything:
        print_kinds(screen, kinds)
        screen.print("values are summed over packages")
    for item in missing[:MOST_UNSCORED]:
        what = item.package if item.store is None else f"{item.store} on {item.package}"
        screen.print(safe_markup(f"not scored: {what}: {item.reason}"))
    if len(missing) > MOST_UNSCORED:
        screen.print(f"not scored: {len(missing) - MOST_UNSCORED:,} more")


def _pooled_kinds(rows: Sequence[StoreScore]) -> list[Kinds]:
    """Kind rows summed over packages, by budget and store."""
    groups: dict[tuple[str, str], list[KindRow]] = {}
    for row in rows:
        groups.setdefault((row.numbers.asked, row.store), []).extend(row.kinds)
    return [
        (store, asked, pool_kind_rows(kinds)) for (asked, store), kinds in sorted(groups.items())
    ]
