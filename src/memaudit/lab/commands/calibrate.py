"""`memaudit study calibrate`: does the ratio predict recall and answers?"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.number_text import ratio, span
from memaudit.lab.commands.reading import AsJson, Depth, Reading, RetrieverName
from memaudit.lab.commands.tables import plain_table

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Package

SETS = {"event_graph": "event_graph:experiences=20:seeds=0-19", "short": "short"}
BUDGETS = "0.03,0.08,0.16"
"""Shares of the cost of all candidates of a package."""
WRITERS = (
    "gvt",
    "greedy",
    "no_tombstone_opt",
    "fact_only",
    "summary_only",
    "random_feasible",
    "recency_raw",
    "reservoir_raw",
    "estimated_gvt",
    "estimated_greedy",
    "memgpt_style",
    "mem0_style",
)


def calibrate(
    package: Annotated[
        str | None,
        typer.Argument(
            metavar="PACKAGE",
            help="A path, a shipped set (natural, short, long), or "
            "event_graph:experiences=30:seeds=0-9. Default: 20 event graphs and the short set.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder for points and summary.")
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="B[,B...]",
            help="Costs, or shares of the cost of all candidates of a package if between 0 and 1.",
        ),
    ] = BUDGETS,
    writer: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A writer; may be repeated. Default: 14 writers."),
    ] = None,
    retriever: RetrieverName = "bm25",
    k: Depth = 5,
    reader: Annotated[
        str, typer.Option(metavar="NAME", help="Reader: extractive or evidence-only.")
    ] = "extractive",
    as_json: AsJson = False,
) -> None:
    """Test whether ratios predict recall and answers.

    Writes stores of many writers at several budgets and correlates the ratio of each store with
    what is retrieved from it and answered.
    """
    from memaudit.lab.downstream.calibration import CalibrationPlan
    from memaudit.lab.downstream.calibration import calibrate as run_calibration
    from memaudit.lab.sweeps.runs.spec import named_packages
    from memaudit.lab.sweeps.writers.registry import named_writer

    # Hundreds of packages, budgets and writers: a model would be asked tens of thousands of
    # questions.
    if reader.startswith("model:"):
        raise MemAuditError(
            "a calibration reads thousands of stores; choose a reader that does not call a model"
        )
    sets: dict[str, list[Package]] = (
        {name: named_packages(text) for name, text in SETS.items()}
        if package is None
        else {package.split(":")[0]: named_packages(package)}
    )
    with Reading(retriever, k, reader).setup() as (setup, _):
        plan = CalibrationPlan(
            {name: tuple(packages) for name, packages in sets.items()},
            budget,
            [named_writer(name) for name in writer or WRITERS],
            setup,
            0,
        )
        with progress("stores", len(plan.keys)) as done:
            summary, _ = run_calibration(plan, out, done)
    if as_json:
        typer.echo(json.dumps(summary, indent=1))
        return
    show_calibration(summary)
    if out is not None:
        typer.echo(f"points and summary are in {safe(out)}")


def show_calibration(summary: dict[str, Any]) -> None:
    screen = console()
    spec = summary["spec"]
    sets = ", ".join(f"{count} of {name}" for name, count in summary["sets"].items())
    screen.print(
        safe_markup(
            f"{summary['points']} stores: packages {sets}; budgets {', '.join(spec['budgets'])}; "
            f"{len(spec['writers'])} writers; {spec['retriever']} with k = {spec['k']}, reader "
            f"{spec['reader']}"
        )
    )
    if summary["undefined"]:
        screen.print(f"{summary['undefined']} stores have no ratio and were skipped")
    screen.print(_correlations(summary["correlations"]))
    screen.print(
        "pooled: all stores. within: mean over packages and budgets of the correlation across "
        "writers; n counts where it is defined. of means: one point per writer. 95% intervals over "
        "packages"
    )
    for disagreement in summary["partings"]:
        _show_disagreement(disagreement, screen)


def _correlations(rows: list[dict[str, Any]]) -> Table:
    table = plain_table("set", "ratio against", "how", "n", "Spearman", "Kendall tau-b", left=3)
    before = None
    for row in rows:
        if before not in (None, row["set"]):
            table.add_section()
        before = row["set"]
        table.add_row(
            safe_markup(row["set"]),
            row["target"].replace("_", " "),
            row["how"],
            str(row["n"]),
            _number(row["spearman"]),
            _number(row["kendall"]),
        )
    return table


def _number(correlation: dict[str, float | None]) -> str:
    if correlation["value"] is None:
        return "undefined"
    return f"{ratio(correlation['value'])} ({span(correlation['ci_low'], correlation['ci_high'])})"


def _show_disagreement(counts: dict[str, Any], screen: Any) -> None:
    """How many pairs of writers disagree, why, and the largest disagreements."""
    from memaudit.lab.downstream.calibration_files import PARTING_REASONS

    target = counts["target"].replace("_", " ")
    disagree = sum(counts["apart"].values())
    total = counts["agree"] + counts["tied"] + disagree
    screen.print(
        f"{total} pairs of writers with different ratios on the same package and budget: the "
        f"higher ratio has the better {target} in {counts['agree']}, the same in "
        f"{counts['tied']}, the worse in {disagree}"
    )
    for step, count in counts["apart"].items():
        screen.print(f"  {count} differ by {PARTING_REASONS[step]}")
    if counts["largest"]:
        screen.print(_largest(counts["largest"], counts["target"]))


def _largest(rows: list[dict[str, Any]], target: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("package", "budget", "higher ratio", "better outcome"):
        table.add_column(name, overflow="fold")
    for name in ("ratios", target.replace("_", " ")):
        table.add_column(name, justify="right")
    table.add_column("differs by")
    for row in rows:
        first, second = row["first"], row["second"]
        table.add_row(
            safe_markup(row["package"]),
            row["budget"],
            safe_markup(first["writer"]),
            safe_markup(second["writer"]),
            f"{ratio(first['ratio'])}, {ratio(second['ratio'])}",
            f"{ratio(first[target])}, {ratio(second[target])}",
            row["why"].split(":")[0],
        )
    return table
