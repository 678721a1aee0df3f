"""`memaudit study transfer`: compare package-style stores with raw turns."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from memaudit.cli.build import note_cost_rule
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.kernel.number_text import fixed
from memaudit.lab.commands.reading import (
    AsJson,
    Depth,
    GraderName,
    ReaderName,
    Reading,
    RetrieverName,
    ShowQuestions,
    differences_table,
    grading_lines,
    means_line,
    measures_table,
    outcomes_table,
    print_questions,
    remarks_table,
    report_progress,
    sum_line,
)
from memaudit.lab.commands.tables import plain_table

COMPARED = (
    "words_retrieved",
    "evidence_recall",
    "evidence_coverage",
    "answer_in_evidence",
    "token_f1",
    "answered",
)
BY_KIND = ("words_retrieved", "evidence_recall", "token_f1", "answered")
LAYERS = ("write", "retrieval", "reader", "unsupported", "uncertain")


def show_transfer(summary: dict[str, Any]) -> None:
    screen = console()
    spec, stores = summary["spec"], summary["summaries"]
    screen.print(
        safe_markup(
            f"{summary['questions']} questions of {summary['packages']} records of "
            f"{spec['source']['file']}, budget {spec['budget']}, {spec['retriever']} with k = "
            f"{spec['k']}, reader {spec['reader']}"
        )
    )
    screen.print(safe_markup(spec["note"]))
    screen.print(safe_markup(spec["evidence"]))
    for name, about in spec["about_stores"].items():
        peeks = " (LOOKS AT THE LABELS)" if name in spec["peeking_writers"] else ""
        screen.print(safe_markup(f"{name}: {about}{peeks}"))
    screen.print(measures_table(stores))
    screen.print(means_line(summary))
    screen.print(outcomes_table(stores))
    for store in stores:
        screen.print(safe_markup(sum_line(store)))
    for line in grading_lines(summary):
        screen.print(safe_markup(line))
    screen.print(kinds_table(stores))
    rows = [
        row
        for row in summary["differences"]
        if row["measure"] in COMPARED
        and row["first"] == stores[0]["store"]
        and row["mean_difference"] is not None
    ]
    screen.print(differences_table(rows))
    screen.print(
        "Holm's correction is over all pairs of stores of a measure; the other pairs are in "
        "summary.json"
    )
    screen.print(remarks_table(stores))


def kinds_table(stores: list[dict[str, Any]]) -> Table:
    """Means of the main measures and questions lost by layer, per kind of question."""
    table = plain_table("kind of question", "n", "words", "recall", "F1", "answered")
    for kind, first in stores[0]["kinds"].items():
        table.add_row(safe_markup(kind or "-"), str(first["questions"]))
        for store in stores:
            losses = store["kinds"][kind]
            table.add_row(
                safe_markup(f"  {store['store']}"),
                "",
                *(
                    fixed(losses["measures"][name]["mean"], 0 if name == "words_retrieved" else 3)
                    for name in BY_KIND
                ),
                *(str(Fraction(losses["losses"][layer]) * losses["questions"]) for layer in LAYERS),
            )
        table.add_section()
    return table


DEFAULT_WRITER = "estimated_gvt"


def transfer(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A LongMemEval file: support slices or full haystacks."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for rows and summary.")],
    budget: Annotated[
        str,
        typer.Option(
            metavar="B", help="A cost, or a share of the record's turns if between 0 and 1."
        ),
    ],
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"A package-style writer; may be repeated.  [default: {DEFAULT_WRITER}]",
        ),
    ] = None,
    retriever: RetrieverName = "bm25",
    k: Depth = 5,
    reader: ReaderName = "extractive",
    grader: GraderName = "words",
    subset: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Use only the questions of this subset.")
    ] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Use only this record; may be repeated.")
    ] = None,
    show: ShowQuestions = None,
    as_json: AsJson = False,
) -> None:
    """Test whether package-style writing helps retrieval and reading.

    Compares four stores of every record with the same retriever and reader: package style, all raw
    turns, a random sample of raw turns within the budget, and the newest turns within the budget.
    No optimum is computed here, so no ratios are reported. To resume an interrupted run, repeat the
    command.
    """
    from memaudit.cli.terminal import progress
    from memaudit.lab.downstream.transfer import TransferStores, open_records
    from memaudit.lab.downstream.transfer import transfer as run_transfer
    from memaudit.lab.sweeps.writers.registry import named_writer

    stores = TransferStores([named_writer(name) for name in writer or [DEFAULT_WRITER]], budget, 0)
    with Reading(retriever, k, reader, grader).setup() as (setup, _):
        records = open_records(path, subset, tuple(conversation or ()))
        note_cost_rule(None, records.plan.recipe.cost_rule)
        rows = sum(map(len, records.asked.values())) * len(stores.names)
        with progress("questions", rows) as done:
            finished = run_transfer(records, stores, setup, out, done)
    report_progress(finished, records.left_out)
    if as_json:
        typer.echo(json.dumps(finished.summary, indent=1))
    elif not print_questions(out, show):
        show_transfer(finished.summary)
        typer.echo(f"rows and summary are in {safe(out)}")
