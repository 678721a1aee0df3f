"""Scores under the limits of a memory system, and the table of all limits."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer
from rich import box
from rich.table import Table

from memaudit.cli.score_tables import print_package
from memaudit.cli.terminal import console, safe
from memaudit.kernel.score.result import ScoreResult
from memaudit.kernel.score.score_json import package_scores_data
from memaudit.stores.system_budgets import LIBRECHAT, LIMITS, TOKENS, Limit, UnderLimits


def print_limits_table(as_json: bool) -> None:
    """The limits of memory systems, with the source and date of each."""
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


def print_limits(
    under: Sequence[UnderLimits],
    results: Sequence[ScoreResult],
    everything: bool,
    cells: bool,
    as_json: bool,
) -> None:
    """Every limit of a system by itself, then what all of them together allow."""
    limits = under[0].limits
    if as_json:
        rows = [
            {**_limit_data(limit), "scores": package_scores_data(result, cells)}
            for limit, result in zip(limits, results, strict=True)
        ]
        stores = [
            {"store": store.store, "score": None if store.score is None else float(store.score)}
            for store in under
        ]
        typer.echo(json.dumps({"limits": rows, "under_all": stores}, indent=1))
        return
    for limit, result in zip(limits, results, strict=True):
        typer.echo(safe(f"{limit.text} ({limit.source}, {limit.looked_up})"))
        print_package(result, everything, cells, [], as_json=False)
    for store in under:
        typer.echo(safe(_under_all(store)))


def _limit_data(limit: Limit) -> dict[str, Any]:
    return {
        "system": limit.system,
        "limit": limit.most,
        "unit": limit.unit,
        "rule": limit.rule,
        "source": limit.source,
        "looked_up": limit.looked_up,
    }


def _under_all(store: UnderLimits) -> str:
    """What a store keeps under all limits, in a sentence."""
    tight = store.limits[store.tightest]
    certified = store.rows[store.tightest].optimum.certified
    proven = "certified" if certified else "not certified"
    kept = "has no score" if store.score is None else f"keeps {float(store.score):.3f}"
    each = len(store.limits) > 1
    at_least = "at least, since each limit was solved by itself; " if each else ""
    return (
        f"{store.store} {kept} of what {tight.most:,} {tight.unit} of {tight.system} could hold "
        f"({at_least}OPT {proven} for these units)"
    )
