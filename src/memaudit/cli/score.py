"""`memaudit score`: score exported stores against certified optima."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memaudit.cli.options import (
    Ask,
    ConversationNames,
    CostRule,
    JudgeNames,
    MaxCells,
    PolicyName,
    SalienceNames,
    StoresOnly,
    chosen_engine,
    kept_in,
    model_session,
    plan_in_force,
    read_stores,
    show_asked,
)
from memaudit.cli.score_packages import ManyScoring, print_packages, score_all
from memaudit.cli.score_system_limits import print_limits, print_limits_table
from memaudit.cli.score_tables import print_package
from memaudit.cli.settings import in_force
from memaudit.cli.terminal import progress, safe
from memaudit.judges.score_plan import ScorePlan
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.packages import PackagePlace, package_places, write_package
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.budgets import USUAL_BUDGETS
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.result import ScoreResult, Scoring, StoreScore
from memaudit.kernel.words.text import counted
from memaudit.stores.system_budgets import better_file, under_limits
from memaudit.workspace.overwrite import may_write, refuse_existing

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession

LIMITS, CELLS = "limits", "cells"
"""Of --budget, for the table of limits; of --explain, for every cell and lost unit."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """What is written and printed of scores."""

    out: Path | None
    better: Path | None
    save_union: Path | None
    everything: bool
    explain: tuple[str, ...]
    as_json: bool

    @property
    def cells(self) -> bool:
        """Whether every cell and lost unit is listed."""
        return CELLS in self.explain

    @property
    def ids(self) -> list[str]:
        """Units and memories to explain."""
        return [id for id in self.explain if id != CELLS]

    @property
    def of_one_package(self) -> tuple[str, ...]:
        """The parameters that one package alone can answer."""
        given = {
            "explain": self.ids,
            "save_union": self.save_union,
            "out": self.out,
            "better": self.better,
        }
        return tuple(name for name, value in given.items() if value)

    def check(self) -> None:
        """Refuse files that cannot be written, before any work is done."""
        if self.better is not None:
            refuse_existing(self.better)
        if self.save_union is not None:
            may_write(self.save_union, "package")
        if self.out is not None:
            from memaudit.show.svg_charts import check_chart

            check_chart(self.out)


def score(
    package: Annotated[
        Path | None, typer.Argument(metavar="PACKAGE", help="A package, or a folder of packages.")
    ] = None,
    stores: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="STORE",
            help="Stores written by memaudit import, or exports: [NAME=]PATH[+PATH][@VIEW]",
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="B[,B...]",
            help="Budgets: costs such as 250, shares of the conversation such as 10%, or own, the "
            "cost of each store; or the limits of a system, such as claude-code (limits lists "
            f"them). Default: {','.join(USUAL_BUDGETS)}.",
        ),
    ] = None,
    judge: JudgeNames = None,
    ask: Ask = None,
    max_cells: MaxCells = None,
    policy: PolicyName = None,
    salience: SalienceNames = None,
    cost_rule: CostRule = None,
    stores_only: StoresOnly = False,
    map: ConversationNames = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the score over all budgets, as SVG."),
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
    everything: Annotated[
        bool,
        typer.Option("--all", help="Print all numbers, each with its meaning, and kinds of units."),
    ] = False,
    explain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Explain the score of a unit or a memory; cells lists lost units and what each "
            "memory covers. May be repeated.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score stores against certified optima.

    The score is what a store keeps within the budget, over OPT of the common union: of the package
    and all stores together. A store over budget is cut by a policy, which is named.
    """
    if budget == LIMITS:
        print_limits_table(as_json)
        return
    if package is None or not stores:
        raise MemAuditError("give a PACKAGE and at least one STORE; see memaudit score --help")
    outputs = Outputs(out, better, save_union, everything, tuple(explain or ()), as_json)
    places = package_places(package)
    plan = ScorePlan.of(
        budgets=budget,
        judge=judge or None,
        ask=ask,
        max_cells=max_cells,
        policy=policy,
        salience=tuple(salience or ()),
        cost_rule=cost_rule,
        stores_only=stores_only,
        packages=len(places),
        outputs=outputs.of_one_package,
        **plan_in_force(judge),
    )
    outputs.check()
    exported = read_stores(stores, map)
    with model_session(bool(plan.asked_models)) as session:
        scorer = _Scorer(plan, exported, plan.scoring(exported, session), session)
        if len(places) > 1:
            scorer.score_many(places, outputs)
        elif plan.limits:
            scorer.score_under_limits(places[0], outputs)
        else:
            scorer.score_one(places[0], outputs)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """A plan with its stores, judges and session."""

    plan: ScorePlan
    stores: Sequence[ExportedStore]
    scoring: Scoring
    session: "ModelSession | None"

    def score_one(self, place: PackagePlace, outputs: Outputs) -> None:
        """Score one package, print it, and write what was asked for."""
        package = _with_weight(place.read())
        asking = self.plan.asking(self.session, show_asked)
        with self._watched(asking is None) as scoring:
            result = self.plan.score(package, self.stores, scoring, asking)
        if outputs.save_union is not None:
            write_package(result.union, outputs.save_union)
        print_package(result, outputs.everything, outputs.cells, outputs.ids, outputs.as_json)
        if outputs.better is not None:
            _write_better(outputs.better, result, result.rows[0])
        if outputs.out is not None:
            _draw(result, outputs.out)

    def score_under_limits(self, place: PackagePlace, outputs: Outputs) -> None:
        """Score one package under every limit of a system by itself."""
        package, limits = _with_weight(place.read()), self.plan.limits
        results = []
        # Each limit has its own measure of cost, so everything is priced again.
        for limit in limits:
            plan = self.plan.under(limit)
            scoring = replace(self.scoring, budgets=plan.asked_budgets)
            results.append(plan.score(package, self.stores, scoring))
        under = under_limits(limits, results)
        print_limits(under, results, outputs.everything, outputs.cells, outputs.as_json)
        if outputs.better is not None:
            result = results[under[0].tightest]
            _write_better(outputs.better, result, result.rows[0])

    def score_many(self, places: Sequence[PackagePlace], outputs: Outputs) -> None:
        """Score every package with the stores that were written for it."""
        plan, names = self.plan, [store.name for store in self.stores]
        asking = plan.asking(self.session)
        how = ManyScoring(tuple(self.stores), self.scoring, plan, asking, outputs.cells)
        run = chosen_engine(plan.in_one_process).map
        settings = partial(how.settings, places, plan.files(names))
        with kept_in(in_force().engine.journal, "score", settings, run) as keeping:
            scored = score_all(how, places, keeping)
        print_packages(scored, how, outputs.everything, outputs.as_json)

    @contextmanager
    def _watched(self, watch: bool) -> Iterator[Scoring]:
        """With a progress bar of draws, unless every round has draws of its own."""
        if not watch:
            yield self.scoring
            return
        with progress("draws", self.scoring.draws) as advance:
            yield replace(self.scoring, watch=lambda done, _: advance(done))


def _with_weight(package: Package) -> Package:
    if not any(package.weights.values()):
        raise MemAuditError(
            f"{package.name!r} has no unit that counts, so there is nothing to score; "
            "build it from a conversation with questions, or use memaudit quick"
        )
    return package


def _write_better(path: Path, result: ScoreResult, row: StoreScore) -> None:
    from memaudit.kernel.io.atomic import write_file

    if not row.optimum.store:
        raise MemAuditError("nothing within this budget is worth anything, so no file is written")
    write_file(path, better_file(result, row))
    count = counted(len(row.optimum.store), "memory")
    proven = "certified" if row.optimum.certified else "not certified"
    typer.echo(safe(f"a better file, {count}, {proven} for these units: {path}"), err=True)


def _draw(result: ScoreResult, picture: Path) -> None:
    from memaudit.show.svg_charts import write_score_chart

    with progress("frontiers", len(result.stores) + 1) as done:
        write_score_chart(result, picture, done)
