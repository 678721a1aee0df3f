"""Stores of a package at one budget beside OPT, as table rows and for scripts."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from memaudit.lab.explorer import addresses
from memaudit.lab.explorer.library.packages import IndexedPackage
from memaudit.lab.explorer.library.records import ScoreLine
from memaudit.lab.explorer.views.optima import KnownFrontier
from memaudit.lab.explorer.views.package_data import number_text, shown
from memaudit.lab.explorer.views.package_stores import (
    RunStore,
    ScoreInFile,
    SystemStore,
    system_store,
)
from memaudit.lab.explorer.views.store_comparison import ComparableStore, StoreComparison, compare
from memaudit.show.encoding import Look
from memaudit.show.page_charts import Member


@dataclass(frozen=True, slots=True)
class OptStore:
    """OPT at a budget. `value` is 0 if it is not proven, since a ratio needs a proof."""

    store: ComparableStore
    budget: Fraction
    value: Fraction


@dataclass(frozen=True, slots=True)
class StoreTableRow:
    """One store and how it compares with OPT. `store` is None while its writer is running.

    `source` is the run or the file it is from, `page` the store's own page, `scores` are those at
    this budget, labelled ones first.
    """

    member: Member
    store: ComparableStore | None
    comparison: StoreComparison | None = None
    over_budget: bool = False
    ratio: float | None = None
    source: str = ""
    page: str = ""
    scores: tuple[ScoreInFile, ...] = ()
    union: str = ""
    """The union whose scores are ranked: those of another have another denominator."""

    @property
    def ranked(self) -> ScoreInFile | None:
        """The score that counts for the store, with its file."""
        of_union = (pair for pair in self.scores if pair[1].file.union_digest == self.union)
        return next(of_union, None)

    @property
    def scored(self) -> ScoreLine | None:
        return self.ranked[1] if self.ranked else None

    @property
    def other_scores(self) -> list[ScoreInFile]:
        return [pair for pair in self.scores if pair is not self.ranked]

    @property
    def rank(self) -> tuple[int, float]:
        """The best first: by labelled scores, by estimates, by ratio; then stores over the budget,
        pending ones, failed ones."""
        if self.scored is not None:
            estimated = self.scored.file.coverage_is_an_estimate
            return -1 if estimated else -2, -(self.scored.score.score or 0.0)
        if self.store is None:
            return 2, 0.0
        if self.comparison is None:
            return 3, 0.0
        return int(self.over_budget), -(self.ratio or 0.0)


def store_table_row(
    indexed: IndexedPackage,
    best: OptStore,
    member: Member,
    store: ComparableStore | None,
    source: str = "",
) -> StoreTableRow:
    """A store compared with OPT. A store over the budget has no ratio."""
    if store is None or store.failed:
        return StoreTableRow(member, store, source=source)
    comparison = compare(indexed.package, best.store, store)
    over = comparison.cost > best.budget
    ratio = float(comparison.value / best.value) if best.value and not over else None
    return StoreTableRow(member, store, comparison, over, ratio, source)


def run_rows(
    indexed: IndexedPackage, best: OptStore, rows: Iterable[RunStore]
) -> list[StoreTableRow]:
    """What writers kept in runs. The same store in several runs is one row."""
    groups: dict[tuple[str, tuple[str, ...], str], list[RunStore]] = {}
    for row in rows:
        if row.budget == best.budget:
            groups.setdefault((row.member.name, row.store, row.failed), []).append(row)
    return [
        store_table_row(
            indexed,
            best,
            same[0].member,
            indexed.candidate_store(same[0].member.label, same[0].store, same[0].failed),
            f"run {', '.join(dict.fromkeys(row.run.name for row in same))}",
        )
        for same in groups.values()
    ]


def system_rows(
    indexed: IndexedPackage,
    best: OptStore,
    systems: Iterable[SystemStore],
    look: Callable[[str], Look],
) -> list[StoreTableRow]:
    """What systems wrote, each with its place, since two may have the same name.

    The scores of one union are ranked, that of the most stores; labelled ones before estimates.
    """
    rows: list[StoreTableRow] = []
    for system in systems:
        name = system.store.name
        row = store_table_row(
            indexed,
            best,
            Member(name, name, "", "deployable", look(name)),
            system_store(indexed, system),
            system.entry.place,
        )
        scores = system.scored(indexed, best.budget)
        rows.append(replace(row, page=addresses.store(system.entry.slug), scores=scores))
    counts = Counter(
        (not line.file.coverage_is_an_estimate, line.file.union_digest)
        for row in rows
        for line in {line.file.union_digest: line for _, line in row.scores}.values()
    )
    if not counts:
        return rows
    _, union = max(counts, key=lambda key: (key[0], counts[key], key[1]))
    return [replace(row, union=union) for row in rows]


MOST_BUDGETS = 6
"""Budgets at which pages show stores and proofs."""


def shown_budgets(frontier: KnownFrontier) -> list[Fraction]:
    """Budgets at which pages show stores and proofs: those given, then some of the others, spread
    evenly."""
    chosen = list(frontier.given)[:MOST_BUDGETS]
    steps = (step.budget for step in frontier.steps)
    others = [step for step in steps if step not in chosen and step > 0]
    room = MOST_BUDGETS - len(chosen)
    if room > 0 and others:
        count = min(room, len(others))
        chosen += [others[(2 * place + 1) * len(others) // (2 * count)] for place in range(count)]
    return sorted(set(chosen))


def first_budget(frontier: KnownFrontier) -> Fraction:
    """The budget whose stores a page shows at first: the middle one of those given, or of all."""
    budgets = frontier.given[:MOST_BUDGETS] or shown_budgets(frontier)
    return budgets[(len(budgets) - 1) // 2] if budgets else Fraction(0)


def frontier_data(indexed: IndexedPackage, frontier: KnownFrontier) -> dict[str, Any]:
    """Steps for a script, each with the candidates that enter and leave the store."""
    steps, before = [], frozenset[int]()
    for step in frontier.steps:
        now = frozenset(indexed.candidate_at[id] for id in step.store)
        steps.append(
            {
                "budget": number_text(step.budget),
                "b": float(step.budget),
                "value": number_text(step.value),
                "v": float(step.value),
                "in": sorted(now - before),
                "out": sorted(before - now),
                "certified": step.certified,
                "bound": float(step.bound),
            }
        )
        before = now
    return {
        "steps": steps,
        "whole": frontier.is_complete,
        "note": frontier.note,
        "given": [number_text(budget) for budget in frontier.given],
        "total": float(indexed.total_weight),
    }


def store_data(indexed: IndexedPackage, store: ComparableStore) -> dict[str, Any]:
    """A store for a script: places of candidates, or a system's own memories."""
    data: dict[str, Any] = {
        "value": float(store.value(indexed.package)),
        "cost": float(store.cost),
        "failed": shown(store.failed),
        "estimate": store.is_estimate,
        "notes": [shown(note) for note in store.notes],
    }
    if all(item.is_candidate for item in store.items):
        data["store"] = [indexed.candidate_at[item.id] for item in store.items]
        return data
    data["memories"] = [
        {
            "id": shown(item.id, 60),
            "text": shown(item.text),
            "cost": float(item.cost),
            "cells": sorted(
                [indexed.unit_at[unit], float(value)] for unit, value in item.cells.items()
            ),
        }
        for item in store.items
    ]
    return data


def writer_data(member: Member) -> dict[str, str]:
    """A writer in the list of stores to compare with."""
    look = "sign hollow" if member.look.hollow else "sign"
    return {
        "name": shown(member.name, 80),
        "label": shown(member.label, 80),
        "group": member.group,
        "about": shown(member.about),
        "sign": member.look.path,
        "look": f"{look} hue{member.look.tone}",
    }


def run_rows_data(indexed: IndexedPackage, rows: Iterable[RunStore]) -> list[dict[str, Any]]:
    """Rows of runs for a script, their stores as places of candidates."""
    return [
        {
            "run": shown(row.run.name, 80),
            "writer": writer_data(row.member),
            "seed": row.seed,
            "budget": number_text(row.budget),
            "b": float(row.budget),
            "ratio": row.ratio,
            "value": row.value,
            "failed": shown(row.failed),
            "cost": float(indexed.package.total_cost(row.store)),
            "store": sorted(indexed.candidate_at[id] for id in row.store),
        }
        for row in rows
    ]
