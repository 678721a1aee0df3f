"""`memaudit quick`: a first look at a transcript, a store, or both."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.workspace.overwrite import may_write


def quick(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH",
            help="A transcript (a chat log, a dataset), a store (any export), or both.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML page to write.")] = Path(
        "quick.html"
    ),
) -> None:
    """Say what was understood, score and lint it, and write one page.

    Nothing is asked of a model. Units of a transcript without questions are found by rules, so the
    score is a first estimate.
    """
    from memaudit import api
    from memaudit.cli.lint import show
    from memaudit.cli.score_tables import print_package
    from memaudit.kernel.score.score_json import package_scores_data
    from memaudit.linting.lint_file import lint_data
    from memaudit.linting.pages import write_quick_page
    from memaudit.linting.quick import first_look, verdict

    may_write(out, "page")
    look = first_look(paths)
    for line in look.lines:
        typer.echo(safe(line))
    scores, report, short = None, None, ""
    if look.store is not None:
        with progress("first look", 2) as advance:
            if look.package is not None and look.package.units:
                scores = api.score(look.package, look.store)
            advance(1)
            report = api.lint(look.store, look.package)
        short = verdict(look, scores, report)
        typer.echo(safe(f"in short: {short}"))
        if scores is not None:
            print_package(scores, everything=False, cells=False, ids=(), as_json=False)
        show(report)
    write_quick_page(
        look,
        short,
        None if scores is None else package_scores_data(scores),
        None if report is None else lint_data(report),
        out,
    )
    screen = console()
    for step in look.next_steps:
        screen.print(safe_markup(f"next: {step}"))
    typer.echo(safe(f"page: {out}"))
