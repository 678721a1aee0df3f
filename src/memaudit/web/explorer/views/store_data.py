"""Frontiers and stores as the scripts take them."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from memaudit.report.page.cast import Member
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.views.frontier import Frontier
from memaudit.web.explorer.views.held import Held
from memaudit.web.explorer.views.package_data import number_text, shown
from memaudit.web.explorer.views.run_stores import RunStore


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
