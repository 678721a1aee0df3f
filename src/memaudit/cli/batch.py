"""`memaudit batch`: answers that come back from a provider's batch queue."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.cache import DEFAULT_CACHE, Database, show_problems
from memaudit.cli.text import safe

batch = typer.Typer(
    add_completion=False, no_args_is_help=True, rich_markup_mode=None,
    help="Answers of a provider's batch queue.",
)  # fmt: skip


@batch.callback()
def _group() -> None:
    """A group with one command so far; without this, typer would drop the command's name."""


@batch.command("import")
def take(
    responses: Annotated[
        Path, typer.Argument(metavar="RESPONSES", help="OpenAI Batch output, JSONL.")
    ],
    database: Database = DEFAULT_CACHE,
    price_in: Annotated[
        str | None, typer.Option(help="Dollars for a million prompt tokens.")
    ] = None,
    price_out: Annotated[
        str | None, typer.Option(help="Dollars for a million reply tokens.")
    ] = None,
) -> None:
    """Validate the answers, store the good ones, count the others, say what is still pending."""
    from memaudit.models.batch import Row, import_batch
    from memaudit.models.cache import Cache, spent_text
    from memaudit.models.spending import price_of

    price = price_of(price_in, price_out)
    with Cache(database, must_exist=True) as opened:
        result = import_batch(opened, responses, price)
    for kind in Row:
        if result.counts[kind] or kind is Row.ANSWERED:
            typer.echo(f"{result.counts[kind]:>9,}  {kind.value}")
    typer.echo(safe(f"used {spent_text(result.usage)}"))
    typer.echo(
        f"{result.pending:,} still pending: {len(result.unanswered):,} without a line in the file, "
        f"{len(result.failed):,} without a valid answer"
        if result.pending
        else "nothing is pending; run the build again"
    )
    show_problems(result.problems)
