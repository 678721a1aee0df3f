"""Terminal output: escaped text, tables of optima, progress bars."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import typer
from rich import box
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import MISSING, short_exact
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.provenance import assumed_text, is_estimate
from memaudit.kernel.words.text import visible_text
from memaudit.show.columns import Column, Row, filled


def safe(text: object) -> str:
    """The text with every control, format and bidirectional character written out as an escape."""
    return visible_text(text)


def safe_markup(text: object) -> str:
    """The same for rich, with [markup] escaped."""
    from rich.markup import escape

    return escape(safe(text))


LARGEST_WIDTH = 10_000
"""Wider than any table, so that its natural width can be measured."""

PIPE_WIDTH = 120
"""Columns of the output if it is not a terminal."""

MOST_IDS = 12


def console() -> Console:
    """Standard output, wide enough for a table even through a pipe."""
    screen = Console(highlight=False, emoji=False)
    return screen if screen.is_terminal else Console(highlight=False, emoji=False, width=PIPE_WIDTH)


OPTIMUM_COLUMNS: list[Column[Optimum]] = [
    Column(key="package", value=lambda best: best.package, short="package", words=True),
    Column(key="budget", value=lambda best: best.budget, short="budget", show=short_exact),
    Column(key="value", value=lambda best: best.value, short="value", show=short_exact),
    Column(key="cost", value=lambda best: best.cost, short="cost", show=short_exact),
    Column(key="store", value=lambda best: _ids(best.store), short="kept", words=True),
    Column(key="status", value=lambda best: status_of(best), short="status", words=True),
    Column(key="solver", value=lambda best: best.solver, short="solver", words=True),
    Column(
        key="seconds",
        value=lambda best: float(best.statistics.get("seconds", 0)),
        short="time",
        show=lambda seconds: f"{seconds:.3f} s",
    ),
]
"""One row per package and budget."""


def print_columns(screen: Console, columns: Sequence[Column[Row]], rows: Sequence[Row]) -> None:
    """Print the columns that have a value; in two tables if the terminal is too narrow for all."""
    shown = [column for column in filled(columns, rows) if column.short]
    table = columns_table(shown, rows)
    wide = screen.options.update(max_width=LARGEST_WIDTH)
    if screen.measure(table, options=wide).maximum <= screen.width or not any(
        column.second for column in shown
    ):
        screen.print(table)
        return
    for second in (False, True):
        part = [column for column in shown if column.identifies or column.second is second]
        screen.print(columns_table(part, rows))


def columns_table(
    columns: Sequence[Column[Row]], rows: Sequence[Row], padding: tuple[int, ...] = (0, 1)
) -> Table:
    """The columns as a table, whatever its width."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=padding)  # type: ignore[arg-type]
    for column in columns:
        if column.words:
            table.add_column(column.short, overflow="fold")
        else:
            table.add_column(column.short, justify="right", no_wrap=True)
        if column.beside:
            table.add_column(column.beside, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(safe_markup(text) for column in columns for text in _texts(column, row)))
    return table


def _texts(column: Column[Row], row: Row) -> Iterator[str]:
    """What the terminal shows of a row in a column, and in the one beside it."""
    text = column.in_terminal(row) if column.in_terminal else column.text(row)
    if column.tag and column.tag(row):
        text = f"{text} *"
    yield text
    if column.beside and column.under:
        yield column.under(row) or MISSING


def status_of(optimum: Optimum) -> str:
    """Certified, or a bound with its gap, and the first words of a note."""
    state = "certified" if optimum.certified else f"bound, gap {short_exact(optimum.gap)}"
    if is_estimate([optimum.assumed]):
        state = f"{state}, ESTIMATE"
    note = optimum.note.partition(":")[0]
    return f"{state}, {note}" if note else state


def notes_of(optima: Iterable[Optimum]) -> list[str]:
    """Notes that do not fit into the table, without duplicates."""
    optima = list(optima)
    notes = {optimum.note for optimum in optima if ":" in optimum.note}
    assumed = [
        f"{optimum.package} at {short_exact(optimum.budget)}: {assumed_text(optimum.assumed)}"
        for optimum in optima
        if optimum.assumed
    ]
    return [*sorted(notes), *assumed]


def _ids(store: Sequence[str]) -> str:
    shown = ", ".join(store[:MOST_IDS])
    more = len(store) - MOST_IDS
    return f"{shown} and {more} more" if more > 0 else shown or "-"


class Advance(Protocol):
    """Called with the steps done (None: as many as before), a text on the present one, and the
    number of all steps if it changes."""

    def __call__(self, done: int | None, text: str = "", steps: int | None = None) -> None: ...


@contextmanager
def progress(what: str, steps: int, *, long: bool = False) -> Iterator[Advance]:
    """A progress bar on standard error, if it is a terminal and there is more than one step, or a
    single one may be long."""
    screen = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}"),
        console=screen,
        transient=True,
        disable=(steps < 2 and not long) or not screen.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=steps, text="")

        def advance(done: int | None, text: str = "", steps: int | None = None) -> None:
            bar.update(task, completed=done, total=steps, text=text)

        yield advance


def progress_bar() -> Progress:
    """Rows done, rows per second and time left, on standard error."""
    screen = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


@contextmanager
def resumable(what: str, total: int | None, place: Path | None) -> Iterator[Callable[[int], None]]:
    """A progress bar of finished rows; after Ctrl-C, a line that says how to resume.

    Called with the number of finished rows. `place` is where they are kept, if anywhere.
    """
    with progress_bar() as shown:
        task, done = shown.add_task(what, total=total), 0

        def progress(finished: int) -> None:
            nonlocal done
            done = finished
            shown.update(task, completed=finished)

        try:
            yield progress
        except KeyboardInterrupt:
            if place is not None:
                count = f"{done} {what}" if total is None else f"{done} of {total} {what}"
                typer.echo(
                    f"stopped with {count} in {safe(place)}; run the same command again to resume",
                    err=True,
                )
            raise


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


EPOCH = "SOURCE_DATE_EPOCH"
"""Set by build tools so that the same source gives the same bytes: seconds since 1970."""


def publication_day() -> str:
    """The day in the metadata: today, or the day of SOURCE_DATE_EPOCH."""
    given = os.environ.get(EPOCH)
    if given is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromtimestamp(int(given), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise MemAuditError(
            f"{EPOCH}={given!r} is not a number of seconds; correct or unset it"
        ) from None
