"""`memaudit reliability`: how packages were built and how reliable their labels are."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.options import NO_SESSION, SessionOptions, judging_session, spread
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.number_text import percent, ratio

if TYPE_CHECKING:
    from memaudit.natural.passes.second_look import CauseReply, ExampleCheck
    from memaudit.natural.reliability import Reliability


@spread
def reliability(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Packages, or folders written by memaudit build."),
    ],
    again: Annotated[
        str | None,
        typer.Option(
            metavar="model:NAME",
            help="Have another model adjudicate some examples again, and list what it disputes.",
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(metavar="N", min=1, help="again: the number of examples.")
    ] = 30,
    seed: Annotated[int, typer.Option(metavar="N", help="again: seed of the choice.")] = 0,
    causes: Annotated[
        str | None,
        typer.Option(
            metavar="model:NAME",
            help="Have a model sort ambiguous and rejected questions by their cause.",
        ),
    ] = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the construction-reliability table of packages.

    It counts what is exact, what was judged and what is in doubt.
    """
    from memaudit.natural.build_folder import packages_at
    from memaudit.natural.passes.second_look import check_examples, find_causes
    from memaudit.natural.reliability import reliability_of

    models = {name: _model(name, given) for name, given in (("again", again), ("causes", causes))}
    counts = [reliability_of(path) for path in paths]
    second: list[SecondLook] = [SecondLook(None, None) for _ in paths]
    if any(models.values()):
        with judging_session(True, options, paths[0]) as session:
            assert session is not None  # asked for
            for place, path in enumerate(paths):
                packages = packages_at(path)
                second[place] = SecondLook(
                    check_examples(packages, session, models["again"], examples, seed)
                    if models["again"]
                    else None,
                    find_causes(packages, session, models["causes"]) if models["causes"] else None,
                )
    if as_json:
        rows = [{**_data(row), **look.data()} for row, look in zip(counts, second, strict=True)]
        typer.echo(json.dumps(rows, indent=2))
        return
    for place, (reliability, look) in enumerate(zip(counts, second, strict=True)):
        if place:
            typer.echo("")
        for line in (*_lines(reliability), *look.lines()):
            typer.echo(safe(line))


def _model(option: str, given: str | None) -> str:
    """The name of a model; empty if none is given."""
    if given is None:
        return ""
    if not given.startswith("model:") or given == "model:":
        raise MemAuditError(f"--{option} {given}: give a model as model:NAME")
    return given.removeprefix("model:")


@dataclass(frozen=True, slots=True)
class SecondLook:
    """What another model says of the packages of one path."""

    check: "ExampleCheck | None"
    causes: "dict[tuple[str, str], CauseReply | None] | None"

    def _counted(self) -> dict[str, int]:
        from memaudit.natural.passes.second_look import CAUSES

        found = Counter(
            "no valid reply" if reply is None else CAUSES[reply.cause]
            for reply in (self.causes or {}).values()
        )
        return {text: found[text] for text in (*CAUSES.values(), "no valid reply") if found[text]}

    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if self.check is not None:
            data["examples_again"] = {
                "model": self.check.model,
                "examples": len(self.check.packages),
                "statuses": self.check.statuses,
                "questions": len(self.check.verdicts),
                "disagreements": [asdict(row) for row in self.check.disagreements],
            }
        if self.causes is not None:
            data["causes"] = self._counted()
        return data

    def lines(self) -> Iterator[str]:
        if self.check is not None:
            check = self.check
            yield _row(len(check.packages), f"examples adjudicated again by {check.model}")
            yield from (_row(number, status, 1) for status, number in check.statuses.items())
            yield _row(len(check.verdicts), "questions of theirs")
            agreed = len(check.verdicts) - len(check.disagreements)
            yield _row(agreed, "accepted as they are", 1)
            for row in check.disagreements:
                yield f"           {row.package}, {row.question}: {row.verdict}: {row.text}"
                yield f"             {row.reason}"
        if self.causes is not None:
            yield _row(len(self.causes), "ambiguous and rejected questions, by cause")
            yield from (_row(number, text, 1) for text, number in self._counted().items())


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
    from memaudit.natural.reliability import VERDICTS

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
