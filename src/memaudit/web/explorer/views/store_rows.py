"""Stores of a package at one budget beside OPT, as table rows and for scripts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.report.writer_groups import Member
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.library.score_file import Line as Score
from memaudit.web.explorer.views.optima import Frontier
from memaudit.web.explorer.views.package_data import number_text, shown
from memaudit.web.explorer.views.package_stores import RunStore, System
from memaudit.web.explorer.views.store_comparison import (
    Comparison,
    Held,
    compare,
    of_candidates,
    of_system,
)


def frontier_data(opened: Opened, found: Frontier) -> dict[str, Any]:
    """Steps with what comes in and goes out: stores of neighbours differ little."""
    steps, before = [], frozenset[int]()
    for step in found.steps:
        now = frozenset(opened.candidate_at[id] for id in step.store)
        steps.append({
            "budget": number_text(step.budget), "b": float(step.budget),
            "value": number_text(step.value), "v": float(step.value),
            "in": sorted(now - before), "out": sorted(before - now),
            "certified": step.certified, "bound": float(step.bound),
        })  # fmt: skip
        before = now
    return {
        "steps": steps, "whole": found.whole, "note": found.note,
        "given": [number_text(budget) for budget in found.given],
        "total": float(opened.total_weight),
    }  # fmt: skip


def held_data(opened: Opened, held: Held) -> dict[str, Any]:
    """A store: places of candidates, or a system's own memories."""
    items = [item.candidate for item in held.items]
    data: dict[str, Any] = {
        "value": float(held.value(opened)), "cost": float(held.cost),
        "failed": shown(held.failed), "estimate": held.is_estimate,
        "notes": [shown(note) for note in held.notes],
    }  # fmt: skip
    if held.is_estimate or None in items:
        data["memories"] = [
            {"id": shown(item.id, 60), "text": shown(item.text), "cost": float(item.cost),
             "cells": [[place, float(value)] for place, value in sorted(item.cells.items())]}
            for item in held.items
        ]  # fmt: skip
    else:
        data["store"] = items
    return data


def writer_data(member: Member) -> dict[str, str]:
    """A writer in the list of stores to compare with."""
    return {"name": shown(member.name, 80), "label": shown(member.label, 80),
            "group": member.group, "about": shown(member.about)}  # fmt: skip


def rows_data(opened: Opened, rows: Iterable[RunStore]) -> list[dict[str, Any]]:
    """Rows of runs: their stores by place."""
    return [
        {
            "run": shown(row.run.name, 80), "writer": writer_data(row.member), "seed": row.seed,
            "budget": number_text(row.budget), "b": float(row.budget), "ratio": row.ratio,
            "value": row.value, "failed": shown(row.failed),
            "cost": float(opened.package.total_cost(row.store)),
            "store": sorted(opened.candidate_at[id] for id in row.store),
        }
        for row in rows
    ]  # fmt: skip


def spread(steps: Sequence[Fraction], given: Sequence[Fraction], most: int) -> list[Fraction]:
    """Budgets at which a bundle holds every writer's store: those given, then some of the others,
    evenly chosen."""
    chosen = list(dict.fromkeys(given))[:most]
    others = [step for step in steps if step not in chosen and step > 0]
    room = most - len(chosen)
    if room > 0 and others:
        count = min(room, len(others))
        chosen += [others[(2 * place + 1) * len(others) // (2 * count)] for place in range(count)]
    return sorted(set(chosen))


@dataclass(frozen=True, slots=True)
class Best:
    """OPT at a budget; `value` is 0 where it is not proven, since a ratio needs a proof."""

    held: Held
    budget: Fraction
    value: Fraction


@dataclass(frozen=True, slots=True)
class Line:
    """One store: who kept it, and how it compares. `held` is None while its writer is at work.
    `source` is the run or the file it is from, `page` the store's own, `scores` are those at this
    budget."""

    member: Member
    held: Held | None
    found: Comparison | None = None
    over: bool = False
    ratio: float | None = None
    source: str = ""
    page: str = ""
    scores: tuple[tuple[Found, Score], ...] = ()

    @property
    def place(self) -> tuple[int, float]:
        """The best first; then what is over the budget, what is not known yet, and what failed."""
        if self.held is None:
            return 2, 0.0
        if self.found is None:
            return 3, 0.0
        return int(self.over), -(self.ratio or 0.0)


def line(opened: Opened, best: Best, member: Member, held: Held | None, source: str = "") -> Line:
    """A store beside OPT; one that is over the budget has no ratio."""
    if held is None or held.failed:
        return Line(member, held, source=source)
    found = compare(opened, best.held, held)
    over = found.cost > best.budget
    ratio = float(found.value / best.value) if best.value and not over else None
    return Line(member, held, found, over, ratio, source)


def of_runs(opened: Opened, best: Best, rows: Iterable[RunStore]) -> list[Line]:
    """What writers kept in runs; the same store in several runs is one line."""
    kept: dict[tuple[str, tuple[str, ...], str], list[RunStore]] = {}
    for row in rows:
        if row.budget == best.budget:
            kept.setdefault((row.member.name, row.store, row.failed), []).append(row)
    return [
        line(
            opened, best, same[0].member,
            of_candidates(opened, same[0].member.label, same[0].store, same[0].failed),
            f"run {', '.join(dict.fromkeys(row.run.name for row in same))}",
        )
        for same in kept.values()
    ]  # fmt: skip


def of_systems(opened: Opened, best: Best, systems: Iterable[System]) -> list[Line]:
    """What systems wrote, each with its place: two may have one name."""
    lines = []
    for number, one in enumerate(systems, start=1):
        name = one.store.name
        member = Member(name, name, "", "deployable", number)
        try:
            held = of_system(opened, one.store)
        except MemAuditError as error:
            held = Held(name, (), str(error), True)
        scores = tuple(pair for pair in one.scores if pair[1].score.budget == best.budget)
        found = line(opened, best, member, held, one.found.place)
        lines.append(replace(found, page=addresses.store(one.found.slug), scores=scores))
    return lines
