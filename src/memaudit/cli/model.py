"""`memaudit model`: replies of models, tests of models, and what captures asked them."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import model_session
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, safe
from memaudit.workspace.overwrite import may_write

if TYPE_CHECKING:
    from memaudit.building.prompt_cases import CaseResult

model = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Test a model; export, import and show its replies; compare captures.",
)

MOST_PROBLEMS = 20
"""Problems that are printed; the others are counted."""


@model.command()
def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The JSONL file to write.")],
) -> None:
    """Write all replies as JSONL, to replay a run elsewhere.

    Failed attempts are included.
    """
    from memaudit.models.cache import Cache, export_cache

    may_write(file, "cache export")
    with Cache(in_force().model.cache, must_exist=True) as opened:
        counts = export_cache(opened, file)
    typer.echo(
        safe(f"wrote {counts['answers']:,} answers and {counts['attempts']:,} attempts to {file}")
    )


@model.command("import")
def import_replies(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file written by model export.")],
) -> None:
    """Import replies from JSONL, and check every key."""
    from memaudit.models.cache import Cache, import_cache

    with Cache(in_force().model.cache) as opened:
        result = import_cache(opened, file)
    for name in ("answers", "attempts", "known", "refused"):
        typer.echo(f"{result.counts[name]:>9,}  {name}")
    show_problems(result.problems)
    if result.problems:
        raise typer.Exit(FAILED)


@model.command()
def show() -> None:
    """Count the replies in a cache, by model and template."""
    from memaudit.models.cache import Cache, cache_contents

    with Cache(in_force().model.cache, must_exist=True) as opened:
        contents = cache_contents(opened)
    for line in contents.lines():
        typer.echo(safe(line))


def show_problems(problems: list[str]) -> None:
    for problem in problems[:MOST_PROBLEMS]:
        typer.echo(safe(problem), err=True)
    if len(problems) > MOST_PROBLEMS:
        typer.echo(f"... and {len(problems) - MOST_PROBLEMS:,} more", err=True)


@model.command("batch")
def import_batch_replies(
    responses: Annotated[
        Path, typer.Argument(metavar="RESPONSES", help="Output of the OpenAI Batch API, as JSONL.")
    ],
) -> None:
    """Import the replies of a batch queue, and store the valid ones.

    Invalid replies and requests that still wait are counted.
    """
    from memaudit.models.batch import BatchRowKind, import_batch
    from memaudit.models.cache import Cache
    from memaudit.models.spending import price_of

    keys = in_force().model
    price = price_of(keys.price_in, keys.price_out)
    with Cache(keys.cache, must_exist=True) as opened:
        result = import_batch(opened, responses, price)
    for kind in BatchRowKind:
        if result.counts[kind] or kind is BatchRowKind.ANSWERED:
            typer.echo(f"{result.counts[kind]:>9,}  {kind.value}")
    typer.echo(safe(f"used {result.usage.text()}"))
    typer.echo(
        f"{result.waiting:,} still waiting: {len(result.unanswered):,} without a line in the file, "
        f"{len(result.failed):,} without a valid answer"
        if result.waiting
        else "nothing is waiting; run the command that made the requests again"
    )
    show_problems(result.problems)


@model.command()
def check(
    name: Annotated[str, typer.Option("--model", metavar="NAME", help="The model to ask.")],
    stage: Annotated[
        str | None,
        typer.Option(
            "--pass",
            metavar="NAME",
            help="Only the cases of one pass: units, requirements, adjudication or coverage.",
        ),
    ] = None,
    min_right: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Exit with 1 if fewer than N cases are right."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a model about cases with known answers, and show where it fails.

    Every case tests one point of the prompts.
    """
    from memaudit.building.prompt_cases import check_prompts, chosen_cases

    cases = chosen_cases(stage)
    with model_session(True, Path("prompts-check")) as session:
        assert session is not None  # asked for
        results = check_prompts(cases, session, name)
    right = sum(result.is_right for result in results)
    if as_json:
        rows = [result.to_json() for result in results]
        data = {"model": name, "cases": len(rows), "right": right}
        typer.echo(json.dumps({**data, "results": rows}, indent=1))
    else:
        _print_cases(results, right)
    if min_right is not None and right < min_right:
        typer.echo(f"{right} of {len(results)} cases are right, fewer than {min_right}", err=True)
        raise typer.Exit(FAILED)


def _print_cases(results: Sequence["CaseResult"], right: int) -> None:
    """A table by point, then every failure."""
    from rich import box
    from rich.table import Table

    from memaudit.building.prompt_cases import POINTS, expected_text

    cases = Counter(result.case.point for result in results)
    rights = Counter(result.case.point for result in results if result.is_right)
    table = Table("point", "what it is about", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("right", justify="right")
    table.add_column("of", justify="right")
    for point, about in POINTS.items():
        if cases[point]:
            table.add_row(point, about, str(rights[point]), str(cases[point]))
    table.add_row("all", "", str(right), str(len(results)))
    console().print(table)
    for result in results:
        if not result.is_right:
            case = result.case
            typer.echo(safe(f"{case.id}: {case.gist}"))
            typer.echo(safe(f"  expected {expected_text(case)}. {case.why}"))
            typer.echo(safe(f"  given    {result.answer}"))
