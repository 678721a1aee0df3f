"""`memaudit audit built`: how packages were built and how reliable their labels are."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.terminal import safe
from memaudit.kernel.number_text import percent, ratio

if TYPE_CHECKING:
    from memaudit.building.reliability import Reliability


def built(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Packages, or folders written by memaudit build."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the construction-reliability table of packages.

    It counts what is exact, what was judged and what is in doubt.
    """
    from memaudit.building.reliability import reliability_of

    counts = [reliability_of(path) for path in paths]
    if as_json:
        typer.echo(json.dumps([_data(row) for row in counts], indent=2))
        return
    for place, row in enumerate(counts):
        if place:
            typer.echo("")
        for line in _lines(row):
            typer.echo(safe(line))


def _data(counts: "Reliability") -> dict[str, Any]:
    share = counts.exact_share
    return {
        "path": counts.name,
        "packages": counts.packages,
        "adjudication": None if counts.verdicts is None else dict(counts.verdicts),
        "experiences": counts.experiences,
        "queries": counts.queries,
        "queries_without_units": counts.queries_without_units,
        "units": counts.units,
        "units_by_kind": dict(counts.units_by_kind),
        "units_nobody_covers": counts.units_uncovered,
        "candidates_by_kind": dict(counts.candidates),
        "coverage_rows": counts.rows,
        "coverage": {name: dict(labels) for name, labels in counts.coverage.items()},
        "exact_share": None if share is None else float(share),
        "quotes": {
            "checked": counts.quotes.checked,
            "found": counts.quotes.found,
            "unplaced": counts.quotes.unplaced,
        },
        "agreement": [
            {
                "passes": [pair.first, pair.second],
                "cells": pair.cells,
                "agreed": pair.agreed,
                "raw": None if pair.raw is None else float(pair.raw),
                "kappa": None if pair.kappa is None else float(pair.kappa),
            }
            for pair in counts.agreement
        ],
    }


def _lines(counts: "Reliability") -> list[str]:
    from memaudit.building.reliability import VERDICTS

    statuses: Mapping[str, int | str] = counts.verdicts or dict.fromkeys(VERDICTS, "n/a")
    lines = [
        counts.name,
        _row(counts.packages, "examples"),
        *(_row(number, status, 1) for status, number in statuses.items()),
        _row(counts.experiences, "experiences"),
        _row(counts.queries, "queries"),
        _row(counts.queries_without_units, "without units", 1),
        _row(counts.units, "units"),
        *(_row(number, kind, 1) for kind, number in counts.units_by_kind.items()),
        _row(counts.units_uncovered, "not covered by any candidate", 1),
        _row(sum(counts.candidates.values()), "candidates"),
        *(_row(number, kind, 1) for kind, number in counts.candidates.items()),
        _row(counts.rows, "coverage rows"),
    ]
    for provenance, labels in counts.coverage.items():
        split = ", ".join(f"{number:,} {label}" for label, number in labels.items())
        lines.append(_row(sum(labels.values()), f"{provenance} ({split})", 1))
    share = counts.exact_share
    lines.append(_row(percent(share, 1, missing="n/a"), "of coverage rows are exact", 1))
    lines.append(_row(counts.quotes.checked, "quotes and cited turns checked"))
    lines.append(_row(counts.quotes.found, "found verbatim", 1))
    if counts.quotes.unplaced:
        lines.append(_row(counts.quotes.unplaced, "more do not name an experience", 1))
    for pair in counts.agreement:
        lines.append(_row(pair.cells, f"cells judged by {pair.first} and {pair.second}"))
        raw = ratio(pair.raw, missing="n/a")
        kappa = ratio(pair.kappa, missing="n/a")
        lines += [_row(raw, "raw agreement", 1), _row(kappa, "Cohen's kappa", 1)]
    return lines


def _row(number: int | str, what: str, deeper: int = 0) -> str:
    shown = number if isinstance(number, str) else f"{number:,}"
    return f"{shown:>9}{'  ' * deeper}  {what}"
