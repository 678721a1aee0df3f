"""`memaudit audit agreement`: how well labels of the same cells agree."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from memaudit.cli.options import chosen_draws
from memaudit.cli.terminal import console
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import ratio, with_interval
from memaudit.kernel.stats.agreement_coefficients import total
from memaudit.kernel.words.text import counted
from memaudit.lab.commands.tables import add_row, plain_table, print_plain
from memaudit.lab.labels.agreement import AgreementAudit, DisputedCell
from memaudit.lab.labels.coded_labels import AS_DRAWN, COVERED_SCALE, LABEL_SCALE, Scale
from memaudit.lab.labels.pair_agreement import (
    Comparison,
    Estimate,
    PairCoefficients,
)

if TYPE_CHECKING:
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
    from memaudit.lab.labels.agreement import (
        DRAWS,
        agreement_data,
        agreement_notes,
        audit_agreement,
    )

    frame, annotators, models = _sources(cells, labels)
    audit = audit_agreement(frame, annotators, models, chosen_draws(DRAWS))
    if as_json:
        typer.echo(json.dumps(agreement_data(audit), indent=1))
    else:
        _show(audit, agreement_notes(audit))


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


def _show(audit: AgreementAudit, notes: Sequence[str]) -> None:
    screen = console()
    scales = (LABEL_SCALE, COVERED_SCALE) if audit.has_partial else (COVERED_SCALE,)
    resampled = "whole packages" if audit.packages > 1 else "cells"
    print_plain(screen, f"{counted(audit.cells, 'cell')} of {counted(audit.packages, 'package')}")
    print_plain(
        screen,
        f"[a, b]: 95% intervals, percentiles of {audit.draws:,} bootstrap draws of {resampled}",
    )
    for note in notes:
        print_plain(screen, f"note: {note}")
    for scale in scales:
        screen.print()
        print_plain(screen, scale.title)
        screen.print(_summary([pair for pair in audit.comparisons if pair.scale == scale]))
    _show_parts(screen, audit)
    _show_raters(screen, audit)
    _show_alpha(screen, audit, scales)
    print_plain(
        screen, "memaudit audit report shows where disagreements are, from the output of --json"
    )
    _show_disputed(screen, audit.disputed)


def _summary(pairs: Sequence[Comparison]) -> Table:
    """One row per pair, and a second one weighted to the natural balance of labels."""
    names = ["audit pair", "scope", "Cohen's kappa", "raw agreement"]
    if pairs[0].scale == COVERED_SCALE:
        names += ["positive", "negative"]
    table = plain_table(*names, left=2)
    for pair in pairs:
        agreed = "agreed " if "consensus" in pair.kind else ""
        scope = f"{pair.cells:,} {agreed}cells"
        add_row(table, pair.title, scope, *_coefficients(pair.as_drawn, pair.scale))
        if pair.natural is not None:
            represented = f"represent {round(total(pair.natural.table)):,}"
            add_row(
                table, "  natural balance", represented, *_coefficients(pair.natural, pair.scale)
            )
    return table


def _coefficients(measured: PairCoefficients, scale: Scale) -> list[str]:
    specific = measured.specific
    own = [_value(specific[place]) for place in (1, 0)] if scale == COVERED_SCALE else []
    return [_estimate(measured.kappa), _estimate(measured.raw), *own]


def _show_parts(screen: Console, audit: AgreementAudit) -> None:
    if not audit.parts:
        return
    screen.print()
    print_plain(screen, "Parts of statements: kept or lost")
    table = plain_table(
        "audit pair",
        "parts",
        "Cohen's kappa",
        "agreement",
        "statements",
        "same parts",
        "mean difference of share",
    )
    for pair in audit.parts:
        add_row(
            table,
            f"{pair.first.title} - {pair.second.title}",
            f"{pair.parts:,}",
            ratio(pair.kappa, missing="undefined"),
            ratio(Fraction(pair.agreed, pair.parts)),
            f"{pair.statements:,}",
            f"{pair.same:,}",
            ratio(pair.difference),
        )
    screen.print(table)


def _show_raters(screen: Console, audit: AgreementAudit) -> None:
    table = plain_table("labels by", "full", "partial", "none", "cannot tell", "missing")
    for rater in audit.raters:
        counts = audit.labels[rater.name]
        keys = ("full", "partial", "none", "cannot_tell", "missing")
        add_row(table, rater.title, *(f"{counts[key]:,}" for key in keys))
    screen.print(table)


def _show_alpha(screen: Console, audit: AgreementAudit, scales: Sequence[Scale]) -> None:
    if not audit.alphas:
        return
    annotators = sum(rater.role == "annotator" for rater in audit.raters)
    table = plain_table(f"Krippendorff's alpha, {annotators} annotators", "alpha")
    for alpha in audit.alphas:
        if alpha.scale in scales:
            balance = "" if alpha.balance == AS_DRAWN else ", natural balance"
            level = "" if alpha.level == "nominal" else f", {alpha.level}"
            add_row(table, f"{alpha.scale.name}{level}{balance}", _estimate(alpha.estimate))
    screen.print(table)


def _show_disputed(screen: Console, disputed: Sequence[DisputedCell]) -> None:
    if not disputed:
        print_plain(screen, "no cell is disputed")
        return
    shown = min(len(disputed), MOST_CELLS)
    print_plain(screen, f"most disputed, {shown:,} of {len(disputed):,} cells:")
    for dispute in disputed[:MOST_CELLS]:
        labels = ", ".join(f"{name} {label}" for name, label in dispute.labels.items())
        cell = dispute.cell
        at = f" ({cell.package}: {cell.candidate} x {cell.unit})" if cell.candidate else ""
        print_plain(screen, f"{cell.id}{at}: {labels}")
        for name, text in (("candidate", cell.candidate_text), ("unit", cell.unit_text)):
            if text:
                print_plain(screen, f"  {name}: {_short(text)}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 3]}..."


def _value(estimate: Estimate) -> str:
    return ratio(estimate.value, missing="undefined")


def _estimate(estimate: Estimate) -> str:
    interval = estimate.interval
    if interval is None:
        return _value(estimate)
    return with_interval(estimate.value, interval.low, interval.high, missing="undefined")
