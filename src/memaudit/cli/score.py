"""`memaudit score`: score exported stores against certified optima."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.adapters.store import ExportedStore
from memaudit.cli.options import (
    NO_ENGINE,
    NO_LAZY,
    NO_SESSION,
    NO_STORE_OPTIONS,
    CostRule,
    Draws,
    EngineOptions,
    Escalate,
    GroupCap,
    JournalFile,
    LabelMemories,
    LazyOptions,
    PackagesPath,
    PolicyName,
    QuerySalienceNames,
    SalienceNames,
    Seconds,
    SessionOptions,
    StoreArguments,
    StoreOptions,
    StoresOnly,
    Threads,
    TrustPackageCells,
    escalation_plan,
    judge_files,
    judging_session,
    kept_in,
    lazy_plan,
    place_of,
    read_stores,
    spread,
)
from memaudit.cli.score_tables import (
    explained_lines,
    print_cells,
    print_kinds,
    print_scores,
    score_lines,
)
from memaudit.cli.terminal import console, progress, safe, safe_markup
from memaudit.core.budgets import USUAL_BUDGETS, asked_budgets
from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted
from memaudit.io.overwrite import may_write, refuse_existing
from memaudit.io.packages import package_places, write_package
from memaudit.scoring.escalation import Goal, score_and_escalate
from memaudit.scoring.judge import Judge, goes_by_id, refuse_shared_ids
from memaudit.scoring.judges import DEFAULT_JUDGE, named_judge, named_judges
from memaudit.scoring.limits import (
    Limit,
    better_file,
    is_limit,
    named_limits,
    under_limits,
)
from memaudit.scoring.loss_diagnosis import NoDiagnosis
from memaudit.scoring.package_scores import prepared, score_package
from memaudit.scoring.pruning import named_policy
from memaudit.scoring.result import DRAWS, ScoreResult, Scoring, StoreScore
from memaudit.scoring.salience import named_salience, salience_files
from memaudit.scoring.score_json import cells_data, explanation
from memaudit.scoring.score_json import package_scores_data as package_data
from memaudit.scoring.writing_cost import writing_cost

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


@spread
def score(
    package: PackagesPath,
    stores: StoreArguments,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="B[,B...]",
            help="Budgets: costs such as 250, shares of the conversation such as 10%, or own, the "
            "cost of each store; or the limits of a system, such as claude-code (memaudit limits "
            f"lists them). Default: {','.join(USUAL_BUDGETS)}.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Decides coverage: offline (an estimate with its error), lexical, "
            "pointer, labels:FILE[,FILE...], calls:FILE or model:NAME; repeat it to give "
            "one file per store, in their order. Default: offline.",
        ),
    ] = None,
    label_memories: LabelMemories = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    query_salience: QuerySalienceNames = None,
    cost_rule: CostRule = None,
    group_cap: GroupCap = None,
    seconds: Seconds = None,
    threads: Threads = None,  # noqa: ARG001 - its callback sets them
    trust_package_cells: TrustPackageCells = False,
    store_options: StoreOptions = NO_STORE_OPTIONS,
    stores_only: StoresOnly = False,
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy", help="Judge only the cells that scores and optima rest on, in rounds."
        ),
    ] = False,
    lazy_options: LazyOptions = NO_LAZY,
    draws: Draws = DRAWS,
    escalate: Escalate = None,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            help="escalate: until no interval is wider than W. Default: until the order of several "
            "stores is clear, or 0.1 for one store.",
        ),
    ] = None,
    better: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the best store of the union at the first budget, as a Markdown list.",
        ),
    ] = None,
    save_union: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the package with the memories of all stores, as judged."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the score over all budgets, as SVG."),
    ] = None,
    tokens_picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw the value kept against the tokens that writing took."
        ),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Print all numbers, each with its meaning, and kinds of units."),
    ] = False,
    show_cells: Annotated[
        bool,
        typer.Option(
            "--show-cells", help="List lost units, and the units that each memory covers."
        ),
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID", help="Explain the score of a unit or a memory; may be repeated."
        ),
    ] = None,
    engine_options: EngineOptions = NO_ENGINE,
    journal: JournalFile = None,
    options: SessionOptions = NO_SESSION,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores against certified optima.

    The score is what a store keeps within the budget, over OPT of the common union: of the package
    and all stores together. A store over budget is cut by a policy, which is named.
    """
    limits = named_limits(budget) if budget is not None and is_limit(budget) else []
    drawn = picture or tokens_picture
    if limits and (cost_rule is not None or lazy or escalate is not None or drawn):
        raise MemAuditError(
            f"--budget {budget} brings its own cost rule and is solved limit by limit; leave out "
            "--cost-rule, --lazy, --escalate and pictures"
        )
    if better is not None:
        refuse_existing(better)
    budgets = None if budget is None or limits else asked_budgets(budget)
    names = judge or [DEFAULT_JUDGE]
    places = package_places(package)
    for option, given in {
        "--explain": explain,
        "--save-union": save_union,
        "--picture": picture,
        "--tokens-picture": tokens_picture,
        "--better": better,
        f"--budget {budget}": limits,
    }.items():
        if given and len(places) > 1:
            raise MemAuditError(f"{option} needs a single package; score one package at a time")
    asking = [f"--judge {name}" for name in names if name.startswith("model:")]
    asking += ["--escalate"] if escalate else []
    by_salience = [*(salience or []), *(query_salience or [])]
    asking += [f"--salience {name}" for name in by_salience if name.startswith("model:")]
    run = engine_options.chosen("--lazy" if lazy else next(iter(asking), "")).map
    exported = read_stores(stores, store_options)
    if save_union is not None:
        may_write(save_union, "package")
    asks_less = lazy or (escalate and lazy_options.filter == NO_LAZY.filter)
    if not asks_less and lazy_options != NO_LAZY:
        raise MemAuditError(
            "--filter and --max-cells go with --lazy, --max-cells with --escalate too"
        )
    _check_escalation(escalate, width, lazy, len(places))
    for image in (picture, tokens_picture):
        if image is not None:
            _check_picture(image)
    wanted = [*names, *([escalate] if escalate else []), *by_salience]
    with judging_session(wanted, options, place_of(stores[0])) as session:
        judges = _judges(names, label_memories, exported, session)
        known = [store.name for store in exported]
        scores = named_salience(salience or [], query_salience or [], known, session)
        first = next(iter(judges.values()))
        if lazy and (goes_by_id(first) or names[0] == "pointer"):
            raise MemAuditError(
                "--lazy needs a judge that goes by texts: model:NAME, lexical, or labels:FILE with "
                "the texts of memories or --label-memories"
            )
        if lazy and names[0].startswith("offline"):
            raise MemAuditError(
                "--lazy saves questions to a judge, and the offline judge judges all cells at "
                "once; leave it out, or use --escalate model:NAME"
            )
        many = len(places) > 1
        packages = (
            []
            if many and not lazy
            else [prepared(place.read(), cost_rule, stores_only) for place in places]
        )
        plan = lazy_plan(lazy_options, packages, first, session) if lazy else None
        scoring = Scoring(
            budgets,
            judges,
            scores,
            group_cap,
            seconds,
            trust_package_cells,
            plan,
            named_policy(policy),
            draws,
        )
        if many:
            from memaudit.cli.score_packages import ManyScoring, print_packages, score_all

            how = ManyScoring(tuple(exported), scoring, cost_rule, stores_only, show_cells)
            files = [
                *judge_files(names, label_memories),
                *salience_files(by_salience, stores=known),
            ]
            with kept_in(journal, "score", partial(how.settings, places, files), run) as keeping:
                scored = score_all(how, places, keeping)
            print_packages(scored, how, everything, as_json)
            return
        if journal is not None:
            raise MemAuditError("--journal needs several packages; one is scored at once")
        if not any(packages[0].weights.values()):
            raise MemAuditError(
                f"{packages[0].name!r} has no unit that counts, so there is nothing to score; "
                "build it from a conversation with questions, or use memaudit quick"
            )
        if limits:
            read = places[0].read()
            found = [
                score_package(
                    prepared(read, limit.rule, stores_only),
                    exported,
                    replace(scoring, budgets=asked_budgets(str(limit.most))),
                )
                for limit in limits
            ]
            print_limits(limits, found, better, everything, show_cells, as_json)
            return
        if escalate is not None:
            goal = Goal(width=0.1 if width is None and len(exported) == 1 else width)
            asked = escalation_plan(escalate, goal, lazy_options.max_cells, session)
            results = score_and_escalate(packages[0], exported, scoring, asked)
        else:
            with progress("draws", draws) as advance:
                watched = replace(scoring, watch=lambda done, _: advance(done))
                results = score_package(packages[0], exported, watched)
        if save_union is not None:
            write_package(results.union, save_union)
        print_package(results, everything, show_cells, explain or [], as_json)
        if better is not None:
            _write_better(better, results, results.rows[0])
        if picture is not None:
            _draw(results, picture)
        if tokens_picture is not None:
            from memaudit.report.figures.tokens_spent import write_tokens_figure

            write_tokens_figure(results, tokens_picture)


def print_limits(
    limits: Sequence[Limit],
    results: Sequence[ScoreResult],
    better: Path | None,
    everything: bool,
    cells: bool,
    as_json: bool,
) -> None:
    """Every limit of a system by itself, then what all of them together allow."""
    found = under_limits(limits, results)
    if as_json:
        rows = [
            {
                "system": limit.system,
                "limit": limit.most,
                "unit": limit.unit,
                "rule": limit.rule,
                "source": limit.source,
                "looked_up": limit.looked_up,
                "scores": package_data(result, cells),
            }
            for limit, result in zip(limits, results, strict=True)
        ]
        stores = [
            {"store": one.store, "score": None if one.score is None else float(one.score)}
            for one in found
        ]
        typer.echo(json.dumps({"limits": rows, "under_all": stores}, indent=1))
    else:
        for limit, result in zip(limits, results, strict=True):
            typer.echo(safe(f"{limit.text} ({limit.source}, {limit.looked_up})"))
            print_package(result, everything, cells, [], as_json=False)
        for one in found:
            tight = one.limits[one.tightest]
            certified = one.rows[one.tightest].optimum.certified
            proven = "certified" if certified else "not certified"
            kept = "has no score" if one.score is None else f"keeps {float(one.score):.3f}"
            at_least = (
                "at least, since each limit was solved by itself; " if len(limits) > 1 else ""
            )
            typer.echo(
                safe(
                    f"{one.store} {kept} of what {tight.most:,} {tight.unit} of {tight.system} "
                    f"could hold ({at_least}OPT {proven} for these units)"
                )
            )
    if better is not None:
        place = found[0].tightest
        _write_better(better, results[place], results[place].rows[0])


def _write_better(path: Path, result: ScoreResult, row: StoreScore) -> None:
    from memaudit.io.atomic import write_file

    if not row.optimum.store:
        raise MemAuditError("nothing within this budget is worth anything, so no file is written")
    write_file(path, better_file(result, row))
    count = counted(len(row.optimum.store), "memory")
    proven = "certified" if row.optimum.certified else "not certified"
    typer.echo(safe(f"a better file, {count}, {proven} for these units: {path}"), err=True)


def _check_escalation(escalate: str | None, width: float | None, lazy: bool, places: int) -> None:
    if escalate is None:
        if width is not None:
            raise MemAuditError("--width goes with --escalate")
        return
    if width is not None and not 0 < width <= 1:
        raise MemAuditError(f"--width must be above 0 and at most 1, not {width:g}")
    if lazy:
        raise MemAuditError("give --lazy or --escalate: both choose which cells are asked about")
    if places > 1:
        raise MemAuditError("--escalate needs a single package; score one package at a time")


def _check_picture(picture: Path) -> None:
    from memaudit.report.svg_charts import check_chart

    check_chart(picture)


def _draw(results: ScoreResult, picture: Path) -> None:
    from memaudit.report.svg_charts import write_score_chart

    with progress("frontiers", len(results.stores) + 1) as done:
        write_score_chart(results, picture, done)


def _judges(
    names: Sequence[str],
    memories: Path | None,
    stores: Sequence[ExportedStore],
    session: "ModelSession | None",
) -> dict[str, Judge]:
    """The judge of each store: one for all, or one file of labels or calls per store."""
    if len(names) == 1:
        judge = named_judge(names[0], memories, session)
        refuse_shared_ids(judge, stores)
        return {store.name: judge for store in stores}
    kinds = {name.partition(":")[0] for name in names}
    if len(names) != len(stores) or len(kinds) > 1 or not kinds <= {"labels", "calls"}:
        raise MemAuditError(
            "give one judge for all stores, or one labels:FILE or calls:FILE per store, in their "
            "order; memaudit study sensitivity compares judges"
        )
    by_file = named_judges(names, memories, session)
    return {store.name: judge for store, judge in zip(stores, by_file, strict=True)}


def print_package(
    scores: ScoreResult, everything: bool, cells: bool, ids: Sequence[str], as_json: bool
) -> None:
    explained = [explanation(id, scores) for id in ids]
    if as_json:
        for line in scores.caveats:
            typer.echo(safe(line), err=True)
        data = package_data(scores, cells)
        typer.echo(json.dumps({**data, "explained": explained} if ids else data, indent=1))
        return
    screen = console()
    print_scores(screen, scores.scoring, score_lines(scores), everything)
    for line in scores.warnings:
        screen.print(safe_markup(line))
    for line in advice_lines(scores.rows):
        screen.print(safe_markup(line))
    for store in scores.exported:
        if (cost := writing_cost(store, scores.package.name)) is not None:
            screen.print(safe_markup(f"{store.name} was written with {cost.text}"))
    if everything:
        print_kinds(screen, [(row.store, row.at, row.kinds) for row in scores.rows])
    if cells:
        print_cells(screen, score_lines(scores, lost=True), cells_data(scores))
    for data in explained:
        for line in explained_lines(data):
            screen.print(safe_markup(line))
    if not everything:
        screen.print("--all prints the other numbers and the kinds of units, each with its meaning")


def advice_lines(rows: Sequence[StoreScore]) -> list[str]:
    """What each store could improve, and at which budgets; or why there is no diagnosis."""
    places: dict[tuple[str, str], list[str]] = {}
    lines: list[str] = []
    for row in rows:
        if isinstance(row.diagnosis, NoDiagnosis):
            lines.append(str(row.diagnosis))
            continue
        near = ""
        if not row.diagnosis.is_exact:
            precision = float(row.diagnosis.precision)
            near = f" (losses to within {precision:.0e}: some h is irrational)"
        places.setdefault((row.store, f"{row.diagnosis.advice}{near}"), []).append(row.at)
    lines += [f"{store} at {', '.join(at)}: {text}" for (store, text), at in places.items()]
    return lines
