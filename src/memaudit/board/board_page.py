"""A board as one HTML file, as JSON and as CSV."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from memaudit.board.board import DIFFERENCE_COLUMNS, Board, BoardRow, board_columns
from memaudit.board.board_system_rows import system_columns
from memaudit.board.board_text import finding, notes, pass_names, remarks
from memaudit.board.denominators import (
    DENOMINATOR_COLUMNS,
    DENOMINATORS_NOTE,
    denominator_rows,
)
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.losses import SHARES
from memaudit.kernel.number_text import ratio
from memaudit.kernel.score.caveats import is_incomplete
from memaudit.kernel.version import VERSION
from memaudit.show.columns import Column, csv_text, filled, plain_data, records
from memaudit.show.encoding import BEST_SUBSET_LOOK, looks
from memaudit.show.page_charts import Member
from memaudit.show.page_kit import environment, one_file
from memaudit.show.page_numbers import typeset

FORMAT = "memaudit-board-numbers"


def board_data(board: Board) -> dict[str, Any]:
    """All numbers as JSON, null where undefined. Shares of scores are exact text and sum to 1."""
    rows = board.rows
    return {
        "format": FORMAT,
        "version": 1,
        "title": board.title,
        **_basis(board),
        "standings": records(filled(board_columns(), rows), rows),
        "differences": records(DIFFERENCE_COLUMNS, board.differences),
    }


def _basis(board: Board) -> dict[str, Any]:
    """What the numbers rest on."""
    if board.systems is not None:
        basis = board.systems
        return {
            "digest": basis.digest,
            "conversations": list(basis.conversations),
            "passes": list(basis.passes),
            "costs_in": basis.measure,
            "agreement": plain_data(basis.agreement),
            "largest_pass_shift": plain_data(basis.largest_pass_shift),
            "shifted": basis.shifted,
            "optima": [plain_data(optima) for optima in basis.optima.values()],
            "systems": records(system_columns(basis.measure), basis.systems),
            "notes": list(basis.notes),
            "left_out": list(basis.left_out),
        }
    entries = board.scores
    if entries is None:
        return {}
    return {
        "packages": list(entries.packages),
        "judges": list(entries.judges),
        "coverage_is_an_estimate": entries.is_estimate,
        "assumed_share": {"optimum": entries.assumed[0], "store": entries.assumed[1]},
        "cost_rule": entries.cost_rule,
        "skipped_files": list(entries.skipped),
        "not_scored": [row.model_dump() for row in entries.not_scored],
        "undecided_cells": entries.undecided_cells,
        "not_all_seen": [
            {"package": package, **store.model_dump(exclude={"digest"}, exclude_defaults=True)}
            for package, store in entries.accounts
            if is_incomplete(store) or store.undecided_cells or store.left_out
        ],
        "denominators": records(DENOMINATOR_COLUMNS, denominator_rows(entries)),
    }


def board_csv(board: Board) -> str:
    """A row per budget and store, the best first."""
    return csv_text(board_columns(), board.rows)


def write_board_page(board: Board, out: Path) -> None:
    write_file(out, build_board_page(board))


def build_board_page(board: Board) -> str:
    """One self-contained HTML file."""
    basis = board.systems
    columns = filled(board_columns(), board.rows)
    every: list[Column[Any]] = [*(system_columns(basis.measure) if basis else []), *columns]
    return one_file(
        environment("memaudit.board"),
        "board.html",
        title=board.title,
        board=board,
        basis=basis,
        budgets=[(_budget_name(board, budget), rows) for budget, rows in board.budgets],
        members={
            name: Member(name, name, "", "deployable", look)
            for name, look in looks(board.stores).items()
        },
        best=Member("upper", "best subset that fits", "", "reference", BEST_SUBSET_LOOK),
        finding=finding(board),
        remarks=remarks(board),
        notes=notes(board),
        facts=_facts(board),
        columns=_on_page(columns),
        explained=[(column.header, column.about) for column in every if column.about],
        differences=_on_page(DIFFERENCE_COLUMNS),
        system_columns=_on_page(system_columns(basis.measure)) if basis else [],
        pass_columns=_on_page(_pass_columns(board)),
        denominators=denominator_rows(board.scores) if board.scores else [],
        denominator_columns=_on_page(DENOMINATOR_COLUMNS),
        denominators_note=DENOMINATORS_NOTE,
        shares=SHARES,
        typeset=typeset,
        data=board_data(board),
        version=VERSION,
    )


def _on_page(columns: list[Column[Any]]) -> list[Column[Any]]:
    return [column for column in columns if column.header]


def _budget_name(board: Board, budget: str) -> str:
    return f"Budget {budget}" if board.systems is None else board.systems.optima[budget].name


def _facts(board: Board) -> dict[str, object]:
    """What stands at the top of the page."""
    if board.systems is not None:
        basis = board.systems
        certified = "all certified" if basis.every_optimum_is_certified else "not all certified"
        return {
            "Conversations": len(basis.conversations),
            "Systems": len(basis.systems),
            "Optima": certified,
            "Digest": basis.digest[:12],
        }
    return {
        "Packages": len(board.packages),
        "Stores": len(board.stores),
        "Budgets": ", ".join(budget for budget, _ in board.budgets),
        "Cost rule": board.scores.cost_rule if board.scores else "",
    }


def _pass_columns(board: Board) -> list[Column[BoardRow]]:
    """Means by pass of labels."""
    if board.systems is None:
        return []
    shown = [column for column in board_columns() if column.key in ("store", "budget")]
    return [
        *(replace(column, header=column.header or "Budget") for column in reversed(shown)),
        *(_pass_column(name, header) for name, header in pass_names(board.systems).items()),
    ]


def _pass_column(name: str, header: str) -> Column[BoardRow]:
    return Column(
        key=name,
        value=lambda row: row.by_pass,
        header=header,
        show=lambda means: " / ".join(ratio(by_pass[name]) for by_pass in means.values()),
    )
