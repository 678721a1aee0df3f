"""`memaudit score`: what exported stores are worth against certified optima."""

import json
from fractions import Fraction
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
from memaudit.cli.scoring_options import CostRule, LabelMemories, PackagePath, Seconds, StorePaths
from memaudit.cli.text import safe, safe_markup
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.audits.diagnosis import Diagnosis
    from memaudit.audits.exported import ExportAudit, StoreScore


def score(
    package: PackagePath,
    stores: StorePaths,
    budget: Annotated[str, typer.Option(metavar="B[,B...]", help="Budgets.")],
    judge: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="lexical (an estimate), pointer, labels:FILE, calls:FILE, model:NAME.",
        ),
    ] = "lexical",
    label_memories: LabelMemories = None,
    salience: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Published salience calls made at write time."),
    ] = None,
    query_salience: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="... made with the question in sight; kept apart."),
    ] = None,
    cost_rule: CostRule = None,
    group_cap: Annotated[
        int | None, typer.Option(metavar="K", help="Candidates one experience may keep.")
    ] = None,
    seconds: Seconds = None,
    base_url: BaseUrl = None,
    provider: Provider = "live",
    cache: CacheFile = DEFAULT_CACHE,
    max_tokens: MaxTokens = None,
    yes: Yes = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores: raw value, ratios to certified optima, pruned rows, and where value is lost."""
    from memaudit.adapters.store_files import read_store
    from memaudit.audits.exported import ExportAudit
    from memaudit.audits.judges.registry import named_judge
    from memaudit.audits.written import Salience, written
    from memaudit.cli.solve import parse_budgets
    from memaudit.io.packages import read_package

    found = read_package(package)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    exported = [read_store(path) for path in stores]
    names = [store.name for store in exported]
    if len(set(names)) < len(names):
        raise MemAuditError("two stores have the same name; import one of them with another --name")
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    if judge.startswith("labels:") and label_memories is None and len(stores) > 1:
        raise MemAuditError(
            "labels name memories by id, and stores may use the same ids: score one store at a "
            "time, or give --label-memories"
        )
    rated = Salience(_salience(salience), _salience(query_salience))
    asks = judge.startswith("model:")
    with judging_desk(asks, base_url, provider, cache, stores[0], max_tokens, yes) as desk:
        by = named_judge(judge, label_memories, desk)
        kept = [written(found, store, by, rated) for store in exported]
    undecided = len(getattr(by, "undecided", ()))
    if undecided:
        typer.echo(f"{undecided} cells got no answer and count as not covered", err=True)
    audit = ExportAudit(found, kept, group_cap, seconds)
    amounts = parse_budgets(budget)
    rows = [(audit.score(store, at), _diagnosed(audit, store, at)) for at in amounts
            for store in audit.stores]  # fmt: skip
    if as_json:
        head = {
            "format": "memaudit-scores",
            "version": 1,
            "package": found.name,
            "digest": audit.package_optimum(amounts[0]).digest,
            "cost_rule": found.cost_rule,
            "group_cap": found.group_cap if group_cap is None else group_cap,
            "judge": by.name,
            "coverage_is_an_estimate": by.is_estimate,
            "undecided_cells": undecided,
            "stores": [
                {"name": one.name, "count": one.count.model_dump(), "warnings": one.warnings}
                for one in exported
            ],
        }
        typer.echo(json.dumps({**head, "scores": _plain(rows)}, indent=1))
        return
    _show(rows, by.name, by.is_estimate)


def _salience(path: Path | None) -> dict[str, Fraction]:
    """Scores by memory id."""
    from memaudit.adapters.published_calls import read_salience_calls

    return {} if path is None else {row.memory: row.value for row in read_salience_calls(path).rows}


def _diagnosed(audit: "ExportAudit", store: Any, at: Fraction) -> "Diagnosis | str":
    """The diagnosis, or why there is none."""
    from memaudit.audits.diagnosis import diagnose

    try:
        return diagnose(audit, store, at)
    except MemAuditError as error:
        return str(error)


def _plain(rows: list[tuple["StoreScore", "Diagnosis | str"]]) -> list[dict[str, Any]]:
    from memaudit.audits.scorecard import diagnosis_row, scorecard

    return [
        {**scorecard(found), "diagnosis": lost if isinstance(lost, str) else diagnosis_row(lost)}
        for found, lost in rows
    ]


def _show(rows: list[tuple["StoreScore", "Diagnosis | str"]], judge: str, estimate: bool) -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console, number

    screen = console()
    mark = "an ESTIMATE by shared words, not labels" if estimate else "as labelled"
    screen.print(f"coverage of memories: judge {safe_markup(judge)}, {mark}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("store", overflow="fold")
    policies = ["recency", "salience"]
    if any(one.policy == "query_salience" for found, _ in rows for one in found.pruned):
        policies.append("query_salience")  # it saw the question: no write-time policy
    for name in ("budget", "cost", "F(Y)", "/ package", "/ union", "/ common", "upper", *policies):
        table.add_column(name.replace("query_salience", "query-aware"), justify="right")
    for found, _ in rows:
        pruned = {one.policy: one for one in found.pruned}
        table.add_row(
            safe_markup(found.name), number(found.budget),
            number(found.score.cost) + ("" if found.feasible else " !"), number(found.score.value),
            _ratio(found.package_ratio), _ratio(found.union_ratio), _ratio(found.common_ratio),
            _ratio(found.upper.ratio),
            *(_ratio(pruned[p].ratio) if p in pruned else "-" for p in policies),
        )  # fmt: skip
    screen.print(table)
    if any(not found.feasible for found, _ in rows):
        screen.print(
            "! costs more than the budget: F(Y) and its ratios are of the whole store, and may "
            "exceed 1; upper, recency and salience are cut to the budget, over the union optimum"
        )
    for _, lost in rows:
        screen.print(safe_markup(lost if isinstance(lost, str) else _sentence(lost)))


def _ratio(ratio: Any) -> str:
    return "undefined" if ratio.value is None else f"{float(ratio.value):.3f}"


def _sentence(found: "Diagnosis") -> str:
    losses = ", ".join(f"{step.name} {float(step.share):.1%}" for step in found.steps)
    return (
        f"{found.store} at {found.budget}: keeps {float(found.kept_share):.1%} of OPT "
        f"({found.policy}), loses {losses}; {found.advice}"
    )
