"""`memaudit sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from memaudit.cli.options import (
    NO_SESSION,
    Budgets,
    GroupCap,
    LabelMemories,
    PackagePath,
    Seconds,
    SessionOptions,
    StorePaths,
    distinct_budgets,
    judging_session,
    spread,
)
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.number_text import fixed, ratio, short_exact, with_interval
from memaudit.scoring.judges import judged_how
from memaudit.scoring.sensitivity import JudgePairing, RankSurvival, RatioSpread, VariantFinding

if TYPE_CHECKING:
    from memaudit.adapters.store import ExportedStore
    from memaudit.core.package import Package
    from memaudit.scoring.judges import Judge
    from memaudit.scoring.sensitivity_variants import Variant


def show(
    rows: Sequence[VariantFinding],
    pairs: Sequence[JudgePairing],
    judges: Sequence["Judge"],
    notes: Sequence[str],
) -> None:
    """Who judged, every variant, the judges against each other, and what scores do not see."""
    screen = console()
    for place, judge in enumerate(judges):
        mark = judged_how(judge.name, judge.is_estimate)
        what = "coverage of memories" if not place else "another judge"
        screen.print(f"{what}: judge {safe_markup(judge.name)}, {mark}")
    screen.print(_variants(rows))
    if pairs:
        screen.print(_pairs(pairs))
    if any(row.repetitions > 1 for row in rows):
        screen.print(
            "square brackets hold the middle 95 % of the draws; beside a mean tau stands how many "
            "draws left the whole order as it was"
        )
    for note in notes:
        screen.print(safe_markup(note))
    lost = sum(row.uncertified for row in rows)
    screen.print(f"optima that are not certified: {lost}")


def _variants(rows: Sequence[VariantFinding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    for name in ("kept / common", "upper / common"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tau kept", "tau upper"):
        table.add_column(name, justify="right")
    for row in rows:
        taus = [_tau(one, row.repetitions) for one in (row.kept_ranking, row.upper_ranking)]
        for place, one in enumerate(row.stores):
            table.add_row(
                safe_markup(row.variant) if not place else "",
                short_exact(row.budget) if not place else "",
                safe_markup(one.store),
                _spread(one.kept, row.repetitions),
                _spread(one.upper, row.repetitions),
                *(taus if not place else ("", "")),
            )
    return table


def _pairs(pairs: Sequence[JudgePairing]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", overflow="fold")
    table.add_column("against", overflow="fold")
    for name in ("budget", "tau kept", "tau upper", "same order"):
        table.add_column(name, justify="right")
    for one in pairs:
        table.add_row(
            safe_markup(one.first), safe_markup(one.second), short_exact(one.budget),
            fixed(one.kept_tau, 2), fixed(one.upper_tau, 2), "yes" if one.same_kept_order else "no",
        )  # fmt: skip
    return table


def _spread(one: RatioSpread, repetitions: int) -> str:
    if one.mean is None or one.low is None or one.high is None:
        return "undefined"
    text = ratio(one.mean)
    if repetitions > 1:
        text = with_interval(one.mean, one.low, one.high).replace("[", r"\[")
    return text if one.n == repetitions else f"{text} of {one.n}"


def _tau(one: RankSurvival, repetitions: int) -> str:
    """The mean; how often the whole order stayed, where there are several draws."""
    if one.tau is None:
        return "-"
    return fixed(one.tau, 2) + (f" ({one.same_order} of {one.n})" if repetitions > 1 else "")


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
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores by other judges, costs, group caps and wrong labels: do rankings survive?"""
    from memaudit.adapters.store import read_store
    from memaudit.io.packages import read_package
    from memaudit.scoring.caveats import caveat_lines, store_data
    from memaudit.scoring.judged_store import judge_store
    from memaudit.scoring.judges import named_judges, refuse_equal_judge_names, refuse_shared_ids
    from memaudit.scoring.package_scores import refuse_equal_store_names
    from memaudit.scoring.sensitivity import (
        BASIS,
        finding_row,
        judge_pairings,
        pairing_row,
        variant_findings,
        variant_runs,
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
    refuse_equal_store_names(exported)
    refuse_shared_ids(names, label_memories, exported)
    for store in exported:
        for warning in store.warnings:
            typer.echo(safe(f"{store.name}: {warning}"), err=True)
    extra: list[Variant] = []
    with judging_session(names, options, stores[0]) as session:
        judges = named_judges(names, label_memories, session)
        refuse_equal_judge_names(judges)
        kept = {by.name: [judge_store(found, store, by) for store in exported] for by in judges}
        if corrections is not None and conversations is not None:
            extra.append(
                _corrected(found, corrections, conversations, exported, judges[0], group_cap)
            )
    base, *others = (by.name for by in judges)
    tried = variants(found, kept[base], choices, group_cap, {name: kept[name] for name in others})
    runs = variant_runs(chain(tried, extra), amounts, seconds)
    rows = variant_findings(runs, amounts)
    by_judge = {base: BASE, **{name: judge_variant(name) for name in others}}
    pairs = judge_pairings(runs, by_judge, amounts)
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
                    store_data(store, one.caveats)
                    for store, one in zip(exported, kept[name], strict=True)
                ]
                for name in kept
            },
            "findings": [finding_row(row) for row in rows],
            "judge_rankings": [pairing_row(pair) for pair in pairs],
        }
        typer.echo(json.dumps(data, indent=1))
        return

    notes = [
        line if len(judges) == 1 else f"{name}: {line}"
        for name, written_stores in kept.items()
        for line in caveat_lines([(one.name, one.caveats) for one in written_stores])
    ]
    show(rows, pairs, judges, notes)


def _choices(
    cost_rules: str, group_caps: str, noise: str, rates: str, repetitions: int, seed: int
) -> "Choices":
    from memaudit.core.exact import exact
    from memaudit.scoring.sensitivity_variants import NOISE_KINDS, NoiseKind, VariantChoices

    kinds: dict[str, NoiseKind] = {kind: kind for kind in NOISE_KINDS}
    if unknown := [name for name in _parts(noise) if name not in kinds]:
        raise MemAuditError(f"unknown noise {unknown[0]!r}; choose from {', '.join(NOISE_KINDS)}")
    try:
        caps = tuple(int(part) for part in _parts(group_caps))
    except ValueError:
        raise MemAuditError(f"group caps {group_caps!r} are not whole numbers") from None
    try:
        shares = tuple(exact(part) for part in _parts(rates))
    except ValueError as error:
        raise MemAuditError(f"noise rates {rates!r}: {error}") from None
    return VariantChoices(
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
    from memaudit.scoring.judged_store import judge_store
    from memaudit.scoring.locomo_corrections import (
        VARIANT_NAME,
        corrected_package,
        read_corrections,
    )
    from memaudit.scoring.sensitivity_variants import Variant

    better = corrected_package(package, read_corrections(corrections), conversations)
    counts = ", ".join(f"{number} {what}" for what, number in better.count.items())
    typer.echo(safe(f"{VARIANT_NAME}: {counts or 'none for this conversation'}"), err=True)
    kept = tuple(judge_store(better.package, store, judge) for store in exported)
    return Variant(VARIANT_NAME, better.package, kept, group_cap)
