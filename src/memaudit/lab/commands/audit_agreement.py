"""`memaudit audit agreement`: how well labels of the same cells agree."""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from memaudit.cli.options import chosen_draws
from memaudit.cli.terminal import console, safe
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import percent, ratio, with_interval
from memaudit.kernel.stats.agreement_coefficients import total
from memaudit.kernel.words.text import counted
from memaudit.lab.labels.agreement import AgreementAudit, DisputedCell
from memaudit.lab.labels.coded_labels import AS_DRAWN, COVERED_SCALE, LABEL_SCALE, Scale
from memaudit.lab.labels.pair_agreement import (
    MOST_GROUP_DRAWS,
    STRATUM,
    Comparison,
    Estimate,
    Group,
    PairCoefficients,
)

if TYPE_CHECKING:
    from memaudit.lab.labels.frame import Frame, LabelSet

MOST_STRATA, MOST_CELLS, LONGEST_TEXT = 8, 10, 100


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
    details: Annotated[
        bool,
        typer.Option("--details", help="Show groups of cells for every pair, not only the first."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, with every group of cells.")
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
        _show(audit, agreement_notes(audit), details)


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


def _show(audit: AgreementAudit, notes: Sequence[str], details: bool) -> None:
    screen = console()
    scales = (LABEL_SCALE, COVERED_SCALE) if audit.has_partial else (COVERED_SCALE,)
    resampled = "whole packages" if audit.packages > 1 else "cells"
    _print(screen, f"{counted(audit.cells, 'cell')} of {counted(audit.packages, 'package')}")
    _print(
        screen,
        f"[a, b]: 95% intervals, percentiles of {audit.draws:,} bootstrap draws of {resampled}",
    )
    few = min(audit.draws, MOST_GROUP_DRAWS)
    _print(screen, f"groups of cells: {few:,} draws of the group's cells; strata have no interval")
    for note in notes:
        _print(screen, f"note: {note}")
    for scale in scales:
        screen.print()
        _print(screen, scale.title)
        screen.print(_summary([pair for pair in audit.comparisons if pair.scale == scale]))
    _show_parts(screen, audit)
    _show_raters(screen, audit)
    _show_alpha(screen, audit, scales)
    pairs = [pair for pair in audit.comparisons if pair.scale in scales]
    for pair in pairs if details else pairs[:1]:
        _show_pair(screen, pair)
    if not details and len(pairs) > 1:
        _print(screen, "--details or --json shows the other pairs and the other scale")
    _show_disputed(screen, audit.disputed)


def _print(screen: Console, text: str) -> None:
    screen.print(_plain(text), soft_wrap=True)


def _plain(text: str) -> Text:
    """Plain text: rich would turn pass:a: into an emoji and read brackets as markup."""
    return Text(safe(text))


def _add(table: Table, *cells: str) -> None:
    table.add_row(*(_plain(cell) for cell in cells))


def _table(*names: str, left: int = 1) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place < left else "right", overflow="fold")
    return table


def _summary(pairs: Sequence[Comparison]) -> Table:
    """One row per pair, and a second one weighted to the natural balance of labels."""
    names = ["audit pair", "scope", "Cohen's kappa", "raw agreement"]
    if pairs[0].scale == COVERED_SCALE:
        names += ["positive", "negative"]
    table = _table(*names, left=2)
    for pair in pairs:
        agreed = "agreed " if "consensus" in pair.kind else ""
        scope = f"{pair.cells:,} {agreed}cells"
        _add(table, pair.title, scope, *_coefficients(pair.as_drawn, pair.scale))
        if pair.natural is not None:
            represented = f"represent {round(total(pair.natural.table)):,}"
            _add(table, "  natural balance", represented, *_coefficients(pair.natural, pair.scale))
    return table


def _coefficients(measured: PairCoefficients, scale: Scale) -> list[str]:
    specific = measured.specific
    own = [_value(specific[place]) for place in (1, 0)] if scale == COVERED_SCALE else []
    return [_estimate(measured.kappa), _estimate(measured.raw), *own]


def _show_parts(screen: Console, audit: AgreementAudit) -> None:
    if not audit.parts:
        return
    screen.print()
    _print(screen, "Parts of statements: kept or lost")
    table = _table(
        "audit pair",
        "parts",
        "Cohen's kappa",
        "agreement",
        "statements",
        "same parts",
        "mean difference of share",
    )
    for pair in audit.parts:
        _add(
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
    table = _table("labels by", "full", "partial", "none", "cannot tell", "missing")
    for rater in audit.raters:
        counts = audit.labels[rater.name]
        keys = ("full", "partial", "none", "cannot_tell", "missing")
        _add(table, rater.title, *(f"{counts[key]:,}" for key in keys))
    screen.print(table)


def _show_alpha(screen: Console, audit: AgreementAudit, scales: Sequence[Scale]) -> None:
    if not audit.alphas:
        return
    annotators = sum(rater.role == "annotator" for rater in audit.raters)
    table = _table(f"Krippendorff's alpha, {annotators} annotators", "alpha")
    for alpha in audit.alphas:
        if alpha.scale in scales:
            balance = "" if alpha.balance == AS_DRAWN else ", natural balance"
            level = "" if alpha.level == "nominal" else f", {alpha.level}"
            _add(table, f"{alpha.scale.name}{level}{balance}", _estimate(alpha.estimate))
    screen.print(table)


def _show_pair(screen: Console, pair: Comparison) -> None:
    reasons = [
        f"{number:,} {name.replace('_', ' ')}" for name, number in pair.left_out.items() if number
    ]
    left_out = f"; left out: {', '.join(reasons)}" if reasons else ""
    cells = counted(pair.cells, "cell")
    _print(screen, f"{pair.title}, {pair.scale.name}: {cells} compared{left_out}")
    if not pair.cells:
        return
    measured = pair.as_drawn
    table = _table("rows: first, columns: second", *pair.scale.categories, "own agreement")
    for name, row, own in zip(
        pair.scale.categories, measured.table, measured.specific, strict=True
    ):
        _add(table, name, *(f"{entry.numerator:,}" for entry in row), _estimate(own))
    screen.print(table)
    if measured.kappa.over_packages is not None:
        over_cells = Estimate(measured.kappa.value, measured.kappa.over_cells)
        _print(screen, f"kappa with draws of single cells: {_estimate(over_cells)}")
    _show_groups(screen, pair.groups)


def _show_groups(screen: Console, groups: Sequence[Group]) -> None:
    """Print groupings with at least two groups, and the strata with most disagreements."""
    table = _table("cells by", "", "cells", "kappa", "agreement", "disagree", "of all", left=2)
    by_grouping: dict[str, list[Group]] = {}
    for group in groups:
        by_grouping.setdefault(group.by, []).append(group)
    cut = 0
    for by, members in by_grouping.items():
        if len(members) < 2:
            continue
        if by == STRATUM:
            members = sorted(members, key=lambda group: -group.disagreements)
            cut += len(members[MOST_STRATA:])
            members = members[:MOST_STRATA]
        for place, group in enumerate(members):
            kappa = "-" if group.kappa is None else _estimate(group.kappa)
            _add(
                table,
                "" if place else by,
                group.name,
                f"{group.cells:,}",
                kappa,
                _value(group.raw),
                f"{group.disagreements:,}",
                percent(group.share),
            )
        table.add_section()
    if table.row_count:
        screen.print(table)
    if cut:
        _print(screen, f"--json shows {counted(cut, 'more stratum', 'more strata')}")


def _show_disputed(screen: Console, disputed: Sequence[DisputedCell]) -> None:
    if not disputed:
        _print(screen, "no cell is disputed")
        return
    shown = min(len(disputed), MOST_CELLS)
    _print(screen, f"most disputed, {shown:,} of {len(disputed):,} cells:")
    for dispute in disputed[:MOST_CELLS]:
        labels = ", ".join(f"{name} {label}" for name, label in dispute.labels.items())
        cell = dispute.cell
        at = f" ({cell.package}: {cell.candidate} x {cell.unit})" if cell.candidate else ""
        _print(screen, f"{cell.id}{at}: {labels}")
        for name, text in (("candidate", cell.candidate_text), ("unit", cell.unit_text)):
            if text:
                _print(screen, f"  {name}: {_short(text)}")


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
