"""`memaudit audit agreement`: how well labels of the same cells agree."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import chosen_draws
from memaudit.cli.terminal import console, print_columns
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import counted, one_line, shortened
from memaudit.lab.commands.tables import print_plain

if TYPE_CHECKING:
    from memaudit.lab.labels.agreement_file import AgreementFile, DisputedCell
    from memaudit.lab.labels.frame import Frame, LabelSet

MOST_CELLS, LONGEST_TEXT = 10, 100


def agreement(
    cells: Annotated[
        str,
        typer.Argument(
            metavar="CELLS", help="A frame folder, a file of cells, or packages with label passes."
        ),
    ],
    labels: Annotated[
        list[str],
        typer.Argument(
            metavar="LABELS",
            help="Label files, or pass:NAME for a label pass of the packages. Labels by an "
            "annotator called model:NAME are not in the consensus.",
        ),
    ],
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print JSON, with confusion tables and every group of cells."),
    ] = False,
) -> None:
    """Measure how well labels of the same cells agree.

    Compares annotators, their consensus, models and the package's own labels.
    """
    from memaudit.lab.labels.agreement import DRAWS, audit_agreement
    from memaudit.lab.labels.agreement_file import RATER_COLUMNS

    frame, annotators, models = _sources(cells, labels)
    audit = audit_agreement(frame, annotators, models, chosen_draws(DRAWS))
    if as_json:
        typer.echo(json.dumps(audit.model_dump(), indent=1))
        return
    show_pairs(audit)
    print_columns(console(), RATER_COLUMNS, audit.raters)
    typer.echo("memaudit audit report shows where disagreements are, from the output of --json")
    _show_disputed(audit.disputed)


def _sources(
    cells: str, labels: Sequence[str]
) -> tuple["Frame", list["LabelSet"], list["LabelSet"]]:
    """The frame, and the labels of annotators and of models."""
    from memaudit.building.named_packages import labelled_packages
    from memaudit.kernel.package.labels import PASS
    from memaudit.lab.labels.frame_drawing import judged_frame
    from memaudit.lab.labels.frame_files import read_frame, read_label_sets

    passes = [name for name in labels if name.startswith(PASS)]
    if passes and len(passes) < len(labels):
        raise MemAuditError(
            "label files are about cells of a frame, pass:NAME is about cells of a package; give "
            "either files or passes"
        )
    if twice := sorted({name for name in labels if labels.count(name) > 1}):
        raise MemAuditError(f"{twice[0]} is given twice; give it once")
    if passes:
        frame, by_name = judged_frame(labelled_packages([cells]), passes)
        return frame, [by_name[name] for name in labels], []
    frame = read_frame(Path(cells), ids_only=True)
    sets = [label_set for name in labels for label_set in read_label_sets(Path(name), frame)]
    return (
        frame,
        [label_set for label_set in sets if not label_set.is_model],
        [label_set for label_set in sets if label_set.is_model],
    )


def show_pairs(audit: "AgreementFile") -> None:
    """Print the pairs of raters on the scales that were used, and notes."""
    from memaudit.lab.labels.agreement_file import PAIR_COLUMNS
    from memaudit.lab.labels.coded_labels import COVERED_SCALE, LABEL_SCALE

    screen = console()
    resampled = "whole packages" if audit.packages > 1 else "cells"
    print_plain(screen, f"{counted(audit.cells, 'cell')} of {counted(audit.packages, 'package')}")
    print_plain(
        screen,
        f"[a, b]: 95% intervals, percentiles of {audit.draws:,} bootstrap draws of {resampled}",
    )
    for note in audit.notes:
        print_plain(screen, f"note: {note}")
    for scale in (LABEL_SCALE, COVERED_SCALE) if audit.has_partial else (COVERED_SCALE,):
        screen.print()
        print_plain(screen, scale.title)
        print_columns(screen, PAIR_COLUMNS, audit.rows(scale.name))


def _show_disputed(disputed: Sequence["DisputedCell"]) -> None:
    screen = console()
    if not disputed:
        print_plain(screen, "no cell is disputed")
        return
    shown = min(len(disputed), MOST_CELLS)
    print_plain(screen, f"most disputed, {shown:,} of {len(disputed):,} cells:")
    for cell in disputed[:MOST_CELLS]:
        labels = ", ".join(f"{name} {label}" for name, label in cell.labels.items())
        at = f" ({cell.at})" if cell.candidate_id else ""
        print_plain(screen, f"{cell.cell_id}{at}: {labels}")
        for name, text in (("candidate", cell.candidate_text), ("unit", cell.unit_text)):
            if text:
                print_plain(screen, f"  {name}: {shortened(one_line(text), LONGEST_TEXT)}")
