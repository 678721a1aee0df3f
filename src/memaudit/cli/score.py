"""`memaudit score`: what exported stores are worth against certified optima."""

import json
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.judging import NO_SESSION, SessionOptions, judging_session
from memaudit.cli.leaderboard import show_board
from memaudit.cli.options import (
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
    spread,
)
from memaudit.cli.score_tables import (
    cells_table,
    explained_lines,
    kinds_tables,
    lost_table,
    open_optima,
    packages_table,
    scores_table,
)
from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.text import counted
from memaudit.scoring.caveats import account_lines
from memaudit.scoring.diagnosis import Diagnosis, NoDiagnosis
from memaudit.scoring.explanation import cells_data, explained, lost_data
from memaudit.scoring.judges.protocol import judged_how
from memaudit.scoring.package_scores import (
    FORMAT,
    VERSION,
    Scoring,
    Sheet,
    SheetRow,
    Unscored,
    sheet_data,
)
from memaudit.scoring.unit_kinds import KindRow, kind_data, pooled

if TYPE_CHECKING:
    from rich.console import Console

    from memaudit.adapters.store import ExportedStore
    from memaudit.models.session import ModelSession
    from memaudit.scoring.judges.protocol import Judge


OVER = (
    "! costs more than the budget: F(Y) and its ratios are of the whole store, and may exceed 1; "
    "upper, recency and salience are cut to the budget, over the union optimum"
)
OPEN = "a..b: an optimum is not certified; the ratio lies between a and b"
KINDS = (
    "kept and the losses are values of the diagnosis and sum to OPT over all kinds; a loss is "
    "below 0 where the lower stage covers a kind better"
)


def print_one(found: Sheet, cells: bool, ids: Sequence[str], as_json: bool) -> None:
    """All scores of one package."""
    told = [explained(id, found) for id in ids]
    if as_json:
        for line in _accounts(found):
            typer.echo(safe(line), err=True)
        data = file_data(found, cells)
        typer.echo(json.dumps({**data, "explained": told} if ids else data, indent=1))
        return
    screen = console()
    screen.print(judge_line(found.scoring))
    screen.print(scores_table(found.rows))
    show_legend(screen, found.rows)
    for line in (*open_optima(found), *_accounts(found)):
        screen.print(safe_markup(line))
    for row in found.rows:
        screen.print(safe_markup(sentence(row.diagnosis)))
    kinds = [(row.score.name, row.score.budget, row.kinds) for row in found.rows]
    show_kinds(screen, kinds)
    screen.print(KINDS)
    if cells:
        show_cells(screen, found)
    for one in told:
        for line in explained_lines(one):
            screen.print(safe_markup(line))


def show_kinds(screen: "Console", kinds: Iterable[tuple[str, Fraction, Sequence[KindRow]]]) -> None:
    """The tables by kind of unit, each with its heading."""
    for heading, table in kinds_tables(kinds):
        screen.print()
        screen.print(safe_markup(heading))
        screen.print(table)
    screen.print()


def sentence(found: Diagnosis | NoDiagnosis) -> str:
    """A diagnosis in one sentence, or why there is none."""
    if isinstance(found, NoDiagnosis):
        return str(found)
    losses = ", ".join(f"{step.name} {float(step.share):.1%}" for step in found.steps)
    near = ""
    if not found.is_exact:
        near = f" (shares to within {float(found.precision):.0e}: some h is irrational)"
    return (
        f"{found.store} at {plain(found.budget)}: keeps {float(found.kept_share):.1%} of OPT "
        f"({found.policy}), loses {losses}{near}; {found.advice}"
    )


def file_data(found: Sheet, cells: bool) -> dict[str, Any]:
    """The scores of one package as plain data."""
    data = sheet_data(found)
    if cells:
        data["cells"] = cells_data(found)
        for row, one in zip(data["scores"], found.rows, strict=True):
            row["lost_units"] = lost_data(found, one)
    return data


def judge_line(scoring: Scoring) -> str:
    """Who said what memories cover, and whether that is a guess."""
    mark = judged_how(scoring.judge_name, scoring.is_estimate)
    return f"coverage of memories: judge {safe_markup(scoring.judge_name)}, {mark}"


def _accounts(found: Sheet) -> list[str]:
    return account_lines([(store.name, store.account) for store in found.stores])


def show_legend(screen: "Console", rows: Sequence[SheetRow]) -> None:
    """What the marks of the table mean, where they are there."""
    if any(not row.score.feasible for row in rows):
        screen.print(OVER)
    optima = [
        optimum
        for row in rows
        for optimum in (row.score.package_ratio.optimum, row.score.union_ratio.optimum,
                        row.score.common_ratio.optimum, row.score.upper_optimum)
    ]  # fmt: skip
    if any(not optimum.certified for optimum in optima):
        screen.print(OPEN)


def show_cells(screen: "Console", found: Sheet) -> None:
    """Lost units at every budget, then who covers what."""
    for row in found.rows:
        lost = lost_data(found, row)
        if lost:
            head = f"lost by {row.score.name} at {plain(row.score.budget)}"
            screen.print(safe_markup(f"{head}: {counted(len(lost), 'unit')}"))
            screen.print(lost_table(lost))
    for store, cells in cells_data(found).items():
        screen.print(safe_markup(f"{store}: {counted(len(cells), 'cell')} above 0"))
        if cells:
            screen.print(cells_table(cells))


MOST_UNSCORED = 20


def print_many(
    found: Iterable[Sheet | Unscored], scoring: Scoring, cells: bool, as_json: bool, count: int
) -> None:
    """Rows of every package, means over packages with intervals, and what was not scored."""
    from memaudit.report.leaderboard import board
    from memaudit.report.leaderboard_entries import entries_of
    from memaudit.report.leaderboard_page import leaderboard_data

    files: list[dict[str, Any]] = []
    lines: list[str] = []
    rows: list[tuple[str, SheetRow]] = []
    missing: list[Unscored] = []
    screen = console()
    with progress("scoring", count) as done:
        for one in found:
            if isinstance(one, Unscored):
                missing.append(one)
                continue
            files.append(file_data(one, cells and as_json))
            done(len(files))
            rows += [(one.package.name, row) for row in one.rows]
            lines += [f"{one.package.name}: {line}" for line in open_optima(one)]
            if cells and not as_json:
                screen.print(safe_markup(f"package {one.package.name}"))
                show_cells(screen, one)
    if not files:
        reason = f"{missing[0].package!r}: {missing[0].reason}" if missing else "there is none"
        raise MemAuditError(f"no package could be scored; the first, {reason}")
    unscored = [
        {"package": one.package, "store": one.store, "reason": one.reason} for one in missing
    ]
    means = board(entries_of([(file["package"], file) for file in files], unscored))
    kinds = [(store, budget, pooled(group)) for (store, budget), group in _by_store(rows)]
    if as_json:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "packages": files,
            "not_scored": unscored,
            "summary": leaderboard_data(means),
            "unit_kinds": [
                {
                    "store": store, "budget": plain(budget),
                    "kinds": {one.kind: kind_data(one) for one in group},
                }
                for store, budget, group in kinds
            ],
        }  # fmt: skip
        typer.echo(json.dumps(data, indent=1))
        return
    screen.print(judge_line(scoring))
    screen.print(packages_table(rows))
    show_legend(screen, [row for _, row in rows])
    for line in lines:
        screen.print(safe_markup(line))
    show_board(means)
    show_kinds(screen, kinds)
    screen.print(f"{KINDS}; values are added up over packages")
    _show_missing(screen, missing)


def _by_store(
    rows: Sequence[tuple[str, SheetRow]],
) -> Iterator[tuple[tuple[str, Fraction], list[KindRow]]]:
    """Kind rows of all packages, by store and budget."""
    found = [row for _, row in rows]
    found.sort(key=lambda row: (row.score.budget, row.score.name))
    for key, group in groupby(found, lambda row: (row.score.name, row.score.budget)):
        yield key, [kind for row in group for kind in row.kinds]


def _show_missing(screen: "Console", missing: Sequence[Unscored]) -> None:
    for one in missing[:MOST_UNSCORED]:
        what = one.package if one.store is None else f"{one.store} on {one.package}"
        screen.print(safe_markup(f"not scored: {what}: {one.reason}"))
    if len(missing) > MOST_UNSCORED:
        screen.print(f"not scored: {len(missing) - MOST_UNSCORED:,} more")


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
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores: raw value, ratios to certified optima, pruned rows, and where value is lost."""
    from memaudit.adapters.store import read_store
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
    with judging_session(names, options, stores[0]) as session:
        judges = _judges(names, label_memories, exported, session)
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
    session: "ModelSession | None",
) -> dict[str, "Judge"]:
    """The judge of each store: one for all, or files of labels or calls, one a store."""
    from memaudit.scoring.judges.registry import named_judge, named_judges, refuse_shared_ids

    if len(names) == 1:
        refuse_shared_ids(names, memories, stores)
        one = named_judge(names[0], memories, session)
        return {store.name: one for store in stores}
    kinds = {name.partition(":")[0] for name in names}
    if len(names) != len(stores) or len(kinds) > 1 or not kinds <= {"labels", "calls"}:
        raise MemAuditError(
            "give one judge for all stores, or one file of labels or of calls for each store, in "
            "their order; memaudit sensitivity compares judges"
        )
    by_file = named_judges(names, memories, session)
    return {store.name: one for store, one in zip(stores, by_file, strict=True)}
