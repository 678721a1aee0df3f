"""`memaudit limits`: limits of memory systems that `score --budget` takes."""

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from memaudit.cli.terminal import console


def limits(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the limits of memory systems, with the source and date of each.

    Use one as a budget: memaudit score PACKAGE MEMORY.md --budget claude-code.
    """
    from memaudit.scoring.limits import LIBRECHAT, LIMITS, TOKENS

    if as_json:
        typer.echo(json.dumps([asdict(limit) for limit in LIMITS], indent=1))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("budget", "file", "limit", "cost rule", "source", "looked up"):
        table.add_column(heading, overflow="fold")
    for limit in LIMITS:
        amount = f"{limit.most:,} {limit.unit}"
        table.add_row(
            limit.system, limit.file or "any", amount, limit.rule, limit.source, limit.looked_up
        )
    table.add_row(
        f"{TOKENS}:TOKENS",
        "any",
        "TOKENS tokens",
        "tokens:tiktoken/o200k_base",
        LIBRECHAT,
        "2026-11",
    )
    console().print(table)
