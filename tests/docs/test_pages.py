"""README and every page of docs: what they show is what happens."""

from pathlib import Path

import pytest

from tests.docs.blocks import inline_commands, page_text, pages
from tests.docs.commands import check_names
from tests.docs.walk import walk

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", pages())
def test_every_block_of_a_page(page: str, tmp_path: Path) -> None:
    """Commands run and print what is shown, snippets run, files are read; nothing escapes."""
    walk(page, page_text(page), tmp_path)


@pytest.mark.parametrize("page", pages())
def test_commands_in_the_text_exist(page: str) -> None:
    """Also those that are only mentioned, with their options."""
    for command in inline_commands(page_text(page)):
        check_names(command.split()[1:])
