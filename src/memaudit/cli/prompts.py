"""`memaudit model check`: how well a model follows the prompts."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.errors import FAILED
from memaudit.cli.options import model_session
from memaudit.cli.terminal import console, safe

if TYPE_CHECKING:
    from memaudit.natural.prompt_cases import CaseResult


def check(
    model: Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")],
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
    from memaudit.natural.prompt_cases import check_prompts, chosen_cases

    cases = chosen_cases(stage)
    with model_session(True, Path("prompts-check")) as session:
        assert session is not None  # asked for
        results = check_prompts(cases, session, model)
    right = sum(result.is_right for result in results)
    if as_json:
        rows = [result.to_json() for result in results]
        data = {"model": model, "cases": len(rows), "right": right}
        typer.echo(json.dumps({**data, "results": rows}, indent=1))
    else:
        _print(results, right)
    if min_right is not None and right < min_right:
        typer.echo(f"{right} of {len(results)} cases are right, fewer than {min_right}", err=True)
        raise typer.Exit(FAILED)


def _print(results: Sequence["CaseResult"], right: int) -> None:
    """A table by point, then every failure."""
    from rich import box
    from rich.table import Table

    from memaudit.natural.prompt_cases import POINTS, expected_text

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
