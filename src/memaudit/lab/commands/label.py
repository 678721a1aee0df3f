"""`memaudit label`: cells to be labelled blind, by people or by a model."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import LabelledPackages, model_session
from memaudit.cli.terminal import safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import refuse_to_write
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.tables import plain_table

if TYPE_CHECKING:
    from memaudit.lab.labels.annotate.labelling import LabelDatabase
    from memaudit.lab.labels.frame import FrameCell
    from memaudit.lab.labels.frame_drawing import Drawing


def frame(
    packages: LabelledPackages,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The frame folder to write.")],
    zero_rate: Annotated[
        str, typer.Option(metavar="SHARE", help="Share of the uncovered cells to draw.")
    ] = "0.2",
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the draw.")] = 0,
    candidate_kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Use only candidates of this kind; may be repeated."),
    ] = None,
    skip_exact: Annotated[
        bool,
        typer.Option("--skip-exact", help="Skip cells whose label follows from the texts alone."),
    ] = False,
) -> None:
    """Draw a frame of cells to label blind.

    It holds every covered cell and a share of the uncovered ones, shuffled and without labels.
    How it was drawn is in its frame.json.
    """
    from memaudit.building.named_packages import labelled_packages
    from memaudit.kernel.exact import exact
    from memaudit.lab.labels.frame_drawing import Design, draw
    from memaudit.lab.labels.frame_files import write_frame

    try:
        rate = exact(zero_rate)
    except ValueError as error:
        raise MemAuditError(f"--zero-rate: {error}") from None
    kinds = None if candidate_kind is None else frozenset(candidate_kind)
    drawing = draw(labelled_packages(packages), Design(seed, rate, kinds, skip_exact))
    written = write_frame(drawing.frame, out, drawing)
    _show(drawing, out, written)


def _show(drawing: "Drawing", out: Path, written: bool) -> None:

    from memaudit.cli.terminal import console
    from memaudit.lab.labels.frame_files import CELL_LINES, CELLS, KEY, MANIFEST

    screen = console()
    table = plain_table("covered", "uncovered", "uncovered drawn", left=0)
    table.add_column("candidate kind", overflow="fold")
    rows: dict[str, Counter[str]] = {}
    total = Counter[str]()
    for stratum in drawing.strata:
        # Strata are many; all of them are in the manifest.
        kind = stratum.name.partition(" / ")[0]
        for numbers in (rows.setdefault(kind, Counter()), total):
            numbers.update(
                covered=stratum.covered, uncovered=stratum.uncovered, drawn=stratum.drawn
            )
    for name, numbers in (*rows.items(), ("all", total)):
        if numbers is total:
            table.add_section()
        counts = (numbers["covered"], numbers["uncovered"], numbers["drawn"])
        table.add_row(*(f"{number:,}" for number in counts), safe_markup(name))
    screen.print(table)
    typer.echo(f"drawn from {counted(len(drawing.strata), 'stratum', 'strata')}, see {MANIFEST}")
    cells, packages = len(drawing.frame.cells), len(drawing.packages)
    state = "wrote" if written else "already exists:"
    typer.echo(safe(f"{state} {counted(cells, 'cell')} of {counted(packages, 'package')} in {out}"))
    for why, number in drawing.left_out.items():
        typer.echo(f"left out: {counted(number, 'cell')} {why}")
    typer.echo(f"give to annotators: {CELLS} or {CELL_LINES}")
    # Counts of the manifest reveal some labels.
    typer.echo(f"hide from annotators: {KEY}, {MANIFEST}")


def annotate(
    frame: Annotated[
        Path, typer.Argument(metavar="FRAME", help="A frame folder, or its cells file.")
    ],
    annotator: Annotated[str, typer.Option(metavar="NAME", help="The name of the annotator.")],
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="DB", help="The label database. Default: labels.sqlite beside the cells."
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port on 127.0.0.1; 0 chooses a free port."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the labels to a .csv file and exit."),
    ] = None,
) -> None:
    """Label the cells of a frame in a browser. Every label is saved immediately."""
    from memaudit.lab.labels.annotate.app import annotator_app, guideline
    from memaudit.lab.labels.annotate.labelling import (
        DATABASE,
        LabelDatabase,
        LabellingSession,
        checked_name,
        frame_digest,
    )
    from memaudit.lab.labels.frame_files import read_frame
    from memaudit.lab.serving import serve

    name = checked_name(annotator)
    cells = read_frame(frame).cells  # the key is dropped here: nothing below can show it
    if not cells:
        raise MemAuditError(f"{frame}: the frame has no cells; there is nothing to label")
    folder = frame if frame.is_dir() else frame.parent
    place, digest = labels or folder / DATABASE, frame_digest(cells)
    with closing(
        LabelDatabase(place, digest, len(cells), must_exist=export is not None)
    ) as database:
        if export is not None:
            _export(database, name, place, export, cells)
            return
        session = LabellingSession(cells, database, name)

        def announce(address: str) -> None:
            typer.echo(safe(f"{_progress(database, name, len(cells))}; press Ctrl-C to stop"))
            typer.echo(address)

        serve(annotator_app(session, guideline(folder)), port, announce, not no_browser)
        typer.echo(safe(f"{_progress(database, name, len(cells))}, saved in {place}"))


def _progress(database: "LabelDatabase", name: str, cells: int) -> str:
    return f"{len(database.label_set(name).labels)} of {cells} cells labelled by {name}"


def _export(
    database: "LabelDatabase", name: str, place: Path, file: Path, cells: Sequence["FrameCell"]
) -> None:
    from memaudit.lab.labels.annotate.labelling import ids_with_parts
    from memaudit.lab.labels.frame_files import write_labels

    label_set = database.label_set(name, ids_with_parts(cells))
    if not label_set.labels:
        counts = database.annotators().items()
        others = ", ".join(f"{other} ({count})" for other, count in counts if count)
        raise MemAuditError(f"{place}: no labels by {name!r}; it holds: {others or 'none'}")
    refuse_others_labels(file, name)
    write_labels(label_set, file)
    typer.echo(safe(f"{_progress(database, name, len(cells))}, written to {file}"))


def sheets(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="[SOURCE]",
            help="A frame, a package whose STOREs are to be labelled, or a board's folder. "
            "Default: the board that comes with MemAudit.",
        ),
    ] = None,
    stores: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STORE]...", help="Stores, or exports: [NAME=]PATH[+PATH][@VIEW]"),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for the sheets and their answers.")
    ] = Path("sheets"),
    add: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=DIR",
            help="A system to add to a board: a folder with CONVERSATION.json stores. Its labels "
            "are put there.",
        ),
    ] = None,
    filter: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="With STOREs: cells that may be covered: two-terms, one-term or all.",
        ),
    ] = "two-terms",
) -> None:
    """Write cells as Markdown and CSV, for people or language models to label blind.

    Sheets of a board hold memories without labels, and controls. Once both readers have answered,
    run it again: it asks a third reader where they differ, and then writes the labels.
    """
    if source is not None and stores:
        _sheets_of_stores(source, stores, out, filter)
    elif add is None and source is not None and not (Path(source) / "board.json").is_file():
        _sheets_of_frame(Path(source), out)
    else:
        _sheets_of_board(None if source is None else Path(source), add, out)


def _sheets_of_stores(package: str, stores: list[str], out: Path, filter: str) -> None:
    from memaudit.cli.options import read_stores
    from memaudit.judges.lexical import named_filter
    from memaudit.kernel.io.packages import read_package
    from memaudit.lab.labels.store_cells import write_store_cells

    exported = read_stores(stores)
    chosen = named_filter(filter)
    typer.echo(safe(write_store_cells(out, read_package(Path(package)), exported, chosen)))
    typer.echo(safe("give to annotators: sheet.csv, sheet.md, or memaudit label annotate"))
    typer.echo(safe(f"save labels as {out / 'NAME.csv'}, then score with"))
    typer.echo(safe(f"  --judge labels:{out / 'NAME.csv'}"))


def _sheets_of_frame(frame: Path, out: Path) -> None:
    from memaudit.kernel.io.atomic import write_folder
    from memaudit.lab.labels.frame_files import read_frame
    from memaudit.lab.labels.sheets import guideline_text, sheet_texts

    asked = read_frame(frame).cells
    if not asked:
        raise MemAuditError(f"{frame}: the frame has no cells; there is nothing to label")
    if out.exists():
        raise MemAuditError(f"{out}: already exists; choose another folder")
    brief = guideline_text(frame if frame.is_dir() else frame.parent)
    texts = sheet_texts(asked, brief)
    write_folder(out, texts, ())
    typer.echo(safe(f"{counted(len(asked), 'cell')} in {out}: {', '.join(texts)}"))


def _sheets_of_board(folder: Path | None, add: str | None, out: Path) -> None:
    from memaudit.board.board_folder import read_board, shipped_board
    from memaudit.cli.board import named_system
    from memaudit.lab.labels.board_sheets import Sheets

    added = [] if add is None else [named_system(add)]
    target = added[0][1] if added else folder
    if target is None:
        raise MemAuditError("give --add NAME=DIR or a board's folder, where the labels are put")
    with shipped_board() as shipped:
        for line in Sheets(read_board(folder or shipped, added), out, target).advance():
            typer.echo(safe(line))


def cells(
    frame: Annotated[
        Path,
        typer.Argument(metavar="FRAME", help="A frame folder, or a CSV or JSONL file of cells."),
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")],
    out: Annotated[Path, typer.Option(metavar="LABELS", help="The label file to write: .csv.")],
) -> None:
    """Ask a model to label every cell of a frame.

    The model sees the two texts of a cell and nothing else.
    """
    from memaudit.lab.labels.frame_files import read_frame, write_labels
    from memaudit.lab.labels.model_labels import annotator_of, labels_by_model

    asked = read_frame(frame)
    judge = annotator_of(model)
    refuse_others_labels(out, judge)
    with model_session([judge]) as session:
        assert session is not None  # a model's name opens one
        answers = labels_by_model(asked, session, model)
        problems = session.ledger.problems
        failures = Counter(problem.what for problem in problems if problem.failure)
    write_labels(answers.labels, out)
    counts = Counter(answers.labels.labels.values())
    shares = ", ".join(f"{number:,} {label}" for label, number in sorted(counts.items()))
    labelled = len(answers.labels.labels)
    typer.echo(safe(f"wrote {labelled:,} of {len(asked.cells):,} labels to {out}: {shares}"))
    for what, number in sorted(failures.items()):
        typer.echo(safe(f"{counted(number, 'request')} failed: {what}"), err=True)
    if answers.undecided:
        number = len(answers.undecided)
        typer.echo(f"{counted(number, 'cell')} without a label: the model gave no answer", err=True)


def refuse_others_labels(out: Path, annotator: str) -> None:
    """Overwrite only labels of the same annotator."""
    from memaudit.lab.labels.frame_files import read_label_sets

    if out.suffix.lower() != ".csv":
        raise MemAuditError(f"{out}: labels are written to a .csv file")
    if not out.absolute().parent.is_dir():  # before anything is spent
        raise MemAuditError(f"cannot write {out}: {out.parent} is not a folder")
    # Before a model is asked: labels that cannot be written would be paid for in vain.
    refuse_to_write(out)
    if not out.exists():
        return
    others = [
        label_set.annotator
        for label_set in read_label_sets(out)
        if label_set.annotator != annotator
    ]
    if others:
        raise MemAuditError(f"{out}: holds labels of {others[0]!r}; choose another file")


label = typer.Typer(
    help="Label what memories cover, blind.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@label.callback()
def _group() -> None:
    """Label what memories cover, blind."""


label.command("frame")(frame)
label.command("sheets")(sheets)
label.command("annotate")(annotate)
label.command("cells")(cells)
