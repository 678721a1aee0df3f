"""What `memaudit score` prints of one package."""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from memaudit.cli.explained import explained_lines
from memaudit.cli.results import console
from memaudit.cli.score_tables import (
    cells_table,
    kinds_tables,
    lost_table,
    open_optima,
    scores_table,
)
from memaudit.cli.text import safe, safe_markup
from memaudit.core.exact import plain
from memaudit.core.text import counted
from memaudit.scoring.caveats import account_lines
from memaudit.scoring.diagnosis import Diagnosis, NoDiagnosis
from memaudit.scoring.explanation import cells_data, explained, lost_data
from memaudit.scoring.judges.protocol import judged_how
from memaudit.scoring.package_scores import Scoring, Sheet, SheetRow, sheet_data
from memaudit.scoring.unit_kinds import KindRow

if TYPE_CHECKING:
    from rich.console import Console

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
