"""`memaudit annotate`: a local page on which a person labels the cells of a frame, blindly."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.web.annotate.label_database import Decisions


def annotate(
    frame: Annotated[Path, typer.Argument(metavar="FRAME", help="A frame, or its cells file.")],
    annotator: Annotated[str, typer.Option(metavar="NAME", help="Who labels.")],
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="DB", help="Where labels are kept; labels.sqlite beside the cells if not given."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open no browser.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the labels to a .csv or .jsonl, serve nothing."),
    ] = None,
) -> None:
    """Label cells in a browser on this machine; every label is on disk when the page moves on."""
    from memaudit.label_audit.frame_files import read_frame
    from memaudit.web.annotate.app import annotator_app, guideline
    from memaudit.web.annotate.label_database import Decisions
    from memaudit.web.annotate.labelling import DATABASE, Desk, checked_name, frame_digest
    from memaudit.web.serving import serve

    name = checked_name(annotator)
    cells = read_frame(frame).cells  # the key is dropped here: nothing below can show it
    if not cells:
        raise MemAuditError(f"{frame}: the frame has no cells; there is nothing to label")
    folder = frame if frame.is_dir() else frame.parent
    place, digest = labels or folder / DATABASE, frame_digest(cells)
    with closing(Decisions(place, digest, len(cells), must_exist=export is not None)) as kept:
        if export is not None:
            _export(kept, name, place, export, len(cells))
            return
        desk = Desk(cells, kept, name)

        def announce(address: str) -> None:
            typer.echo(safe(f"{_far(kept, name, len(cells))}; Ctrl-C ends"))
            typer.echo(address)

        serve(annotator_app(desk, guideline(folder)), port, announce, not no_browser)
        typer.echo(safe(f"{_far(kept, name, len(cells))}, kept in {place}"))


def _far(kept: "Decisions", name: str, cells: int) -> str:
    return f"{len(kept.label_set(name).labels)} of {cells} cells labelled by {name}"


def _export(kept: "Decisions", name: str, place: Path, file: Path, cells: int) -> None:
    from memaudit.label_audit.frame_files import write_labels

    found = kept.label_set(name)
    if not found.labels:
        others = ", ".join(f"{one} ({count})" for one, count in kept.annotators().items() if count)
        raise MemAuditError(f"{place}: no labels by {name!r}; it holds: {others or 'none'}")
    write_labels(found, file)
    typer.echo(safe(f"{_far(kept, name, cells)}, written to {file}"))
