"""What `memaudit score` prints of many packages: rows, means with intervals, what is missing."""

import json
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer

from memaudit.cli.leaderboard import show_board
from memaudit.cli.results import console, progress
from memaudit.cli.score_output import (
    KINDS,
    file_data,
    judge_line,
    show_cells,
    show_kinds,
    show_legend,
)
from memaudit.cli.score_tables import open_optima, packages_table
from memaudit.cli.text import safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.scoring.package_scores import FORMAT, VERSION, Scoring, Sheet, SheetRow, Unscored
from memaudit.scoring.unit_kinds import KindRow, kind_data, pooled

if TYPE_CHECKING:
    from rich.console import Console

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
