"""`memaudit judge`: two judges of the same store, side by side."""

import json
from typing import Annotated, Any

import typer

from memaudit.cli.judging import NO_SESSION, SessionOptions, judging_session
from memaudit.cli.options import (
    CostRule,
    GroupCap,
    JudgeName,
    LabelMemories,
    PackagePath,
    Seconds,
    StorePath,
    distinct_budgets,
    spread,
)
from memaudit.cli.terminal import safe, safe_markup
from memaudit.core.number_text import ratio


@spread
def judge(
    package: PackagePath,
    store: StorePath,
    judge: JudgeName,
    against: Annotated[str, typer.Option(metavar="NAME", help="The judge it is compared with.")],
    label_memories: LabelMemories = None,
    same_session: Annotated[
        bool, typer.Option("--same-session", help="Compare cells of a memory's own session only.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="B[,B...]", help="Compare ratios at these budgets too.")
    ] = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare a judge with another: cells, precision and recall, kappa, and their ratios."""
    from memaudit.adapters.store import read_store
    from memaudit.io.packages import read_package
    from memaudit.scoring.caveats import account_row
    from memaudit.scoring.judge_agreement import (
        agreement_row,
        all_pairs,
        judge_agreement,
        ratio_rows,
        same_session_pairs,
    )
    from memaudit.scoring.judged_store import of_package, written
    from memaudit.scoring.judges.registry import named_judges
    from memaudit.scoring.sensitivity import measured

    amounts = () if budget is None else distinct_budgets(budget)
    found, exported = read_package(package), read_store(store)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    with judging_session([judge, against], options, store) as session:
        pair = named_judges([judge, against], label_memories, session)
        kept = [written(found, exported, one) for one in pair]
    for warning in exported.warnings:
        typer.echo(safe(f"{exported.name}: {warning}"), err=True)
    cells = [{one.id: one.coverage for one in side.memories} for side in kept]
    memories = of_package(exported, found.name)
    pairs = (same_session_pairs if same_session else all_pairs)(memories, found.units)
    undecided = {at for side in kept for at in side.account.undecided}
    agreement = judge_agreement(cells[0], cells[1], pairs, undecided)
    ratios = [measured(found, [side], amounts, group_cap, seconds) for side in kept]
    sides = [
        {
            "name": one.name, "is_an_estimate": one.is_estimate,
            "store": account_row(exported, side.account), "notes": side.account.lines,
        }
        for one, side in zip(pair, kept, strict=True)
    ]  # fmt: skip
    data = {
        "package": found.name,
        "store": exported.name,
        "judge": sides[0],
        "against": sides[1],
        "cells": "of the same session" if same_session else "all",
        "agreement": agreement_row(agreement),
        "ratios": ratio_rows(*ratios),
    }
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    _show(data)


def _show(data: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console
    from memaudit.core.text import counted

    screen, found = console(), data["agreement"]
    for side in ("judge", "against"):
        mark = " (an ESTIMATE)" if data[side]["is_an_estimate"] else ""
        screen.print(f"{side}: {safe_markup(data[side]['name'])}{mark}")
        for note in data[side]["notes"]:
            screen.print(f"  {safe_markup(note)}")
    screen.print(
        f"{counted(found['judged_cells'], 'cell')}, {data['cells']}; same value in "
        f"{found['same_value']}, kappa {_text(found['kappa'])}; "
        f"undecided {found['undecided_cells']}"
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
    return str(value) if isinstance(value, int) else ratio(value)
