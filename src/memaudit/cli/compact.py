"""`memaudit compact`: rewrite a store so that it fits a budget."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.options import NO_SESSION, SessionOptions, judging_session, one_budget, spread
from memaudit.cli.terminal import safe
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted
from memaudit.io.overwrite import may_write


@spread
def compact(
    store: Annotated[
        str,
        typer.Argument(
            metavar="STORE",
            help="A store written by memaudit import, or an export: [NAME=]PATH[+PATH][@VIEW]",
        ),
    ],
    budget: Annotated[str, typer.Option(metavar="B", help="The cost that the result may have.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The store to write.")],
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model that merges and rewrites. Default: none; extracts are joined.",
        ),
    ] = None,
    cost_rule: Annotated[
        str, typer.Option(metavar="RULE", help="Cost rule: words, bytes or tokens:NAME.")
    ] = "words",
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its name. Default: NAME, compacted.")
    ] = None,
    options: SessionOptions = NO_SESSION,
) -> None:
    """Merge and rewrite the memories of a store to fit a budget.

    No label, unit or question is seen. The result is a store: score it beside the original, and the
    same judge says what compaction kept, lost or made up.
    """
    from memaudit.adapters.registry import open_store, parse_argument
    from memaudit.adapters.store import write_store
    from memaudit.scoring.compaction import compacted_store

    amount = one_budget(budget)
    if amount <= 0:
        raise MemAuditError(f"--budget {budget} leaves room for nothing")
    may_write(out, "store")
    opened = open_store(parse_argument(store))
    if not opened.active:
        raise MemAuditError(f"{opened.name!r} has no active memory to compact")
    with judging_session(model is not None, options, out) as session:
        made = compacted_store(
            opened, amount, cost_rule, name or f"{opened.name}, compacted", model, session
        )
    write_store(made, out)
    before, after = counted(len(opened.active), "memory"), counted(len(made.active), "memory")
    typer.echo(safe(f"{before} became {after}, written to {out}"))
