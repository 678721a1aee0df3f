"""Tables and lines of the laboratory's commands in the terminal."""

from collections.abc import Collection

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memaudit.cli.terminal import safe


def plain_table(*names: str, left: int = 1, words: Collection[str] = ()) -> Table:
    """A table with these headings.

    The first `left` columns and those named in `words` hold words, the others numbers.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(names):
        if place < left or name in words:
            table.add_column(name, overflow="fold")
        else:
            table.add_column(name, justify="right")
    return table


def print_plain(screen: Console, text: str) -> None:
    """A line of plain text; rich would read brackets as markup, and break it."""
    screen.print(Text(safe(text)), soft_wrap=True)
