"""`memaudit audit cells`: a frame answered by a model, blind."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.judging import NO_DESK, DeskOptions, judging_desk
from memaudit.cli.option_groups import spread
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted


@spread
def cells(
    frame: Annotated[
        Path, typer.Argument(metavar="FRAME", help="A frame, or a CSV or JSONL file of cells.")
    ],
    model: Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")],
    out: Annotated[Path, typer.Option(metavar="LABELS", help="The label file to write, .csv.")],
    options: DeskOptions = NO_DESK,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a model about every cell of a frame: the two texts and nothing else."""
    from memaudit.label_audit.frame_files import read_frame, write_labels
    from memaudit.label_audit.model_pass import MODEL, labels_by_model

    asked = read_frame(frame)
    judge = f"{MODEL}{model}"
    _refuse_others_labels(out, judge)
    with judging_desk([judge], options, out) as desk:
        assert desk is not None  # a model's name opens one
        found = labels_by_model(asked, desk, model)
        troubles = Counter(one.what for one in desk.ledger.troubles if one.failure)
    write_labels(found.labels, out)
    counts = Counter(found.labels.labels.values())
    if as_json:
        data = {
            "labels": str(out),
            "annotator": found.labels.annotator,
            "cells": len(asked.cells),
            "labelled": dict(sorted(counts.items())),
            "undecided": list(found.undecided),
            "failed_requests": dict(sorted(troubles.items())),
        }
        typer.echo(json.dumps(data, indent=1))
        return
    shares = ", ".join(f"{number:,} {label}" for label, number in sorted(counts.items()))
    labelled = len(found.labels.labels)
    typer.echo(safe(f"wrote {labelled:,} of {len(asked.cells):,} labels to {out}: {shares}"))
    for what, number in sorted(troubles.items()):
        typer.echo(safe(f"{counted(number, 'request')} failed: {what}"), err=True)
    if found.undecided:
        number = len(found.undecided)
        typer.echo(f"{counted(number, 'cell')} got no answer and no label", err=True)


def _refuse_others_labels(out: Path, annotator: str) -> None:
    """Nobody's work is overwritten: only labels of this same model are replaced."""
    from memaudit.label_audit.frame_files import read_label_sets

    if out.suffix.lower() not in (".csv", ".jsonl"):
        raise MemAuditError(f"{out}: labels are written to a .csv or .jsonl file")
    if not out.absolute().parent.is_dir():  # before anything is spent
        raise MemAuditError(f"cannot write {out}: {out.parent} is no folder")
    if not out.exists():
        return
    others = [one.annotator for one in read_label_sets(out) if one.annotator != annotator]
    if others:
        raise MemAuditError(f"{out}: holds labels of {others[0]!r}; choose another file")
