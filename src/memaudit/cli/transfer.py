"""`memaudit transfer`: package-style writing against raw stores on annotated conversations."""

import json
from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.judging import NO_DESK, DeskOptions
from memaudit.cli.option_groups import spread
from memaudit.cli.reading_options import (
    AsJson,
    Depth,
    Failures,
    PromptName,
    ReaderName,
    Reading,
    RetrieverName,
    ShowQuery,
    print_questions,
    tell,
)
from memaudit.cli.text import safe

DEFAULT_WRITER = "estimated_gvt"


@spread
def transfer(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="LongMemEval: support slices or full haystacks."),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where rows and summary go.")],
    budget: Annotated[
        str,
        typer.Option(
            metavar="B", help="A cost, or between 0 and 1 a share of a record's own turns."
        ),
    ],
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Package style; may be given several times.  [default: {DEFAULT_WRITER}]",
        ),
    ] = None,
    retriever: RetrieverName = "bm25",
    k: Depth = 5,
    reader: ReaderName = "extractive",
    prompt: PromptName = None,
    format: Annotated[
        str | None, typer.Option(help="longmemeval, locomo, memdaily or chat; else guessed.")
    ] = None,
    subset: Annotated[
        Path | None, typer.Option(metavar="MANIFEST", help="Only the questions of a subset.")
    ] = None,
    conversation: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this record; may be repeated.")
    ] = None,
    cost_rule: Annotated[str, typer.Option(help="words, bytes or tokens:NAME.")] = "words",
    seed: Annotated[int, typer.Option(metavar="N", help="For stores that draw.")] = 0,
    options: DeskOptions = NO_DESK,
    show: ShowQuery = None,
    failures: Failures = False,
    as_json: AsJson = False,
) -> None:
    """Does writing like a package help retrieval and reading? Run again to resume.

    Four stores of every record under the same retriever and reader: package style, every raw turn,
    a random sample of raw turns within the budget, and the newest within it. A diagnostic: there
    is no optimum here, and no ratio to one.
    """
    from memaudit.cli.results import progress
    from memaudit.cli.transfer_tables import show_transfer
    from memaudit.downstream.transfer import Compared, open_records
    from memaudit.downstream.transfer import transfer as run_transfer
    from memaudit.writers.registry import named_writer

    compared = Compared([named_writer(name) for name in writer or [DEFAULT_WRITER]], budget, seed)
    with Reading(retriever, k, reader, prompt).setup(options, out) as (setup, _):
        records = open_records(path, format, subset, tuple(conversation or ()), cost_rule)
        rows = sum(map(len, records.asked.values())) * len(compared.stores)
        with progress("questions", rows) as done:
            finished = run_transfer(records, compared, setup, out, done)
    tell(finished, records.left_out)
    if as_json:
        typer.echo(json.dumps(finished.summary, indent=1))
    elif not print_questions(out, show, failures):
        show_transfer(finished.summary)
        typer.echo(f"rows and summary are in {safe(out)}")
