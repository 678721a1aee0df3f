"""`memaudit study sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from memaudit.cli.options import (
    NO_ENGINE,
    NO_SESSION,
    NO_STORE_OPTIONS,
    Budgets,
    EngineOptions,
    GroupCap,
    JournalFile,
    LabelMemories,
    PackagesPath,
    PolicyName,
    SalienceNames,
    Seconds,
    SessionOptions,
    StoreArguments,
    StoreOptions,
    StoresOnly,
    distinct_budgets,
    judge_files,
    judging_session,
    kept_in,
    place_of,
    read_stores,
    read_views,
    spread,
)
from memaudit.cli.terminal import console, resumable, safe, safe_markup
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.grounds import assumed_text, is_estimate
from memaudit.core.number_text import fixed, ratio, short_exact, with_interval
from memaudit.io.packages import package_places
from memaudit.scoring.judge import judged_how, refuse_shared_ids
from memaudit.scoring.judges import DEFAULT_JUDGE, named_judges, refuse_equal_judge_names
from memaudit.scoring.package_scores import refuse_unnamed
from memaudit.scoring.package_sensitivity import (
    PackageSensitivity,
    SensitivityPlan,
    sensitivity_at,
)
from memaudit.scoring.pruning import named_policy
from memaudit.scoring.salience import named_salience, salience_files
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
)
from memaudit.scoring.sensitivity_variants import NOISE_KINDS, NoiseKind, VariantChoices


@spread
def sensitivity(
    package: PackagesPath,
    stores: StoreArguments,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Decides coverage: offline, lexical, pointer, labels:FILE, calls:FILE or "
            "model:NAME; may be repeated. The first is the base, the others are variants. "
            "Default: offline.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    cost_rule: Annotated[
        str | None,
        typer.Option(metavar="RULE", help="Cost rule of the base. Default: the package's."),
    ] = None,
    group_cap: GroupCap = None,
    cost_rules: Annotated[
        str | None,
        typer.Option(
            metavar="R[,R...]",
            help="Cost rules to try; '' for none. Default: words,bytes,tokens:simple; bytes where "
            "texts have no spaces.",
        ),
    ] = None,
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
    engine_options: EngineOptions = NO_ENGINE,
    journal: JournalFile = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether scores and rankings survive other choices.

    The choices are judges, cost rules, group caps, wrong labels and views of an export.
    """
    choices = _choices(cost_rules, group_caps, noise, rates, repetitions, seed)
    if (corrections is None) != (conversations is None):
        raise MemAuditError("give both --corrections and --conversations, or neither")
    names = judge or [DEFAULT_JUDGE]
    sources = salience or []
    asking = [f"--judge {name}" for name in names if name.startswith("model:")]
    asking += [f"--salience {name}" for name in sources if name.startswith("model:")]
    run = engine_options.chosen(next(iter(asking), "")).map
    places = package_places(package)
    exported = read_stores(stores, store_options)
    if len(places) > 1:
        refuse_unnamed(exported)
    with judging_session([*names, *sources], options, place_of(stores[0])) as session:
        judges = named_judges(names, label_memories, session)
        refuse_equal_judge_names(judges)
        for by in judges:
            refuse_shared_ids(by, exported)
        known = [store.name for store in exported]
        plan = SensitivityPlan(
            tuple(exported),
            tuple(judges),
            distinct_budgets(budget),
            choices,
            group_cap,
            seconds,
            cost_rule,
            stores_only,
            {view: read_views(stores, exported, view, store_options) for view in _parts(views)},
            (corrections, conversations) if corrections and conversations else None,
            len(places) > 1,
            named_policy(policy),
            named_salience(sources, [], known, session),
        )
        files = [*judge_files(names, label_memories), *salience_files(sources, stores=known)]
        settings = partial(plan.settings, places, files)
        results: list[PackageSensitivity] = []
        with (
            kept_in(journal, "sensitivity", settings, run) as keeping,
            resumable("packages", len(places), None) as done,
        ):
            for result in keeping(partial(sensitivity_at, plan), places):
                results.append(result)
                done(len(results))
    _report(plan, results, as_json)


def _report(plan: SensitivityPlan, results: Sequence[PackageSensitivity], as_json: bool) -> None:
    """Print one package, or what several have in common and what each of them has."""
    scored = [result for result in results if not result.not_scored]
    missing = [result for result in results if result.not_scored]
    if not scored:
        first = missing[0]
        raise MemAuditError(f"no package could be scored; {first.package!r}: {first.not_scored}")
    for result in scored:
        if result.corrected:
            name = f"{result.package}: " if plan.many else ""
            typer.echo(safe(f"{name}{result.corrected}"), err=True)
    if as_json and not plan.many:
        typer.echo(json.dumps(_data(plan, scored[0]), indent=1))
        return
    runs = [result.runs for result in scored]
    findings = variant_findings(runs, plan.budgets)
    pairings = judge_pairings(runs, plan.variant_of, plan.budgets)
    if as_json:
        data = {
            "packages": [_data(plan, result) for result in scored],
            "not_scored": [
                {"package": result.package, "reason": result.not_scored} for result in missing
            ],
            "findings": [finding_row(finding) for finding in findings],
            "judge_rankings": [pairing_row(pairing) for pairing in pairings],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    notes = [
        f"{result.package}: {line}" if plan.many else line
        for result in scored
        for line in result.caveats
    ]
    notes += [f"not scored: {result.package}: {result.not_scored}" for result in missing]
    if assumed := max(result.assumed for result in scored):
        notes.insert(0, f"of OPT or of a store, up to {assumed_text(assumed)}")
    _print(findings, pairings, plan, len(scored), notes)


def _choices(
    cost_rules: str | None, group_caps: str, noise: str, rates: str, repetitions: int, seed: int
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
        cost_rules=None if cost_rules is None else _parts(cost_rules),
        group_caps=caps,
        noise=tuple(kinds[name] for name in _parts(noise)),
        rates=shares,
        repetitions=repetitions,
        seed=seed,
    )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _data(plan: SensitivityPlan, result: PackageSensitivity) -> dict[str, Any]:
    """One package as JSON."""
    judges, assumed = plan.judges, result.assumed
    pairings = judge_pairings([result.runs], plan.variant_of, plan.budgets)
    return {
        "package": result.package,
        "judge": judges[0].name,
        "coverage_is_an_estimate": judges[0].is_estimate or is_estimate([assumed]),
        "judges": [{"name": by.name, "is_an_estimate": by.is_estimate} for by in judges],
        "basis": BASIS,
        "seed": plan.choices.seed,
        "stores": result.stores,
        "findings": [
            finding_row(finding) for finding in variant_findings([result.runs], plan.budgets)
        ],
        "judge_rankings": [pairing_row(pairing) for pairing in pairings],
        "assumed_share": float(assumed),
    }


def _print(
    findings: Sequence[VariantFinding],
    pairings: Sequence[JudgePairing],
    plan: SensitivityPlan,
    packages: int,
    notes: Sequence[str],
) -> None:
    """Print the judges, every variant, the comparison of judges, and the caveats of the stores."""
    screen = console()
    for place, judge in enumerate(plan.judges):
        mark = judged_how(judge.name, judge.is_estimate)
        what = "coverage" if not place else "another judge"
        screen.print(f"{what}: judge {safe_markup(judge.name)}, {mark}")
    screen.print(_findings_table(findings))
    screen.print(_optima_table(findings))
    if pairings:
        screen.print(_pairings_table(pairings))
    if any(finding.repetitions > 1 for finding in findings):
        if plan.many:
            screen.print(f"{packages:,} packages; under every variant, each has its own draws")
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
    for name in ("score", "best subset", "/ package"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("tau score", "tau best"):
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
                _mean_text(store.over_package),
                *(taus if not place else ("", "")),
            )
    return table


def _optima_table(findings: Sequence[VariantFinding]) -> Table:
    """Optima under each variant: their means, and means of their ratios to the base's."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("variant", overflow="fold")
    for name in ("budget", "OPT of unions", "/ base", "OPT of packages", "/ base"):
        table.add_column(name, justify="right")
    for finding in findings:
        table.add_row(
            safe_markup(finding.variant),
            short_exact(finding.budget),
            *(
                _mean_text(spread)
                for optimum in (finding.union, finding.package)
                for spread in (optimum.value, optimum.over_base)
            ),
        )
    return table


def _mean_text(spread: RatioSpread) -> str:
    return "undefined" if spread.mean is None else fixed(spread.mean)


def _pairings_table(pairings: Sequence[JudgePairing]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("judge", overflow="fold")
    table.add_column("against", overflow="fold")
    for name in ("budget", "tau score", "tau best", "same order"):
        table.add_column(name, justify="right")
    for pairing in pairings:
        table.add_row(
            safe_markup(pairing.first),
            safe_markup(pairing.second),
            short_exact(pairing.budget),
            fixed(pairing.kept_tau, 2),
            fixed(pairing.upper_tau, 2),
            "yes" if pairing.same_kept_order else "no",
        )
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
