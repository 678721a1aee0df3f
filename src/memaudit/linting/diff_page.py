"""The page of two stores compared."""

from pathlib import Path
from typing import Any

from memaudit.kernel.exact import exact
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.number_text import short_exact
from memaudit.kernel.version import VERSION
from memaudit.show.page_kit import environment, one_file

MOST_ROWS = 500


def write_page(data: dict[str, Any], out: Path) -> None:
    """`data` is what diff_data made."""
    page = one_file(
        environment("memaudit.linting"),
        "diff.html",
        title=f"{data['stores'][0]} and {data['stores'][1]}",
        data=data,
        short=lambda number: short_exact(exact(number)),
        most=MOST_ROWS,
        version=VERSION,
    )
    write_file(out, page)
