"""`memaudit annotate`: a local page on which a person labels the cells of a frame, blind."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.label_audit.frame import FrameCell
    from memaudit.web.annotate.label_database import LabelDatabase


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
        typer.Option(metavar="FILE", help="Write the labels to a .csv or .jsonl file and exit."),
    ] = None,
) -> None:
    """Label cells in a browser on this machine. Every label is saved immediately."""
    from memaudit.label_audit.frame_files import read_frame
    from memaudit.web.annotate.app import annotator_app, guideline
    from memaudit.web.annotate.label_database import LabelDatabase
    from memaudit.web.annotate.labelling import (
        DATABASE,
        LabellingSession,
        checked_name,
        frame_digest,
    )
    from memaudit.web.serving import serve

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
    from memaudit.cli.audit_frame import refuse_others_labels
    from memaudit.label_audit.frame_files import write_labels
    from memaudit.web.annotate.labelling import ids_with_parts

    label_set = database.label_set(name, ids_with_parts(cells))
    if not label_set.labels:
        counts = database.annotators().items()
        others = ", ".join(f"{other} ({count})" for other, count in counts if count)
        raise MemAuditError(f"{place}: no labels by {name!r}; it holds: {others or 'none'}")
    refuse_others_labels(file, name)
    write_labels(label_set, file)
    typer.echo(safe(f"{_progress(database, name, len(cells))}, written to {file}"))
