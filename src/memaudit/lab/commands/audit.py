"""`memaudit audit`: checks of packages, labels, judges and solvers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import chosen_engine
from memaudit.cli.terminal import console, print_columns, safe
from memaudit.kernel.number_text import percent, ratio, rounded
from memaudit.lab.commands.audit_agreement import agreement
from memaudit.lab.commands.audit_model import model_pass
from memaudit.lab.commands.audit_optimum import optimum
from memaudit.lab.commands.audit_ratios import ratios
from memaudit.show.columns import Column, column, plain_data, records
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.building.reliability import Reliability
    from memaudit.lab.sweeps.runs.solver_audit import SolverTally


def report(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Output of audit agreement --json, of audit ratios --json, or both.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "label-audit.html"
    ),
) -> None:
    """Write a label audit as one HTML page.

    The page shows the audit table, the ratios under other labels and the disputed cells.
    """
    from memaudit.lab.labels.label_audit_page import read_audit, write_page

    may_write(out, "page")
    write_page(read_audit(files), out)
    typer.echo(f"report: {safe(out)}")


def solvers(
    rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of package and budget pairs to solve.")
    ] = 1200,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check that all solvers find exactly the same values."""
    from memaudit.cli.terminal import progress_bar
    from memaudit.lab.sweeps.runs.solver_audit import audit_solvers

    tallies: Mapping[str, SolverTally] = {}
    with progress_bar() as shown:
        task = shown.add_task("rows", total=rows)
        for tallies in audit_solvers(rows, chosen_engine(few=0)):
            first = next(iter(tallies.values()))
            shown.update(task, completed=first.rows + first.refused)
    if as_json:
        data = records(SOLVER_COLUMNS, list(tallies.values()))
        typer.echo(json.dumps({"rows": rows, "solvers": data}))
    else:
        print_columns(console(), SOLVER_COLUMNS, list(tallies.values()))
        for tally in tallies.values():
            for row in tally.differing[:5]:
                typer.echo(
                    f"{tally.solver} on {safe(row.package)} at budget {row.budget}: {row.value}, "
                    f"not {row.expected}"
                )
    if any(tally.differing for tally in tallies.values()):
        raise typer.Exit(FAILED)


SOLVER_COLUMNS: "list[Column[SolverTally]]" = [
    column("solver", lambda tally: tally.solver, words=True),
    column("rows", lambda tally: tally.rows, show="{:,}".format),
    Column(
        key="matches",
        value=lambda tally: tally.matches,
        short="matches",
        in_terminal=lambda tally: f"{tally.matches:,}/{tally.rows:,}",
    ),
    column("max difference", lambda tally: tally.largest),
    column("certified", lambda tally: tally.certified, show="{:,}".format),
    column("refused", lambda tally: tally.refused, short="too large", show="{:,}".format),
    Column(key="differing", value=lambda tally: tally.differing),
]


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
        data = [
            {
                **plain_data(row),
                "coverage_rows": row.rows,
                "exact_share": rounded(row.exact_share),
                "agreement": [
                    {**plain_data(pair), "raw": rounded(pair.raw), "kappa": rounded(pair.kappa)}
                    for pair in row.agreement
                ],
            }
            for row in counts
        ]
        typer.echo(json.dumps(data, indent=2))
        return
    for place, row in enumerate(counts):
        if place:
            typer.echo("")
        for line in _reliability_lines(row):
            typer.echo(safe(line))


def _reliability_lines(counts: "Reliability") -> list[str]:
    from memaudit.building.reliability import VERDICTS

    statuses: Mapping[str, int | str] = counts.verdicts or dict.fromkeys(VERDICTS, "n/a")
    lines = [
        counts.name,
        _count(counts.packages, "examples"),
        *(_count(number, status, 1) for status, number in statuses.items()),
        _count(counts.experiences, "experiences"),
        _count(counts.queries, "queries"),
        _count(counts.queries_without_units, "without units", 1),
        _count(counts.units, "units"),
        *(_count(number, kind, 1) for kind, number in counts.units_by_kind.items()),
        _count(counts.units_uncovered, "not covered by any candidate", 1),
        _count(sum(counts.candidates.values()), "candidates"),
        *(_count(number, kind, 1) for kind, number in counts.candidates.items()),
        _count(counts.rows, "coverage rows"),
    ]
    for provenance, labels in counts.coverage.items():
        split = ", ".join(f"{number:,} {label}" for label, number in labels.items())
        lines.append(_count(sum(labels.values()), f"{provenance} ({split})", 1))
    share = counts.exact_share
    lines.append(_count(percent(share, 1, missing="n/a"), "of coverage rows are exact", 1))
    lines.append(_count(counts.quotes.checked, "quotes and cited turns checked"))
    lines.append(_count(counts.quotes.found, "found verbatim", 1))
    if counts.quotes.unplaced:
        lines.append(_count(counts.quotes.unplaced, "more do not name an experience", 1))
    for pair in counts.agreement:
        lines.append(_count(pair.cells, f"cells judged by {pair.first} and {pair.second}"))
        raw = ratio(pair.raw, missing="n/a")
        kappa = ratio(pair.kappa, missing="n/a")
        lines += [_count(raw, "raw agreement", 1), _count(kappa, "Cohen's kappa", 1)]
    return lines


def _count(number: int | str, what: str, deeper: int = 0) -> str:
    shown = number if isinstance(number, str) else f"{number:,}"
    return f"{shown:>9}{'  ' * deeper}  {what}"


audit = typer.Typer(
    help="Audit packages, labels, judges and solvers.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@audit.callback()
def _group() -> None:
    """Audit packages, labels, judges and solvers."""


audit.command("agreement")(agreement)
audit.command("ratios")(ratios)
audit.command("model")(model_pass)
audit.command("optimum")(optimum)
audit.command("built")(built)
audit.command("report")(report)
audit.command("solvers")(solvers)
