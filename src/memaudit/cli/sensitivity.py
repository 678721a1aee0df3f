"""`memaudit sensitivity`: whether scores and rankings survive other choices."""

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.judging import NO_DESK, DeskOptions, judging_desk
from memaudit.cli.option_groups import spread
from memaudit.cli.scoring_options import (
    Budgets,
    GroupCap,
    LabelMemories,
    PackagePath,
    Seconds,
    StorePaths,
    distinct_budgets,
)
from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.adapters.store import ExportedStore
    from memaudit.core.package import Package
    from memaudit.scoring.judges.protocol import Judge
    from memaudit.scoring.sensitivity_variants import Choices, Variant


@spread
def sensitivity(
    package: PackagePath,
    stores: StorePaths,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="lexical if none is given, pointer, labels:FILE, calls:FILE, model:NAME; the "
            "first is the base, others are tried too.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    cost_rule: Annotated[
        str | None, typer.Option(metavar="RULE", help="The base's rule, if not the package's.")
    ] = None,
    group_cap: GroupCap = None,
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
    options: DeskOptions = NO_DESK,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores by other judges, costs, group caps and wrong labels: do rankings survive?"""
    from memaudit.adapters.store import read_store
    from memaudit.io.packages import read_package
    from memaudit.scoring.caveats import account_lines, account_row
    from memaudit.scoring.judged_store import written
    from memaudit.scoring.judges.registry import (
        named_judges,
        refuse_equal_judges,
        refuse_shared_ids,
    )
    from memaudit.scoring.package_scores import refuse_equal_names
    from memaudit.scoring.sensitivity import (
        BASIS,
        finding_row,
        findings,
        measured_runs,
        pairing_row,
        pairings,
    )
    from memaudit.scoring.sensitivity_variants import BASE, judge_variant, variants

    amounts = distinct_budgets(budget)
    choices = _choices(cost_rules, group_caps, noise, rates, repetitions, seed)
    if (corrections is None) != (conversations is None):
        raise MemAuditError("--corrections and --conversations go together")
    names = judge or ["lexical"]
    found = read_package(package)
    if cost_rule is not None:
        found = found.recost(cost_rule)
    exported = [read_store(path) for path in stores]
    refuse_equal_names(exported)
    refuse_shared_ids(names, label_memories, exported)
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    extra: list[Variant] = []
    with judging_desk(names, options, stores[0]) as desk:
        judges = named_judges(names, label_memories, desk)
        refuse_equal_judges(judges)
        kept = {by.name: [written(found, store, by) for store in exported] for by in judges}
        if corrections is not None and conversations is not None:
            extra.append(
                _corrected(found, corrections, conversations, exported, judges[0], group_cap)
            )
    base, *others = (by.name for by in judges)
    tried = variants(found, kept[base], choices, group_cap, {name: kept[name] for name in others})
    runs = measured_runs(chain(tried, extra), amounts, seconds)
    rows = findings(runs, amounts)
    by_judge = {base: BASE, **{name: judge_variant(name) for name in others}}
    pairs = pairings(runs, by_judge, amounts)
    if as_json:
        data = {
            "package": found.name,
            "judge": base,
            "coverage_is_an_estimate": judges[0].is_estimate,
            "judges": [{"name": by.name, "is_an_estimate": by.is_estimate} for by in judges],
            "basis": BASIS,
            "seed": seed,
            "stores": {
                name: [
                    account_row(store, one.account)
                    for store, one in zip(exported, kept[name], strict=True)
                ]
                for name in kept
            },
            "findings": [finding_row(row) for row in rows],
            "judge_rankings": [pairing_row(pair) for pair in pairs],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    from memaudit.cli.sensitivity_tables import show

    notes = [
        line if len(judges) == 1 else f"{name}: {line}"
        for name, written_stores in kept.items()
        for line in account_lines([(one.name, one.account) for one in written_stores])
    ]
    show(rows, pairs, judges, notes)


def _choices(
    cost_rules: str, group_caps: str, noise: str, rates: str, repetitions: int, seed: int
) -> "Choices":
    from memaudit.core.exact import exact
    from memaudit.scoring.sensitivity_variants import KINDS, Choices, Kind

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
    group_cap: int | None,
) -> "Variant":
    from memaudit.scoring.judged_store import written
    from memaudit.scoring.locomo_corrections import NAME, corrected, read_corrections
    from memaudit.scoring.sensitivity_variants import Variant

    better = corrected(package, read_corrections(corrections), conversations)
    counts = ", ".join(f"{number} {what}" for what, number in better.count.items())
    typer.echo(safe(f"{NAME}: {counts or 'none for this conversation'}"), err=True)
    kept = tuple(written(better.package, store, judge) for store in exported)
    return Variant(NAME, better.package, kept, group_cap)
