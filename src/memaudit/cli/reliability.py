"""`memaudit reliability`: how packages were made, and how far their labels can be trusted."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.terminal import safe
from memaudit.core.number_text import percent, ratio

if TYPE_CHECKING:
    from memaudit.natural.reliability import Reliability


def reliability(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Packages, or folders that memaudit build wrote."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count what is exact, judged and in doubt in packages: the construction-reliability table."""
    from memaudit.natural.reliability import reliability_of

    found = [reliability_of(path) for path in paths]
    if as_json:
        typer.echo(json.dumps([_data(one) for one in found], indent=2))
        return
    for place, one in enumerate(found):
        if place:
            typer.echo("")
        for line in _lines(one):
            typer.echo(safe(line))


def _data(one: "Reliability") -> dict[str, Any]:
    share = one.exact_share
    return {
        "path": one.name,
        "packages": one.packages,
        "adjudication": None if one.verdicts is None else dict(one.verdicts),
        "experiences": one.experiences,
        "queries": one.queries,
        "queries_without_units": one.queries_without_units,
        "units": one.units,
        "units_by_kind": dict(one.units_by_kind),
        "units_nobody_covers": one.units_uncovered,
        "candidates_by_kind": dict(one.candidates),
        "coverage_rows": one.rows,
        "coverage": {name: dict(labels) for name, labels in one.coverage.items()},
        "exact_share": None if share is None else float(share),
        "quotes": {
            "checked": one.quotes.checked,
            "found": one.quotes.found,
            "unplaced": one.quotes.unplaced,
        },
        "agreement": [
            {
                "passes": [pair.one, pair.other],
                "cells": pair.cells,
                "agreed": pair.agreed,
                "raw": None if pair.raw is None else float(pair.raw),
                "kappa": None if pair.kappa is None else float(pair.kappa),
            }
            for pair in one.agreement
        ],
    }


def _lines(one: "Reliability") -> list[str]:
    verdicts = one.verdicts or {}
    lines = [one.name, _row(one.packages, "examples")]
    for name in ("accepted", "corrected", "ambiguous", "rejected"):
        lines.append(_row(verdicts.get(name, "n/a"), name, 1))
    lines += [
        _row(one.experiences, "experiences"),
        _row(one.queries, "queries"),
        _row(one.queries_without_units, "without units", 1),
        _row(one.units, "units"),
        *(_row(number, kind, 1) for kind, number in one.units_by_kind.items()),
        _row(one.units_uncovered, "covered by nobody", 1),
        _row(sum(one.candidates.values()), "candidates"),
        *(_row(number, kind, 1) for kind, number in one.candidates.items()),
        _row(one.rows, "coverage rows"),
    ]
    for provenance, labels in one.coverage.items():
        split = ", ".join(f"{number:,} {label}" for label, number in labels.items())
        lines.append(_row(sum(labels.values()), f"{provenance} ({split})", 1))
    share = one.exact_share
    lines.append(_row(percent(share, 1, missing="n/a"), "of them exact", 1))
    lines.append(_row(one.quotes.checked, "quotes and cited turns looked up"))
    lines.append(_row(one.quotes.found, "found word for word", 1))
    if one.quotes.unplaced:
        lines.append(_row(one.quotes.unplaced, "more name no experience", 1))
    for pair in one.agreement:
        lines.append(_row(pair.cells, f"cells judged by {pair.one} and {pair.other}"))
        raw = ratio(pair.raw, missing="n/a")
        kappa = ratio(pair.kappa, missing="n/a")
        lines += [_row(raw, "raw agreement", 1), _row(kappa, "Cohen's kappa", 1)]
    return lines


def _row(number: int | str, what: str, deeper: int = 0) -> str:
    shown = number if isinstance(number, str) else f"{number:,}"
    return f"{shown:>9}{'  ' * deeper}  {what}"
