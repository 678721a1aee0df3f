"""`memaudit study sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
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
    plan_in_force,
    read_stores,
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
from memaudit.lab.commands.tables import plain_table
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

if TYPE_CHECKING:
    from memaudit.kernel.io.store_file import ExportedStore

VARIED = ("cost", "cap", "view")


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
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=A[,B...]",
            help="What else to try: cost rules (cost=words,bytes), group caps (cap=1,2) or views "
            "of exports (view=lines,full; a STORE has to be the export); may be repeated, and "
            "`cap=` tries none. Default: cost=words,bytes,tokens:simple (bytes where texts have no "
            "spaces) and cap=1,2,3.",
        ),
    ] = None,
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
        stores_only=stores_only,
        packages=len(places),
        **plan_in_force(judge),
    )
    varied = _varied(vary or ())
    exported = read_stores(stores)
    if len(places) > 1:
        refuse_unnamed(exported)
    names = [store.name for store in exported]
    with model_session(bool(base.asked_models)) as session:
        judges = named_judges(base.names, base.label_memories, session)
        refuse_equal_judge_names(judges)
        # Ids that two stores share would give one the labels of the other.
        for by in judges:
            refuse_shared_ids(by, exported)
        plan = SensitivityPlan(
            tuple(exported),
            tuple(judges),
            distinct_budgets(budget),
            varied.get("cost"),
            _group_caps(varied["cap"]) if "cap" in varied else USUAL_CAPS,
            base.group_cap,
            base.seconds,
            stores_only,
            {view: _read_views(stores, exported, view) for view in varied.get("view", ())},
            len(places) > 1,
            named_policy(policy),
            named_salience(salience or [], names, session),
            base.threads,
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


def _varied(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What `--vary` names, by cost, cap or view; what is not named keeps its default."""
    varied: dict[str, tuple[str, ...]] = {}
    for text in texts:
        what, equals, parts = text.partition("=")  # a cost rule may hold another `=`
        if what not in VARIED or not equals:
            raise MemAuditError(
                f"--vary {text!r}: write {', '.join(f'{name}=' for name in VARIED)} and what to try"
            )
        varied[what] = tuple(part.strip() for part in parts.split(",") if part.strip())
    return varied


def _group_caps(parts: Sequence[str]) -> tuple[int, ...]:
    try:
        return tuple(map(int, parts))
    except ValueError:
        raise MemAuditError("--vary cap=: give whole numbers, such as cap=1,2,3") from None


def _read_views(
    arguments: Sequence[str], stores: Sequence["ExportedStore"], view: str
) -> list["ExportedStore"]:
    """The stores again, those that are exports and have this view by it."""
    from memaudit.stores.registry import ADAPTERS, open_store, parse_argument

    seen = []
    for argument, store in zip(arguments, stores, strict=True):
        adapter = ADAPTERS.get(store.origin.format)
        if adapter is None or view not in adapter.views or store.origin.view == view:
            seen.append(store)
            continue
        again = open_store(replace(parse_argument(argument), view=view))
        seen.append(again.model_copy(update={"name": store.name, "times": store.times}))
    if not any(store.origin.view == view for store in seen):
        raise MemAuditError(f"--vary view={view}: no store has this view")
    return seen


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
    numbers = ("score", "best subset", "/ package", "tau score", "tau best")
    table = plain_table("variant", "budget", "store", *numbers, words=("store",))
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
    table = plain_table("variant", "budget", "OPT of unions", "/ base", "OPT of packages", "/ base")
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
    table = plain_table("judge", "against", "budget", "tau score", "tau best", "same order", left=2)
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
