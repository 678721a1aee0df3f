"""`memaudit study transfer`: compare package-style stores with raw turns."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.build import note_cost_rule
from memaudit.cli.terminal import safe
from memaudit.lab.commands.reading import (
    AsJson,
    Depth,
    ReaderName,
    Reading,
    RetrieverName,
    ShowQuestions,
    print_questions,
    report_progress,
    show_summary,
)

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
    with Reading(retriever, k, reader).setup() as (setup, _):
        records = open_records(path, subset, tuple(conversation or ()))
        note_cost_rule(None, records.plan.recipe.cost_rule)
        rows = sum(map(len, records.asked.values())) * len(stores.names)
        with progress("questions", rows) as done:
            finished = run_transfer(records, stores, setup, out, done)
    report_progress(finished, records.left_out)
    if as_json:
        typer.echo(json.dumps(finished.summary, indent=1))
    elif not print_questions(out, show):
        show_summary(finished)
        typer.echo(f"rows and summary are in {safe(out)}")
