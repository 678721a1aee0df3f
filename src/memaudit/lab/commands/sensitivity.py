"""`memaudit study sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

from memaudit.cli.options import (
    Budgets,
    PackagesPath,
    PolicyName,
    SalienceNames,
    StoreArguments,
    StoresOnly,
    chosen_engine,
    distinct_budgets,
    kept_in,
    model_session,
    place_of,
    plan_in_force,
    read_stores,
    read_views,
)
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import console, resumable, safe_markup
from memaudit.judges.registry import named_judges, refuse_equal_judge_names
from memaudit.judges.salience import named_salience
from memaudit.judges.score_plan import ScorePlan
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import package_places
from memaudit.kernel.number_text import fixed, ratio, short_exact, with_interval
from memaudit.kernel.package.provenance import assumed_text, is_estimate
from memaudit.kernel.score.judge import judged_how, refuse_shared_ids
from memaudit.kernel.score.package_scores import refuse_unnamed
from memaudit.kernel.score.pruning import named_policy
from memaudit.lab.studies.package_sensitivity import (
    USUAL_CAPS,
    PackageSensitivity,
    SensitivityPlan,
    sensitivity_at,
)
from memaudit.lab.studies.sensitivity import (
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


def sensitivity(
    package: PackagesPath,
    stores: StoreArguments,
    budget: Budgets,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Decides coverage, as in memaudit score; may be repeated. The first is the base, "
            "the others are variants.",
        ),
    ] = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    cost_rule: Annotated[
        str | None,
        typer.Option(metavar="RULE", help="Cost rule of the base. Default: the package's."),
    ] = None,
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
    ] = ",".join(map(str, USUAL_CAPS)),
    views: Annotated[
        str,
        typer.Option(
            metavar="V[,V...]",
            help="Views of exports to try, such as lines,full; a STORE has to be the export.",
        ),
    ] = "",
    stores_only: StoresOnly = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether scores and rankings survive other choices.

    The choices are judges, cost rules, group caps and views of an export.
    """
    places = package_places(package)
    base = ScorePlan.of(
        judge=judge or None,
        policy=policy,
        salience=tuple(salience or ()),
        cost_rule=cost_rule,
        stores_only=stores_only,
        packages=len(places),
        **plan_in_force(judge),
    )
    caps = _group_caps(group_caps)
    exported = read_stores(stores)
    if len(places) > 1:
        refuse_unnamed(exported)
    names = [store.name for store in exported]
    with model_session(bool(base.asked_models), place_of(stores[0])) as session:
        judges = named_judges(base.names, base.label_memories, session)
        refuse_equal_judge_names(judges)
        for by in judges:
            refuse_shared_ids(by, exported)
        plan = SensitivityPlan(
            tuple(exported),
            tuple(judges),
            distinct_budgets(budget),
            None if cost_rules is None else _parts(cost_rules),
            caps,
            base.group_cap,
            base.seconds,
            cost_rule,
            stores_only,
            {view: read_views(stores, exported, view) for view in _parts(views)},
            len(places) > 1,
            named_policy(policy),
            named_salience(salience or [], names, session),
        )
        run = chosen_engine(base.in_one_process).map
        settings = partial(plan.settings, places, base.files(names))
        results: list[PackageSensitivity] = []
        with (
            kept_in(in_force().engine.journal, "sensitivity", settings, run) as keeping,
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


def _group_caps(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in _parts(text))
    except ValueError:
        raise MemAuditError(f"--group-caps {text!r}: give whole numbers, such as 1,2,3") from None


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
        screen.print(
            f"{packages:,} packages; square brackets: the middle 95% of them; round brackets after "
            "a mean tau: packages that kept the complete order"
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
