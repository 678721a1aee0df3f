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


def plain(text: str) -> Text:
    """Plain text: rich would turn pass:a: into an emoji and read brackets as markup."""
    return Text(safe(text))


def add_row(table: Table, *cells: str) -> None:
    """A row of plain texts."""
    table.add_row(*map(plain, cells))


def print_plain(screen: Console, text: str) -> None:
    """A line of plain text, broken by the terminal and not by rich."""
    screen.print(plain(text), soft_wrap=True)
