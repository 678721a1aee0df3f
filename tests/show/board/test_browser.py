"""The page in a real browser: at 1280 pixels nothing has to be scrolled sideways."""

from pathlib import Path
from typing import Any

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import write_board_page
from memaudit.kernel.score.score_files import read_scores
from tests.lab.conftest import browser as browser
from tests.lab.explorer.browsing import visit
from tests.lab.explorer.serving import exploring
from tests.show.board.scores import row, write

pytestmark = pytest.mark.slow

STORES = ("mem0", "a-store-with-a-very-long-name-of-one-word", "langmem of the second run, all")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_laptop(browser: Any, tmp_path: Path, scheme: str) -> None:
    """Neither the page nor a table in it, with intervals, long names and undefined scores."""
    for package in range(4):
        rows = [
            row(store, None if (package, store) == (0, "mem0") else "2/3", budget, selection="1/4")
            for store in STORES
            for budget in (250, 2000)
        ]
        write(tmp_path, f"conversation-{package}", *rows)
    write_board_page(board_of_scores(read_scores(tmp_path)), tmp_path / "board.html")
    seen = visit(browser, tmp_path, 1280, scheme)
    page = seen.go("board.html")
    assert seen.fits()
    wide = page.evaluate(
        "[...document.querySelectorAll('.wide')].map((one) => one.scrollWidth - one.clientWidth)"
    )
    assert len(wide) == 4
    assert wide == [0, 0, 0, 0]
    assert page.locator("header .finding").first.inner_text().startswith("a-store-with")
    assert seen.said == []
    seen.close()


def test_served_from_the_explorer_it_looks_the_same(browser: Any, tmp_path: Path) -> None:
    """The server's policy lets its style in, and links within it work."""
    write(tmp_path, "p", row("mem0", "1/2"))
    write_board_page(board_of_scores(read_scores(tmp_path)), tmp_path / "board.html")
    with exploring(tmp_path) as server:
        seen = visit(browser, server, 1280)
        page = seen.go("index.html")
        page.get_by_role("link", name="board", exact=True).click()
        seen.arrives("page/board-")
        assert page.evaluate("getComputedStyle(document.body).maxWidth") == "1216px"
        assert page.locator("header .finding").is_visible()
        assert seen.said == []
        seen.close()
