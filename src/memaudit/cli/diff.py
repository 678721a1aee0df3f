"""`memaudit diff`: two stores, or one at two dates."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from memaudit.cli.options import (
    JudgeName,
    StoreArgument,
    label_memories,
    model_session,
    read_stores,
)
from memaudit.cli.terminal import safe
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.number_text import short_exact
from memaudit.workspace.overwrite import may_write

MOST_SHOWN = 20


def diff(
    before: StoreArgument,
    after: StoreArgument,
    package: Annotated[
        Path | None,
        typer.Argument(
            metavar="PACKAGE", help="A package or a conversation, for units gained and lost."
        ),
    ] = None,
    judge: JudgeName = DEFAULT_JUDGE,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write an HTML page.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two stores: memories added, changed and removed, units gained and lost, cost."""
    from memaudit.judges.registry import named_judge
    from memaudit.kernel.exact import exact
    from memaudit.linting.lint import lint_target
    from memaudit.linting.pages import write_diff_page
    from memaudit.linting.store_diff import diff_data, store_diff

    if out is not None:
        may_write(out, "page")
    (old,) = read_stores([before])
    (new,) = read_stores([after])
    subject = lint_target(package, new) if package is not None else None
    # Without units nothing is judged, so no model is asked.
    with model_session([judge] if subject else []) as session:
        by = named_judge(judge, label_memories([judge]), session) if subject is not None else None
        data = diff_data(store_diff(old, new, subject, by))
    if out is not None:
        write_diff_page(data, out)
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    costs = " to ".join(short_exact(exact(cost)) for cost in data["costs"])
    typer.echo(
        safe(
            f"{old.name} to {new.name}: {data['memories'][0]:,} to {data['memories'][1]:,} "
            f"memories, cost {costs} {data['cost_rule']}"
        )
    )
    typer.echo(
        f"{len(data['added']):,} added, {len(data['changed']):,} changed, "
        f"{len(data['removed']):,} removed, {data['unchanged']:,} unchanged"
    )
    _show("-", data["removed"])
    _show("+", data["added"])
    for row in data["changed"][:MOST_SHOWN]:
        typer.echo(safe(f"~ {row['before']['id']} ({row['how']})"))
        typer.echo(safe(f"  - {row['before']['text']}"))
        typer.echo(safe(f"  + {row['after']['text']}"))
    _more(data["changed"])
    if data["values"] is not None:
        values = " to ".join(short_exact(exact(value)) for value in data["values"])
        gained, lost = data["units_gained"], data["units_lost"]
        typer.echo(
            safe(
                f"value {values}: {len(gained):,} units gained, {len(lost):,} lost, by "
                f"judge {data['judge']}"
            )
        )
        for sign, rows in (("-", lost), ("+", gained)):
            _show(f"{sign} unit", rows)
    elif subject is not None:
        typer.echo(safe(f"{subject.name} has no units, so nothing is said about units"))
    if out is not None:
        typer.echo(safe(f"page: {out}"))


def _show(sign: str, rows: Iterable[dict[str, Any]]) -> None:
    rows = list(rows)
    for row in rows[:MOST_SHOWN]:
        typer.echo(safe(f"{sign} {row['id']}: {row['text']}"))
    _more(rows)


def _more(rows: list[Any]) -> None:
    if len(rows) > MOST_SHOWN:
        typer.echo(f"  ... and {len(rows) - MOST_SHOWN:,} more")
