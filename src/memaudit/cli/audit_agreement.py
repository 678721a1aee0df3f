"""`memaudit audit agreement`: how far labels of the same cells agree."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.label_audit.cells import Frame, LabelSet


def agreement(
    cells: Annotated[
        str,
        typer.Argument(
            metavar="CELLS", help="A frame's folder, a file of cells, or packages with passes."
        ),
    ],
    labels: Annotated[
        list[str],
        typer.Argument(
            metavar="LABELS", help="Label files of annotators, or pass:NAME kept in packages."
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="LABELS", help="Labels that a model gave; repeat the option."),
    ] = None,
    draws: Annotated[int, typer.Option(metavar="N", min=1, help="Bootstrap draws.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of the draws.")] = 0,
    details: Annotated[
        bool, typer.Option("--details", help="Groups of cells for every pair, not just the first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every group.")] = False,
) -> None:
    """Compare annotators, their consensus, models and the package's own labels, cell by cell."""
    from memaudit.cli.agreement_tables import show
    from memaudit.label_audit.agreement import audit_agreement, notes
    from memaudit.label_audit.agreement_json import audit_data

    frame, annotators, models = _sources(cells, labels, model or [])
    found = audit_agreement(frame, annotators, models, draws, seed)
    if as_json:
        typer.echo(json.dumps(audit_data(found), indent=1))
    else:
        show(found, notes(found), details)


def _sources(
    cells: str, labels: Sequence[str], model: Sequence[str]
) -> tuple["Frame", list["LabelSet"], list["LabelSet"]]:
    """The frame, and the labels of annotators and of models."""
    from memaudit.label_audit.frame_files import read_frame, read_label_sets
    from memaudit.label_audit.judged_frame import judged_frame
    from memaudit.natural.coverage_rules import PASS
    from memaudit.natural.named_packages import named_packages

    named = [*labels, *model]
    kept = [name for name in named if name.startswith(PASS)]
    if kept and len(kept) < len(named):
        raise MemAuditError(
            "label files name cells of a frame, pass:NAME those of a package; give one sort only"
        )
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise MemAuditError(f"{twice[0]} is given twice")
    if kept:
        frame, passes = judged_frame(named_packages([cells]), kept)
        return frame, [passes[name] for name in labels], [passes[name] for name in model]
    frame = read_frame(Path(cells), ids_only=True)
    sets = {name: read_label_sets(Path(name), frame) for name in named}
    return (
        frame,
        [one for name in labels for one in sets[name]],
        [one for name in model for one in sets[name]],
    )
