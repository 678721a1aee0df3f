"""`memaudit audit judges`: two judges of the same store, side by side."""

import json
from typing import Annotated, Any

import typer

from memaudit.cli.options import (
    CostRule,
    JudgeName,
    PackagePath,
    StorePath,
    distinct_budgets,
    label_memories,
    model_session,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import safe, safe_markup
from memaudit.kernel.number_text import ratio


def judges(
    package: PackagePath,
    store: StorePath,
    judge: JudgeName,
    against: Annotated[str, typer.Option(metavar="NAME", help="The judge to compare with.")],
    same_session: Annotated[
        bool, typer.Option("--same-session", help="Compare only cells of a memory's own session.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(metavar="B[,B...]", help="Also compare scores at these budgets.")
    ] = None,
    cost_rule: CostRule = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare two judges on one store.

    Prints cells, precision, recall and kappa, and the scores under both judges.
    """
    from memaudit.judges.registry import named_judges
    from memaudit.kernel.io.packages import read_package
    from memaudit.kernel.score.caveats import store_data
    from memaudit.kernel.score.judged_store import judge_store
    from memaudit.kernel.score.priced_store import active_memories
    from memaudit.kernel.score.rejudge_package import judge_candidates
    from memaudit.lab.labels.judge_agreement import (
        agreement_row,
        all_pairs,
        judge_agreement,
        same_session_pairs,
        score_rows,
    )
    from memaudit.lab.studies.sensitivity import sensitivity_rows
    from memaudit.stores.registry import read_imported

    budgets = () if budget is None else distinct_budgets(budget)
    audited, exported = read_package(package), read_imported(store)
    if cost_rule is not None:
        audited = audited.recost(cost_rule)
    with model_session([judge, against], store) as session:
        both = named_judges([judge, against], label_memories([judge, against]), session)
        judged = [judge_store(audited, exported, by) for by in both]
        packages = [judge_candidates(audited, by) for by in both]
    for warning in exported.warnings:
        typer.echo(safe(f"{exported.name}: {warning}"), err=True)
    first, second = ({memory.id: memory.coverage for memory in by.memories} for by in judged)
    memories = active_memories(exported, audited)
    pairs = (same_session_pairs if same_session else all_pairs)(memories, audited.units)
    undecided = {pair for by in judged for pair in by.caveats.undecided}
    agreement = judge_agreement(first, second, pairs, undecided)
    keys = in_force()
    rows = [
        sensitivity_rows(judged_package, [by], budgets, keys.score.group_cap, keys.solver.seconds)
        for judged_package, by in zip(packages, judged, strict=True)
    ]
    sides = [
        {
            "name": by.name,
            "is_an_estimate": by.is_estimate,
            "store": store_data(exported, side.caveats),
            "notes": side.caveats.lines,
        }
        for by, side in zip(both, judged, strict=True)
    ]
    data = {
        "package": audited.name,
        "store": exported.name,
        "judge": sides[0],
        "against": sides[1],
        "cells": "of the same session" if same_session else "all",
        "agreement": agreement_row(agreement),
        "scores": score_rows(*rows),
    }
    if as_json:
        typer.echo(json.dumps(data, indent=1))
        return
    _show(data)


def _show(data: dict[str, Any]) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.terminal import console
    from memaudit.kernel.words.text import counted

    screen, agreement = console(), data["agreement"]
    for side in ("judge", "against"):
        mark = " (an ESTIMATE)" if data[side]["is_an_estimate"] else ""
        screen.print(f"{side}: {safe_markup(data[side]['name'])}{mark}")
        for note in data[side]["notes"]:
            screen.print(f"  {safe_markup(note)}")
    screen.print(
        f"{counted(agreement['judged_cells'], 'cell')}, {data['cells']}; same value in "
        f"{agreement['same_value']}, kappa {_text(agreement['kappa'])}; "
        f"undecided {agreement['undecided_cells']}"
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = ("both", "only_judge", "only_against", "precision", "recall", "f1")
    table.add_column("")
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for row in ("any_coverage", "full_coverage"):
        table.add_row(row.replace("_", " "), *(_text(agreement[row][name]) for name in names))
    screen.print(table)
    if not data["scores"]:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in (
        "budget",
        "score: judge",
        "against",
        "best: judge",
        "against",
        "not certified",
    ):
        table.add_column(name, justify="right")
    for row in data["scores"]:
        table.add_row(
            str(row["budget"]),
            *(
                _text(row[what][side])
                for what in ("score", "best_subset")
                for side in ("judge", "against")
            ),
            str(row["uncertified_optima"]),
        )
    screen.print(table)


def _text(value: float | None) -> str:
    if value is None:
        return "undefined"
    return str(value) if isinstance(value, int) else ratio(value)
