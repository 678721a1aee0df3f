"""`memaudit audit frame`: cells of packages to be labelled blindly."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.text import safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted

if TYPE_CHECKING:
    from memaudit.label_audit.frame_drawing import Drawing

MOST_STRATA = 24
"""More are added up by candidate kind on the screen."""

ALL = "all"


def frame(
    packages: Annotated[
        list[str],
        typer.Argument(
            metavar="PACKAGE...",
            help="Packages, folders that memaudit build wrote, or natural: the shipped set.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write.")],
    zero_rate: Annotated[
        str, typer.Option(metavar="SHARE", help="The share of uncovered cells to draw.")
    ] = "0.2",
    seed: Annotated[int, typer.Option(metavar="S", help="Another seed, another draw.")] = 0,
    candidate_kind: Annotated[
        list[str] | None,
        typer.Option(metavar="K", help="Only candidates of this kind; repeat the option."),
    ] = None,
    skip_exact: Annotated[
        bool, typer.Option("--skip-exact", help="Leave out cells that follow from the texts alone.")
    ] = False,
    passes: Annotated[
        bool,
        typer.Option(
            "--passes",
            help="Only cells that the packages' own label passes judged; write those labels too.",
        ),
    ] = False,
    max_cells: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Draw fewer uncovered cells, to have at most N."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Draw a frame: every covered cell and a share of the uncovered ones, shuffled, unlabelled."""
    from memaudit.core.exact import exact
    from memaudit.label_audit.frame_drawing import Design, draw
    from memaudit.label_audit.frame_files import drawing_data, write_frame
    from memaudit.label_audit.package_passes import pass_label_sets
    from memaudit.natural.named_packages import named_packages

    try:
        rate = exact(zero_rate)
    except ValueError as error:
        raise MemAuditError(f"--zero-rate: {error}") from None
    kinds = None if candidate_kind is None else frozenset(candidate_kind)
    design = Design(seed, rate, kinds, skip_exact, max_cells, judged_only=passes)
    found = named_packages(packages)
    drawing = draw(found, design)
    labelled = pass_label_sets(drawing.frame, found) if passes else []
    written = write_frame(drawing.frame, out, drawing, labelled)
    if as_json:
        head = {"folder": str(out), "written": written, "cells": len(drawing.frame.cells)}
        typer.echo(json.dumps({**head, **drawing_data(drawing)}, indent=1))
        return
    _show(drawing, out, written)


def _show(drawing: "Drawing", out: Path, written: bool) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console
    from memaudit.label_audit.frame_files import (
        CELL_LINES,
        CELLS,
        KEY,
        MANIFEST,
        PASSES,
        TASKS,
        TASKS_CONFIG,
    )

    screen = console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("covered", "uncovered", "of them drawn"):
        table.add_column(name, justify="right")
    many = len(drawing.strata) > MOST_STRATA
    table.add_column("candidate kind" if many else "stratum", overflow="fold")
    rows: dict[str, Counter[str]] = {}
    total = Counter[str]()
    for one in drawing.strata:
        name = one.name.partition(" / ")[0] if many else one.name
        for numbers in (rows.setdefault(name, Counter()), total):
            numbers.update(covered=one.covered, uncovered=one.uncovered, drawn=one.drawn)
    for name, numbers in (*rows.items(), (ALL, total)):
        if numbers is total:
            table.add_section()
        counts = (numbers["covered"], numbers["uncovered"], numbers["drawn"])
        table.add_row(*(f"{number:,}" for number in counts), safe_markup(name))
    screen.print(table)
    if many:
        typer.echo(f"drawn from {len(drawing.strata):,} strata, all listed in {MANIFEST}")
    cells, packages = len(drawing.frame.cells), len(drawing.packages)
    state = "wrote" if written else "already there:"
    typer.echo(safe(f"{state} {counted(cells, 'cell')} of {counted(packages, 'package')} in {out}"))
    for why, number in drawing.left_out.items():
        typer.echo(f"left out: {counted(number, 'cell')} {why}")
    typer.echo(f"to label: {CELLS}, {CELL_LINES}, or {TASKS} with {TASKS_CONFIG}")
    passes = [PASSES] if drawing.design.judged_only else []
    hidden = ", ".join([KEY, *passes, MANIFEST])  # its counts give some strata away
    typer.echo(f"to keep from those who label: {hidden}")
