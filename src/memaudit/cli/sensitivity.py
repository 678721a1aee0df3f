"""`memaudit sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from memaudit.adapters.store import ExportedStore
from memaudit.cli.options import (
    NO_SESSION,
    NO_STORE_OPTIONS,
    Budgets,
    GroupCap,
    LabelMemories,
    PackagePath,
    Seconds,
    SessionOptions,
    StoreArguments,
    StoreOptions,
    StoresOnly,
    distinct_budgets,
    judging_session,
    place_of,
    read_stores,
    read_views,
    spread,
)
from memaudit.cli.terminal import console, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.grounds import assumed_text, is_estimate
from memaudit.core.number_text import fixed, ratio, short_exact, with_interval
from memaudit.core.package import Package
from memaudit.io.packages import read_package
from memaudit.scoring.candidate_cells import judge_candidates
from memaudit.scoring.caveats import caveat_lines, store_data
from memaudit.scoring.fed_turns import fed_part
from memaudit.scoring.judged_store import judge_store
from memaudit.scoring.judges import (
    Judge,
    judged_how,
    named_judges,
    refuse_equal_judge_names,
    refuse_shared_ids,
)
from memaudit.scoring.locomo_corrections import VARIANT_NAME, corrected_package, read_corrections
from memaudit.scoring.sensitivity import (
    BASIS,
    JudgePairing,
    RankSurvival,
    RatioSpread,
    VariantFinding,
    finding_row,
    judge_pairings,
    pairing_row,
    variant_findings,
    variant_runs,
)
from memaudit.scoring.sensitivity_variants import (
    BASE,
    NOISE_KINDS,
    NoiseKind,
    Variant,
    VariantChoices,
    judge_variant,
    variants,
)
from memaudit.scoring.written_store import WrittenStore


@spread
def sensitivity(
    package: PackagePath,
    stores: StoreArguments,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Decides coverage: lexical, pointer, labels:FILE, calls:FILE or model:NAME; may "
            "be repeated. The first is the base, the others are variants. Default: lexical.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    cost_rule: Annotated[
        str | None,
        typer.Option(metavar="RULE", help="Cost rule of the base. Default: the package's."),
    ] = None,
    group_cap: GroupCap = None,
    cost_rules: Annotated[
        str, typer.Option(metavar="R[,R...]", help="Cost rules to try; '' for none.")
    ] = "words,bytes,tokens:simple",
    group_caps: Annotated[
        str, typer.Option(metavar="K[,K...]", help="Group caps to try; '' for none.")
    ] = "1,2,3",
    noise: Annotated[
        str,
        typer.Option(metavar="N[,N...]", help="Label noise: flip, resample, move; '' for none."),
    ] = "flip,move",
    rates: Annotated[
        str, typer.Option(metavar="R[,R...]", help="Noise rates: shares of wrong labels.")
    ] = "0.1",
    repetitions: Annotated[
        int, typer.Option(metavar="N", min=1, help="Draws per noise and rate.")
    ] = 20,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the noise.")] = 0,
    views: Annotated[
        str,
        typer.Option(
            metavar="V[,V...]",
            help="Views of exports to try, such as lines,full; a STORE has to be the export.",
        ),
    ] = "",
    store_options: StoreOptions = NO_STORE_OPTIONS,
    stores_only: StoresOnly = False,
    corrections: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Corrected evidence of LoCoMo; needs --conversations."),
    ] = None,
    conversations: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The LoCoMo file; needs --corrections.")
    ] = None,
    seconds: Seconds = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether scores and rankings survive other choices.

    The choices are judges, cost rules, group caps, wrong labels and views of an export.
    """
    budgets = distinct_budgets(budget)
    choices = _choices(cost_rules, group_caps, noise, rates, repetitions, seed)
    if (corrections is None) != (conversations is None):
        raise MemAuditError("give both --corrections and --conversations, or neither")
    names = judge or ["lexical"]
    scored = read_package(package)
    if cost_rule is not None:
        scored = scored.recost(cost_rule)
    if stores_only:
        scored = scored.replace(candidates=(), coverage=())
    exported = read_stores(stores, store_options)
    part = fed_part(scored, exported)
    scored = part.package
    extra: list[Variant] = []
    with judging_session(names, options, place_of(stores[0])) as session:
        judges = named_judges(names, label_memories, session)
        refuse_equal_judge_names(judges)
        for by in judges:
            refuse_shared_ids(by, exported)
        judged = {
            by.name: [
                judge_store(scored, store, by).without_units(part.left_out) for store in exported
            ]
            for by in judges
        }
        packages = {by.name: judge_candidates(scored, by) for by in judges}
        for view in _parts(views):
            seen = read_views(stores, exported, view, store_options)
            in_view = tuple(judge_store(scored, store, judges[0]) for store in seen)
            extra.append(Variant(f"view {view}", packages[judges[0].name], in_view, group_cap))
        if corrections is not None and conversations is not None:
            extra.append(
                _corrected(scored, corrections, conversations, exported, judges[0], group_cap)
            )
    base, *others = (by.name for by in judges)
    by_others = {name: (packages[name], judged[name]) for name in others}
    tried = variants(packages[base], judged[base], choices, group_cap, by_others)
    runs = variant_runs(chain(tried, extra), budgets, seconds)
    findings = variant_findings(runs, budgets)
    variant_of = {base: BASE, **{name: judge_variant(name) for name in others}}
    pairings = judge_pairings(runs, variant_of, budgets)
    assumed = max((row.assumed for run in runs[BASE] for row in run), default=Fraction(0))
    if as_json:
        data = _data(scored, judges, exported, judged, seed, findings, pairings)
        estimated = judges[0].is_estimate or is_estimate([assumed])
        data |= {"coverage_is_an_estimate": estimated, "assumed_share": float(assumed)}
        typer.echo(json.dumps(data, indent=1))
        return
    notes = [
        line if len(judges) == 1 else f"{name}: {line}"
        for name, by_judge in judged.items()
        for line in caveat_lines([(store.name, store.caveats) for store in by_judge])
    ]
    if assumed:
        notes.insert(0, f"of OPT or of a store, up to {assumed_text(assumed)}")
    _print(findings, pairings, judges, notes)


def _choices(
    cost_rules: str, group_caps: str, noise: str, rates: str, repetitions: int, seed: int
) -> VariantChoices:
    kinds: dict[str, NoiseKind] = {kind: kind for kind in NOISE_KINDS}
    if unknown := [name for name in _parts(noise) if name not in kinds]:
        raise MemAuditError(f"unknown noise {unknown[0]!r}; choose from {', '.join(NOISE_KINDS)}")
    try:
        caps = tuple(int(part) for part in _parts(group_caps))
    except ValueError:
        raise MemAuditError(
            f"--group-caps {group_caps!r}: give whole numbers, such as 1,2,3"
        ) from None
    try:
        shares: tuple[Fraction, ...] = tuple(exact(part) for part in _parts(rates))
    except ValueError as error:
        raise MemAuditError(f"--rates {rates!r}: {error}") from None
    return VariantChoices(
        cost_rules=_parts(cost_rules),
        group_caps=caps,
        noise=tuple(kinds[name] for name in _parts(noise)),
        rates=shares,
        repetitions=repetitions,
        seed=seed,
    )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _corrected(
    package: Package,
    corrections: Path,
    conversations: Path,
    exported: Sequence[ExportedStore],
    judge: Judge,
    group_cap: int | None,
) -> Variant:
    corrected = corrected_package(package, read_corrections(corrections), conversations)
    counts = ", ".join(f"{number} {what}" for what, number in corrected.count.items())
    typer.echo(safe(f"{VARIANT_NAME}: {counts or 'none for this conversation'}"), err=True)
    judged = tuple(judge_store(corrected.package, store, judge) for store in exported)
    return Variant(VARIANT_NAME, judge_candidates(corrected.package, judge), judged, group_cap)


def _data(
    package: Package,
    judges: Sequence[Judge],
    exported: Sequence[ExportedStore],
    judged: Mapping[str, Sequence[WrittenStore]],
    seed: int,
    findings: Sequence[VariantFinding],
    pairings: Sequence[JudgePairing],
) -> dict[str, Any]:
    return {
        "package": package.name,
        "judge": judges[0].name,
        "coverage_is_an_estimate": judges[0].is_estimate,
        "judges": [{"name": by.name, "is_an_estimate": by.is_estimate} for by in judges],
        "basis": BASIS,
        "seed": seed,
        "stores": {
            name: [
                store_data(store, written.caveats)
                for store, written in zip(exported, by_judge, strict=True)
            ]
            for name, by_judge in judged.items()
        },
        "findings": [finding_row(finding) for finding in findings],
        "judge_rankings": [pairing_row(pairing) for pairing in pairings],
    }


def _print(
    findings: Sequence[VariantFinding],
    pairings: Sequence[JudgePairing],
    judges: Sequence[Judge],
    notes: Sequence[str],
) -> None:
    """Print the judges, every variant, the comparison of judges, and the caveats of the stores."""
    screen = console()
    for place, judge in enumerate(judges):
        mark = judged_how(judge.name, judge.is_estimate)
        what = "coverage" if not place else "another judge"
        screen.print(f"{what}: judge {safe_markup(judge.name)}, {mark}")
    screen.print(_findings_table(findings))
    if pairings:
        screen.print(_pairings_table(pairings))
    if any(finding.repetitions > 1 for finding in findings):
        screen.print(
            "square brackets: the middle 95% of the draws; round brackets after a mean tau: draws "
            "that kept the complete order"
        )
    for note in notes:
        screen.print(safe_markup(note))
    uncertified = sum(finding.uncertified for finding in findings)
    screen.print(f"optima not certified: {uncertified}")


def _findings_table(findings: Sequence[VariantFinding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    table.add_column("budget", justify="right")
    table.add_column("store", overflow="fold")
    for name in ("kept / common", "upper / common"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tau kept", "tau upper"):
        table.add_column(name, justify="right")
    for finding in findings:
        head = (safe_markup(finding.variant), short_exact(finding.budget))
        taus = [
            _tau(ranking, finding.repetitions)
            for ranking in (finding.kept_ranking, finding.upper_ranking)
        ]
        for place, store in enumerate(finding.stores):
            table.add_row(
                *(head if not place else ("", "")),
                safe_markup(store.store),
                _spread_text(store.kept, finding.repetitions),
                _spread_text(store.upper, finding.repetitions),
                *(taus if not place else ("", "")),
            )
    return table


def _pairings_table(pairings: Sequence[JudgePairing]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", overflow="fold")
    table.add_column("against", overflow="fold")
    for name in ("budget", "tau kept", "tau upper", "same order"):
        table.add_column(name, justify="right")
    for pairing in pairings:
        table.add_row(
            safe_markup(pairing.first), safe_markup(pairing.second), short_exact(pairing.budget),
            fixed(pairing.kept_tau, 2), fixed(pairing.upper_tau, 2),
            "yes" if pairing.same_kept_order else "no",
        )  # fmt: skip
    return table


def _spread_text(ratios: RatioSpread, repetitions: int) -> str:
    if ratios.mean is None or ratios.low is None or ratios.high is None:
        return "undefined"
    text = ratio(ratios.mean)
    if repetitions > 1:
        text = with_interval(ratios.mean, ratios.low, ratios.high).replace("[", r"\[")
    return text if ratios.n == repetitions else f"{text} of {ratios.n}"


def _tau(ranking: RankSurvival, repetitions: int) -> str:
    """The mean tau and, with several draws, how often the complete order stayed."""
    if ranking.tau is None:
        return "-"
    unchanged = f" ({ranking.same_order} of {ranking.n})" if repetitions > 1 else ""
    return fixed(ranking.tau, 2) + unchanged
