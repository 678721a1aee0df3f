"""`memaudit judge`: two judges of the same store, side by side."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memaudit.cli.cache import DEFAULT_CACHE
from memaudit.cli.judging import (
    BaseUrl,
    CacheFile,
    MaxTokens,
    Provider,
    Yes,
    judging_desk,
)
from memaudit.cli.scoring_options import CostRule, LabelMemories, PackagePath, Seconds, StorePath
from memaudit.cli.text import safe, safe_markup
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.audits.judges.protocol import Judge
    from memaudit.natural.passes.desk import Desk


def judge(
    package: PackagePath,
    store: StorePath,
    judge: Annotated[
        str,
        typer.Option(metavar="NAME", help="lexical, pointer, labels:FILE, calls:FILE, model:NAME."),
    ],
    against: Annotated[str, typer.Option(metavar="NAME", help="The judge it is compared with.")],
    label_memories: LabelMemories = None,
    same_session: Annotated[
        bool, typer.Option("--same-session", help="Compare cells of a memory's own session only.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="B[,B...]", help="Compare ratios at these budgets too.")
    ] = None,
    cost_rule: CostRule = None,
    seconds: Seconds = None,
    base_url: BaseUrl = None,
    provider: Provider = "live",
    cache: CacheFile = DEFAULT_CACHE,
    max_tokens: MaxTokens = None,
    yes: Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a judge with another: cells, precision and recall, kappa, and their ratios."""
    from memaudit.adapters.store_files import read_store
    from memaudit.audits.judge_agreement import (
        agreement_row,
        all_pairs,
        judge_agreement,
        ratio_rows,
        same_session_pairs,
    )
    from memaudit.audits.judges.model import ModelJudge
    from memaudit.audits.sensitivity.measure import measured
    from memaudit.audits.written import written
    from memaudit.cli.solve import parse_budgets
    from memaudit.io.packages import read_package

    amounts = [] if budget is None else parse_budgets(budget)
    found, exported = read_package(package), read_store(store)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    if label_memories is not None and not any(
        name.startswith("labels:") for name in (judge, against)
    ):
        raise MemAuditError("a file of labelled memories goes with a judge labels:FILE only")
    asks = any(name.startswith("model:") for name in (judge, against))
    with judging_desk(asks, base_url, provider, cache, store, max_tokens, yes) as desk:
        pair = [_named(name, label_memories, desk) for name in (judge, against)]
        kept = [written(found, exported, one) for one in pair]
    for warning in exported.warnings:
        typer.echo(safe(f"{exported.name}: {warning}"), err=True)
    cells = [{one.id: one.coverage for one in side.memories} for side in kept]
    pairs = (same_session_pairs if same_session else all_pairs)(exported.active, found.units)
    undecided = {at for one in pair if isinstance(one, ModelJudge) for at in one.undecided}
    agreement = judge_agreement(cells[0], cells[1], pairs, undecided)
    ratios = [measured(found, [side], amounts, seconds=seconds) for side in kept]
    data = {
        "package": found.name,
        "store": exported.name,
        "judge": {"name": pair[0].name, "is_an_estimate": pair[0].is_estimate},
        "against": {"name": pair[1].name, "is_an_estimate": pair[1].is_estimate},
        "cells": "of the same session" if same_session else "all",
        "agreement": agreement_row(agreement),
        "ratios": ratio_rows(*ratios),
    }
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    _show(data)


def _named(name: str, memories: Path | None, desk: "Desk | None") -> "Judge":
    """A judge; the file of labelled memories goes to those that are labels."""
    from memaudit.audits.judges.registry import named_judge

    return named_judge(name, memories if name.startswith("labels:") else None, desk)


def _show(data: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console

    screen, found = console(), data["agreement"]
    for side in ("judge", "against"):
        mark = " (an ESTIMATE)" if data[side]["is_an_estimate"] else ""
        screen.print(f"{side}: {safe_markup(data[side]['name'])}{mark}")
    screen.print(
        f"{found['judged_cells']} cells, {data['cells']}; same value in {found['same_value']}, "
        f"kappa {_text(found['kappa'])}; undecided {found['undecided_cells']}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = ("both", "only_judge", "only_against", "precision", "recall", "f1")
    table.add_column("")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for row in ("any_coverage", "full_coverage"):
        table.add_row(row.replace("_", " "), *(_text(found[row][name]) for name in names))
    screen.print(table)
    if not data["ratios"]:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("budget", "kept: judge", "against", "upper: judge", "against", "not certified"):
        table.add_column(name, justify="right")
    for row in data["ratios"]:
        table.add_row(
            str(row["budget"]),
            *(_text(row[what][side]) for what in ("kept", "upper_pruned")
              for side in ("judge", "against")),
            str(row["uncertified_optima"]),
        )  # fmt: skip
    screen.print(table)


def _text(value: float | None) -> str:
    if value is None:
        return "undefined"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
