"""`memaudit sensitivity`: whether scores and rankings survive other choices."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.scoring_options import (
    LabelMemories,
    OfflineJudge,
    PackagePath,
    Seconds,
    StorePaths,
)
from memaudit.cli.text import safe, safe_markup
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.adapters.shape import ExportedStore
    from memaudit.audits.judges.protocol import Judge
    from memaudit.audits.sensitivity.summary import Finding, Spread, Survival
    from memaudit.audits.sensitivity.variants import Choices, Variant
    from memaudit.core.package import Package


def sensitivity(
    package: PackagePath,
    stores: StorePaths,
    budget: Annotated[str, typer.Option(metavar="B[,B...]", help="Budgets.")],
    judge: OfflineJudge = "lexical",
    label_memories: LabelMemories = None,
    cost_rule: Annotated[
        str | None, typer.Option(metavar="RULE", help="The base's rule, if not the package's.")
    ] = None,
    cost_rules: Annotated[
        str, typer.Option(metavar="R[,R...]", help="Cost rules to try; '' for none.")
    ] = "words,bytes,tokens:simple",
    group_caps: Annotated[
        str, typer.Option(metavar="K[,K...]", help="Group caps to try; '' for none.")
    ] = "1,2,3",
    noise: Annotated[
        str, typer.Option(metavar="N[,N...]", help="flip, resample, move; '' for none.")
    ] = "flip,move",
    rates: Annotated[
        str, typer.Option(metavar="R[,R...]", help="Shares of labels that are wrong.")
    ] = "0.1",
    repetitions: Annotated[int, typer.Option(metavar="N", min=1, help="Draws of each noise.")] = 20,
    seed: Annotated[int, typer.Option(metavar="N", help="The seed of the noise.")] = 0,
    corrections: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Corrections of LoCoMo's evidence.")
    ] = None,
    conversations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="corrections: the LoCoMo file.")
    ] = None,
    seconds: Seconds = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores under other cost rules, group caps and wrong labels: do rankings survive?"""
    from memaudit.adapters.store_files import read_store
    from memaudit.audits.judges.registry import named_judge
    from memaudit.audits.sensitivity.rows import finding_row
    from memaudit.audits.sensitivity.summary import findings
    from memaudit.audits.sensitivity.variants import variants
    from memaudit.audits.written import written
    from memaudit.cli.solve import parse_budgets
    from memaudit.io.packages import read_package

    amounts = parse_budgets(budget)
    choices = _choices(cost_rules, group_caps, noise, rates, repetitions, seed)
    found = read_package(package)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    by = named_judge(judge, label_memories)
    exported = [read_store(path) for path in stores]
    if len({store.name for store in exported}) < len(exported):
        raise MemAuditError("two stores have the same name; import one of them with another --name")
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    kept = [written(found, store, by) for store in exported]
    tried = variants(found, kept, choices)
    if (corrections is None) != (conversations is None):
        raise MemAuditError("--corrections and --conversations go together")
    if corrections is not None and conversations is not None:
        better = _corrected(found, corrections, conversations, exported, by)
        tried = chain(tried, [better])
    rows = findings(tried, amounts, seconds)
    if as_json:
        data = {
            "package": found.name, "judge": by.name, "coverage_is_an_estimate": by.is_estimate,
            "seed": seed, "findings": [finding_row(row) for row in rows],
        }  # fmt: skip
        typer.echo(json.dumps(data, indent=1))
        return
    _show(rows, by)


def _choices(
    cost_rules: str, group_caps: str, noise: str, rates: str, repetitions: int, seed: int
) -> "Choices":
    from memaudit.audits.sensitivity.noise import KINDS, Kind
    from memaudit.audits.sensitivity.variants import Choices
    from memaudit.core.exact import exact

    kinds: dict[str, Kind] = {kind: kind for kind in KINDS}
    if unknown := [name for name in _parts(noise) if name not in kinds]:
        raise MemAuditError(f"unknown noise {unknown[0]!r}; choose from {', '.join(KINDS)}")
    try:
        caps = tuple(int(part) for part in _parts(group_caps))
    except ValueError:
        raise MemAuditError(f"group caps {group_caps!r} are not whole numbers") from None
    try:
        shares = tuple(exact(part) for part in _parts(rates))
    except ValueError as error:
        raise MemAuditError(f"noise rates {rates!r}: {error}") from None
    return Choices(
        cost_rules=_parts(cost_rules), group_caps=caps,
        noise=tuple(kinds[name] for name in _parts(noise)), rates=shares,
        repetitions=repetitions, seed=seed,
    )  # fmt: skip


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _corrected(
    package: "Package",
    corrections: Path,
    conversations: Path,
    exported: list["ExportedStore"],
    judge: "Judge",
) -> "Variant":
    from memaudit.audits.sensitivity.corrections import NAME, corrected, read_corrections
    from memaudit.audits.sensitivity.variants import Variant
    from memaudit.audits.written import written

    better = corrected(package, read_corrections(corrections), conversations)
    counts = ", ".join(f"{number} {what}" for what, number in better.count.items())
    typer.echo(safe(f"{NAME}: {counts or 'none for this conversation'}"), err=True)
    kept = tuple(written(better.package, store, judge) for store in exported)
    return Variant(NAME, better.package, kept)


def _show(rows: list["Finding"], judge: "Judge") -> None:
    from rich import box
    from rich.table import Table

    from memaudit.cli.results import console, number

    screen = console()
    mark = "an ESTIMATE by shared words, not labels" if judge.is_estimate else "as labelled"
    screen.print(f"coverage of memories: judge {safe_markup(judge.name)}, {mark}")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    for name in ("kept / union", "upper / union"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tau kept", "tau upper"):
        table.add_column(name, justify="right")
    for row in rows:
        taus = [_tau(one, row.repetitions) for one in (row.kept_ranking, row.upper_ranking)]
        for place, one in enumerate(row.stores):
            table.add_row(
                safe_markup(row.variant) if not place else "",
                number(row.budget) if not place else "",
                safe_markup(one.store),
                _spread(one.kept, row.repetitions),
                _spread(one.upper, row.repetitions),
                *(taus if not place else ("", "")),
            )
    screen.print(table)
    if any(row.repetitions > 1 for row in rows):
        screen.print(
            "square brackets hold the middle 95 % of the draws; beside a mean tau stands how many "
            "draws left the whole order as it was"
        )
    lost = sum(row.uncertified for row in rows)
    screen.print(f"optima that are not certified: {lost}")


def _spread(one: "Spread", repetitions: int) -> str:
    if one.mean is None or one.low is None or one.high is None:
        return "undefined"
    text = f"{one.mean:.3f}"
    if repetitions > 1:
        text += f" [{one.low:.3f}, {one.high:.3f}]".replace("[", r"\[")
    return text if one.n == repetitions else f"{text} of {one.n}"


def _tau(one: "Survival", repetitions: int) -> str:
    """The mean; how often the whole order stayed, where there are several draws."""
    if one.tau is None:
        return "-"
    return f"{one.tau:.2f}" + (f" ({one.same_order} of {one.n})" if repetitions > 1 else "")
