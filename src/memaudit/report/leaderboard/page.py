"""The leaderboard as one HTML file, in the style of the report and with its escaping."""

from importlib.metadata import version
from pathlib import Path

from memaudit.core.exact import plain
from memaudit.io.atomic import write_file
from memaudit.report.leaderboard.board import SHARES, Board
from memaudit.report.leaderboard.data import leaderboard_data
from memaudit.report.leaderboard.words import coverage_note, notes, undefined_words
from memaudit.report.one_file import one_file
from memaudit.report.page.cast import Member
from memaudit.report.page.page import environment

TITLE = "Stores of memory systems, side by side"


def write_page(board: Board, out: Path) -> None:
    """Write the page, all or nothing."""
    write_file(out, build_page(board))


def build_page(board: Board) -> str:
    """One HTML file that needs nothing else."""
    jinja = environment("memaudit.report.leaderboard")
    jinja.filters["undefined_words"] = undefined_words
    members = {
        store: Member(store, store, "", "deployable", tone)
        for tone, store in enumerate(board.stores, start=1)
    }
    return one_file(
        jinja,
        "leaderboard.html",
        title=TITLE,
        board=board,
        budgets=[(str(plain(budget)), rows) for budget, rows in board.budgets],
        gaps=[(str(plain(gap.budget)), gap) for gap in board.gaps],
        members=members,
        best=Member("upper", "best subset that fits", "", "reference", 0),
        shares=SHARES,
        coverage=coverage_note(board),
        notes=notes(board),
        data=leaderboard_data(board),
        version=version("memaudit"),
    )
