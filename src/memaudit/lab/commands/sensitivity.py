"""`memaudit study sensitivity`: whether scores and rankings survive other choices."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

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
    model_session,
    plan_in_force,
    read_stores,
)
from memaudit.cli.terminal import console, resumable, safe_markup
from memaudit.judges.registry import named_judges, refuse_equal_judge_names
from memaudit.judges.salience import named_salience
from memaudit.judges.score_plan import ScorePlan
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.packages import package_places
from memaudit.kernel.number_text import fixed, ratio, short_exact, with_interval
from memaudit.kernel.package.provenance import assumed_text, is_estimate
from memaudit.kernel.score.judge import judged_how, refuse_shared_ids
from memaudit.kernel.score.package_scores import refuse_unnamed
from memaudit.kernel.score.pruning import named_policy
from memaudit.lab.commands.tables import plain_table
from memaudit.lab.studies.sensitivity import (
    BASIS,
    USUAL_CAPS,
    PackageSensitivity,
    SensitivityPlan,
    findings,
    sensitivity_at,
)

VARIED = ("cost", "cap")
Finding = dict[str, Any]


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
            help="What else to try: cost rules (cost=words,bytes) or group caps (cap=1,2); may be "
            "repeated, and `cap=` tries none. Default: cost=words,bytes,tokens:simple (bytes where "
            "texts have no spaces) and cap=1,2,3.",
        ),
    ] = None,
    stores_only: StoresOnly = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Test whether scores and rankings survive other choices.

    The choices are judges, cost rules and group caps.
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
            len(places) > 1,
            named_policy(policy),
            named_salience(salience or [], names, session),
            base.threads,
        )
        run = chosen_engine(base.in_one_process).map
        results: list[PackageSensitivity] = []
        with resumable("packages", len(places), None) as done:
            for result in run(partial(sensitivity_at, plan), places):
                results.append(result)
                done(len(results))
    _report(plan, results, as_json)


def _varied(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What `--vary` names, by cost or cap; what is not named keeps its default."""
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


def _report(plan: SensitivityPlan, results: Sequence[PackageSensitivity], as_json: bool) -> None:
    """Print every variant, the judges, and the caveats of the stores."""
    scored = [result for result in results if not result.not_scored]
    missing = [result for result in results if result.not_scored]
    if not scored:
        first = missing[0]
        raise MemAuditError(f"no package could be scored; {first.package!r}: {first.not_scored}")
    rows = findings([result.runs for result in scored], plan.budgets)
    assumed = max(result.assumed for result in scored)
    if as_json:
        data = {
            "judges": [{"name": by.name, "is_an_estimate": by.is_estimate} for by in plan.judges],
            "coverage_is_an_estimate": plan.judges[0].is_estimate or is_estimate([assumed]),
            "basis": BASIS,
            "packages": [
                {
                    "package": result.package,
                    "stores": result.stores,
                    "assumed_share": float(result.assumed),
                }
                for result in scored
            ],
            "not_scored": [
                {"package": result.package, "reason": result.not_scored} for result in missing
            ],
            "findings": rows,
        }
        typer.echo(json.dumps(data, indent=1))
        return
    screen = console()
    for place, judge in enumerate(plan.judges):
        mark = judged_how(judge.name, judge.is_estimate)
        what = "coverage" if not place else "another judge"
        screen.print(f"{what}: judge {safe_markup(judge.name)}, {mark}")
    screen.print(_scores_table(rows))
    screen.print(_optima_table(rows))
    if any(row["repetitions"] > 1 for row in rows):
        screen.print(
            f"{len(scored):,} packages; square brackets: the middle 95% of them; round brackets "
            "after a mean tau: packages that kept the complete order"
        )
    if assumed:
        screen.print(safe_markup(f"of OPT or of a store, up to {assumed_text(assumed)}"))
    for result in scored:
        for line in result.caveats:
            screen.print(safe_markup(f"{result.package}: {line}" if plan.many else line))
    for result in missing:
        screen.print(safe_markup(f"not scored: {result.package}: {result.not_scored}"))
    screen.print(f"optima not certified: {sum(row['uncertified_optima'] for row in rows)}")


def _scores_table(rows: Sequence[Finding]) -> Table:
    numbers = ("score", "best subset", "/ package", "tau score", "tau best")
    table = plain_table("variant", "budget", "store", *numbers, words=("store",))
    for row in rows:
        taus = [
            _tau(row[name], row["repetitions"]) for name in ("score_ranking", "best_subset_ranking")
        ]
        for place, store in enumerate(row["stores"]):
            table.add_row(
                *(_head(row) if not place else ("", "")),
                safe_markup(store["store"]),
                _spread_text(store["score"], row["repetitions"]),
                _spread_text(store["best_subset"], row["repetitions"]),
                _mean_text(store["over_package"]),
                *(taus if not place else ("", "")),
            )
    return table


def _optima_table(rows: Sequence[Finding]) -> Table:
    """Optima under each variant: their means, and means of their ratios to the base's."""
    table = plain_table("variant", "budget", "OPT of unions", "/ base", "OPT of packages", "/ base")
    for row in rows:
        optima = [
            row[f"{name}{over}"]
            for name in ("union_optimum", "package_optimum")
            for over in ("", "_over_base")
        ]
        table.add_row(*_head(row), *map(_mean_text, optima))
    return table


def _head(row: Finding) -> tuple[str, str]:
    return safe_markup(row["variant"]), short_exact(exact(row["budget"]))


def _mean_text(spread: dict[str, Any]) -> str:
    return "undefined" if spread["mean"] is None else fixed(spread["mean"])


def _spread_text(spread: dict[str, Any], repetitions: int) -> str:
    if spread["mean"] is None:
        return "undefined"
    text = ratio(spread["mean"])
    if repetitions > 1:
        text = with_interval(spread["mean"], spread["low"], spread["high"]).replace("[", r"\[")
    return text if spread["defined"] == repetitions else f"{text} of {spread['defined']}"


def _tau(ranking: dict[str, Any], repetitions: int) -> str:
    """The mean tau and, with several packages, how often the complete order stayed."""
    if ranking["tau_b"] is None:
        return "-"
    kept = f" ({ranking['same_order']} of {ranking['defined']})" if repetitions > 1 else ""
    return fixed(ranking["tau_b"], 2) + kept
