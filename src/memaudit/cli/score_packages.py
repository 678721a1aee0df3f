"""`memaudit score` over many packages: scored in any process, printed together."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from memaudit.board.board_of_scores import board_of_scores
from memaudit.board.board_page import board_data
from memaudit.building.named_packages import NamedPlace, contents_of
from memaudit.cli.board import show_board, show_denominators
from memaudit.cli.score_tables import (
    Kinds,
    ScoreLine,
    VerdictLine,
    print_cells,
    print_kinds,
    print_scores,
    score_lines,
    verdict_lines,
)
from memaudit.cli.terminal import console, resumable, safe_markup
from memaudit.judges.asking import AskPlan, score_asking
from memaudit.judges.score_plan import ScorePlan
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.packages import PackagePlace
from memaudit.kernel.io.score_file import FORMAT, VERSION
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.score.loss_diagnosis import KindRow, pool_kind_rows
from memaudit.kernel.score.package_scores import (
    Unscored,
    refuse_unnamed,
    score_matching_stores,
    unknown_examples,
    written_for,
)
from memaudit.kernel.score.result import Scoring
from memaudit.kernel.score.score_files import entries_of
from memaudit.kernel.score.score_json import kinds_data, package_scores_data
from memaudit.workspace.task_journal import TaskRunner


@dataclass(frozen=True, slots=True)
class ManyScoring:
    """The stores, how they are scored, and whether every cell is printed."""

    stores: tuple[ExportedStore, ...]
    scoring: Scoring
    plan: ScorePlan
    asking: AskPlan | None
    cells: bool

    def settings(self, places: Sequence[PackagePlace], files: Sequence[Path]) -> dict[str, Any]:
        """Everything that decides the results; `files` are those that judges and policies read."""
        scoring, plan = self.scoring, self.plan
        budgets = scoring.budgets
        return {
            "packages": contents_of(places),
            "stores": [[store.name, store.digest] for store in self.stores],
            "budgets": budgets and [asked.text for asked in budgets],
            "judge": scoring.judge_name,
            "judge_digest": scoring.judge_digest,
            "policy": scoring.policy,
            "salience": scoring.salience.names,
            "draws": scoring.draws,
            "files": [content_digest(file) for file in files],
            "group_cap": scoring.group_cap,
            "seconds": scoring.seconds,
            "trust_package_cells": scoring.trust_package_cells,
            "ask": self.asking and [self.asking.judge.name, self.asking.max_cells],
            "cost_rule": plan.cost_rule,
            "stores_only": plan.stores_only,
            "cells": self.cells,
        }


@dataclass(frozen=True, slots=True)
class ScoredPackage:
    """Everything that is printed of one package; `data` is its file, if it has scores."""

    data: dict[str, Any] | None
    verdicts: tuple[VerdictLine, ...]
    lines: tuple[ScoreLine, ...]
    warnings: tuple[str, ...]
    not_scored: tuple[Unscored, ...]
    written_for: tuple[tuple[str, str], ...]
    """The stores that were written for it, and what they call it."""


def score_all(
    how: ManyScoring, places: Sequence[NamedPlace], run: TaskRunner
) -> list[ScoredPackage]:
    """All packages, with a progress bar."""
    refuse_unnamed(how.stores)
    scored: list[ScoredPackage] = []
    with resumable("packages", len(places), None) as done:
        for package in run(partial(score_at, how), places):
            scored.append(package)
            done(len(scored))
    return scored


def score_at(how: ManyScoring, place: NamedPlace) -> ScoredPackage:
    """One package with the stores that were written for it."""
    package = how.plan.prepared(place.read())
    own = written_for(package, how.stores)
    asking = how.asking
    together = None if asking is None else partial(score_asking, scoring=how.scoring, plan=asking)
    data, verdicts, lines = None, list[VerdictLine](), list[ScoreLine]()
    warnings, missing = list[str](), list[Unscored]()
    for result in score_matching_stores(package, how.stores, own, how.scoring, together):
        if isinstance(result, Unscored):
            missing.append(result)
            continue
        data = package_scores_data(result, how.cells)
        verdicts += verdict_lines(result)
        lines += score_lines(result, how.cells)
        warnings += [f"{package.name}: {line}" for line in result.warnings]
    named = ((store, example) for store, examples in own.items() for example in examples)
    return ScoredPackage(
        data, tuple(verdicts), tuple(lines), tuple(warnings), tuple(missing), tuple(named)
    )


MOST_UNSCORED = 20


def print_packages(
    scored: Sequence[ScoredPackage], how: ManyScoring, everything: bool, as_json: bool
) -> None:
    """Print rows of every package, means over packages, and what was not scored."""
    found = {pair for one in scored for pair in one.written_for}
    missing = [
        *unknown_examples(how.stores, found),
        *(row for one in scored for row in one.not_scored),
    ]
    files = [one.data for one in scored if one.data is not None]
    if not files:
        first = f"; {missing[0].package!r}: {missing[0].reason}" if missing else ""
        raise MemAuditError(f"no package could be scored{first}")
    unscored = [
        {"package": item.package, "store": item.store, "reason": item.reason} for item in missing
    ]
    lines = [line for one in scored for line in one.lines]
    means = board_of_scores(entries_of([(file["package"], file) for file in files], unscored))
    kinds = _pooled_kinds(lines)
    if as_json:
        data = {
            "format": FORMAT,
            "version": VERSION,
            "packages": files,
            "not_scored": unscored,
            "summary": board_data(means),
            "unit_kinds": [
                {"store": store, "budget": budget, "kinds": kinds_data(group)}
                for store, budget, group in kinds
            ],
        }
        typer.echo(json.dumps(data, indent=1))
        return
    screen = console()
    for one in scored if how.cells else ():
        if one.data is not None:
            screen.print(safe_markup(f"package {one.data['package']}"))
            print_cells(screen, one.lines, one.data["cells"])
    verdicts = [line for one in scored for line in one.verdicts]
    print_scores(screen, how.scoring, verdicts, lines, everything)
    for line in (warning for one in scored for warning in one.warnings):
        screen.print(safe_markup(line))
    show_board(means)
    if everything:
        show_denominators(means)
        print_kinds(screen, kinds)
        screen.print("values are summed over packages")
    for item in missing[:MOST_UNSCORED]:
        what = item.package if item.store is None else f"{item.store} on {item.package}"
        screen.print(safe_markup(f"not scored: {what}: {item.reason}"))
    if len(missing) > MOST_UNSCORED:
        screen.print(f"not scored: {len(missing) - MOST_UNSCORED:,} more")


def _pooled_kinds(lines: Sequence[ScoreLine]) -> list[Kinds]:
    """Kind rows summed over packages, by budget and store."""
    groups: dict[tuple[str, str], list[KindRow]] = {}
    for line in lines:
        groups.setdefault((line.asked, line.store), []).extend(line.kinds)
    return [
        (store, asked, pool_kind_rows(kinds)) for (asked, store), kinds in sorted(groups.items())
    ]
