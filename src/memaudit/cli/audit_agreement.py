"""`memaudit audit agreement`: how far labels of the same cells agree."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memaudit.cli.terminal import console, safe
from memaudit.core.errors import MemAuditError
from memaudit.core.number_text import percent, ratio, with_interval
from memaudit.core.text import counted
from memaudit.label_audit.agreement import AgreementAudit, DisputedCell
from memaudit.label_audit.coded_labels import AS_DRAWN, COVERED_SCALE, LABEL_SCALE, Scale
from memaudit.label_audit.pair_agreement import (
    MOST_GROUP_DRAWS,
    STRATUM,
    Comparison,
    Estimate,
    Group,
    PairCoefficients,
)
from memaudit.stats.agreement_coefficients import total

if TYPE_CHECKING:
    from memaudit.label_audit.frame import Frame, LabelSet


MOST_STRATA, MOST_CELLS, LONGEST_TEXT = 8, 10, 100


def show_agreement(found: AgreementAudit, notes: Sequence[str], details: bool) -> None:
    """Print the tables; groups of cells for every pair with `details`, else for the first."""
    screen = console()
    scales = (LABEL_SCALE, COVERED_SCALE) if found.has_partial else (COVERED_SCALE,)
    drawn = "whole packages, as cells of one share texts" if found.packages > 1 else "cells"
    _say(screen, f"{counted(found.cells, 'cell')} of {counted(found.packages, 'package')}")
    _say(
        screen, f"[a, b]: 95% intervals, percentiles of {found.draws:,} bootstrap draws of {drawn}"
    )
    few = min(found.draws, MOST_GROUP_DRAWS)
    _say(screen, f"in groups of cells: of {few:,} draws of the group's cells; strata have none")
    for note in notes:
        _say(screen, f"note: {note}")
    for scale in scales:
        screen.print()
        _say(screen, scale.title)
        screen.print(_summary([one for one in found.comparisons if one.scale == scale]))
    _show_raters(screen, found)
    _show_alpha(screen, found, scales)
    pairs = [one for one in found.comparisons if one.scale in scales]
    for one in pairs if details else pairs[:1]:
        _show_pair(screen, one)
    if not details and len(pairs) > 1:
        _say(screen, "the other pairs, and the other scale, in detail: --details or --json")
    _show_disputed(screen, found.disputed)


def _say(screen: Console, text: str) -> None:
    screen.print(_plain(text), soft_wrap=True)


def _plain(text: str) -> Text:
    """Text as it is: names like pass:a: would else turn into emoji, brackets into markup."""
    return Text(safe(text))


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(_plain(cell) for cell in cells))


def _table(*names: str, left: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place < left else "right", overflow="fold")
    return table


def _summary(pairs: Sequence[Comparison]) -> Table:
    """A row a pair, and one more for the natural balance."""
    names = ["audit pair", "scope", "Cohen's kappa", "raw agreement"]
    if pairs[0].scale == COVERED_SCALE:
        names += ["positive", "negative"]
    table = _table(*names, left=2)
    for one in pairs:
        agreed = "agreed " if "consensus" in one.kind else ""
        scope = f"{one.cells:,} {agreed}cells"
        _add(table, one.title, scope, *_coefficients(one.as_drawn, one.scale))
        if one.natural is not None:
            stands = f"stand for {round(total(one.natural.table)):,}"
            _add(table, "  natural balance", stands, *_coefficients(one.natural, one.scale))
    return table


def _coefficients(one: PairCoefficients, scale: Scale) -> list[str]:
    own = [_value(one.specific[place]) for place in (1, 0)] if scale == COVERED_SCALE else []
    return [_estimate(one.kappa), _estimate(one.raw), *own]


def _show_raters(screen: Console, found: AgreementAudit) -> None:
    table = _table("labels by", "full", "partial", "none", "cannot tell", "missing")
    for one in found.raters:
        counts = found.labels[one.name]
        keys = ("full", "partial", "none", "cannot_tell", "missing")
        _add(table, one.title, *(f"{counts[key]:,}" for key in keys))
    screen.print(table)


def _show_alpha(screen: Console, found: AgreementAudit, scales: Sequence[Scale]) -> None:
    if not found.alphas:
        return
    annotators = sum(one.role == "annotator" for one in found.raters)
    table = _table(f"Krippendorff's alpha, {annotators} annotators", "alpha")
    for one in found.alphas:
        if one.scale in scales:
            balance = "" if one.balance == AS_DRAWN else ", natural balance"
            name = one.scale.name if one.level == "nominal" else f"{one.scale.name}, {one.level}"
            _add(table, f"{name}{balance}", _estimate(one.estimate))
    screen.print(table)


def _show_pair(screen: Console, one: Comparison) -> None:
    reasons = [f"{number:,} {name.replace('_', ' ')}" for name, number in one.left_out.items()
               if number]  # fmt: skip
    left_out = f"; left out: {', '.join(reasons)}" if reasons else ""
    _say(screen, f"{one.title}, {one.scale.name}: {counted(one.cells, 'cell')} compared{left_out}")
    if not one.cells:
        return
    table = _table("rows: first, columns: second", *one.scale.categories, "own agreement")
    for name, row, own in zip(
        one.scale.categories, one.as_drawn.table, one.as_drawn.specific, strict=True
    ):
        _add(table, name, *(f"{entry.numerator:,}" for entry in row), _estimate(own))
    screen.print(table)
    if one.as_drawn.kappa.over_packages is not None:
        cells = Estimate(one.as_drawn.kappa.value, one.as_drawn.kappa.over_cells)
        _say(screen, f"kappa with draws of single cells: {_estimate(cells)}")
    _show_groups(screen, one.groups)


def _show_groups(screen: Console, groups: Sequence[Group]) -> None:
    """Groups that part the cells; of strata those with most disagreements."""
    table = _table("cells by", "", "cells", "kappa", "agreement", "disagree", "of all", left=2)
    parts: dict[str, list[Group]] = {}
    for one in groups:
        parts.setdefault(one.by, []).append(one)
    cut = 0
    for by, members in parts.items():
        if len(members) < 2:
            continue
        shown = sorted(members, key=lambda one: -one.disagreements) if by == STRATUM else members
        cut += len(shown[MOST_STRATA:]) if by == STRATUM else 0
        for place, one in enumerate(shown[:MOST_STRATA] if by == STRATUM else shown):
            kappa = "-" if one.kappa is None else _estimate(one.kappa)
            _add(
                table,
                "" if place else by, one.name, f"{one.cells:,}", kappa,
                _value(one.raw), f"{one.disagreements:,}", percent(one.share),
            )  # fmt: skip
        table.add_section()
    if table.row_count:
        screen.print(table)
    if cut:
        _say(screen, f"{counted(cut, 'more stratum', 'more strata')} with --json")


def _show_disputed(screen: Console, cells: Sequence[DisputedCell]) -> None:
    if not cells:
        _say(screen, "no cell is disputed")
        return
    _say(screen, f"most disputed, {min(len(cells), MOST_CELLS):,} of {len(cells):,} cells:")
    for one in cells[:MOST_CELLS]:
        said = ", ".join(f"{name} {label}" for name, label in one.labels.items())
        cell = one.cell
        at = f" ({cell.package}: {cell.candidate} x {cell.unit})" if cell.candidate else ""
        _say(screen, f"{cell.id}{at}: {said}")
        for name, text in (("candidate", cell.candidate_text), ("unit", cell.unit_text)):
            if text:
                _say(screen, f"  {name}: {_short(text)}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 3]}..."


def _value(one: Estimate) -> str:
    return ratio(one.value, missing="undefined")


def _estimate(one: Estimate) -> str:
    if one.interval is None:
        return _value(one)
    return with_interval(one.value, one.interval.low, one.interval.high, missing="undefined")


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
    from memaudit.label_audit.agreement import agreement_notes, audit_agreement
    from memaudit.label_audit.agreement_json import agreement_data

    frame, annotators, models = _sources(cells, labels, model or [])
    found = audit_agreement(frame, annotators, models, draws, seed)
    if as_json:
        typer.echo(json.dumps(agreement_data(found), indent=1))
    else:
        show_agreement(found, agreement_notes(found), details)


def _sources(
    cells: str, labels: Sequence[str], model: Sequence[str]
) -> tuple["Frame", list["LabelSet"], list["LabelSet"]]:
    """The frame, and the labels of annotators and of models."""
    from memaudit.label_audit.frame_drawing import judged_frame
    from memaudit.label_audit.frame_files import read_frame, read_label_sets
    from memaudit.natural.coverage_rules import PASS
    from memaudit.natural.named_packages import labelled_packages

    named = [*labels, *model]
    kept = [name for name in named if name.startswith(PASS)]
    if kept and len(kept) < len(named):
        raise MemAuditError(
            "label files name cells of a frame, pass:NAME those of a package; give one sort only"
        )
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise MemAuditError(f"{twice[0]} is given twice")
    if kept:
        frame, passes = judged_frame(labelled_packages([cells]), kept)
        return frame, [passes[name] for name in labels], [passes[name] for name in model]
    frame = read_frame(Path(cells), ids_only=True)
    sets = {name: read_label_sets(Path(name), frame) for name in named}
    return (
        frame,
        [one for name in labels for one in sets[name]],
        [one for name in model for one in sets[name]],
    )
