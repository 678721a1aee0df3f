"""The board of memory systems as one HTML file."""

from pathlib import Path

from memaudit.core.version import VERSION
from memaudit.io.atomic import write_file
from memaudit.report.encoding import BEST_SUBSET_LOOK, looks
from memaudit.report.page_kit import environment, one_file
from memaudit.report.system_board import SystemBoard, board_data, quality, size_text
from memaudit.report.writer_groups import Member


def write_board_page(board: SystemBoard, out: Path) -> None:
    write_file(out, build_board_page(board))


def build_board_page(board: SystemBoard) -> str:
    """One self-contained HTML file."""
    names = sorted(row.system for row in board.rows)
    return one_file(
        environment(),
        "board.html",
        title=board.title,
        board=board,
        members={
            name: Member(name, name, "", "deployable", look) for name, look in looks(names).items()
        },
        best=Member("upper", "best subset that fits", "", "reference", BEST_SUBSET_LOOK),
        quality=quality(board),
        size_text=size_text,
        data=board_data(board),
        version=VERSION,
    )
