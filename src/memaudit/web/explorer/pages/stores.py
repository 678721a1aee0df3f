"""Stores as tables: OPT and everybody else at the budgets that matter; needs no script."""

import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.core.number_text import short_number
from memaudit.core.optimum import Optimum
from memaudit.report.numbers import precise, ratio
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.pages.kind import Asked, Data, Page, Parts
from memaudit.web.explorer.pages.package import budget_asked, package_crumbs
from memaudit.web.explorer.views.optima import runnable
from memaudit.web.explorer.views.package_data import shown
from memaudit.web.explorer.views.package_stores import systems
from memaudit.web.explorer.views.store_comparison import of_candidates
from memaudit.web.explorer.views.store_rows import Best, line, of_runs, of_systems, spread

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

STORES_PATTERN = "package/{package}/stores.html"
MOST_BUDGETS = 6
STORES_MOST_LISTED = 40
"""Longer lists of memories are cut, and say so."""


def render_stores(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page. Writers that a server has no time for now are asked for by its script, or one by
    one in the address."""
    until = time.monotonic() + site.seconds
    opened = site.package(parts["package"])
    frontier = site.frontier(opened)
    budgets = spread([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)
    budget = _chosen(asked, budgets)
    workshop = site.workshop(opened)
    optimum = workshop.optimum(budget)
    best = _best(opened, optimum)
    lines = of_runs(opened, best, site.rows(opened))
    ran = {one.member.name for one in lines}
    if asked.get("writer") in runnable():
        workshop.written_by(asked["writer"], budget)
    for name, member in runnable().items():
        if name not in ran:
            left = None if site.bundled else until - time.monotonic()
            lines.append(line(opened, best, member, workshop.soon(name, budget, left)))
    lines += of_systems(opened, best, systems(site.library, opened))
    return site.render(
        "stores.html", addresses.package(opened.found.slug, "stores.html"),
        f"{opened.package.name}: stores", crumbs=package_crumbs(opened, site), opened=opened,
        tab="stores.html", frontier=frontier, budgets=budgets, budget=budget,
        best=optimum, opt=best.held, most=STORES_MOST_LISTED,
        lines=sorted(lines, key=lambda one: one.place),
        waiting=sum(one.held is None for one in lines),
    )  # fmt: skip


def _best(opened: Opened, found: Optimum) -> Best:
    held = of_candidates(opened, "OPT", found.store)
    return Best(held, found.budget, held.value(opened) if found.certified else Fraction(0))


def answer_row(site: "Site", parts: Parts, asked: Asked) -> Any:
    """The row of a writer, or that it is still at work."""
    opened = site.package(parts["package"])
    name, budget, workshop = asked.get("writer", ""), budget_asked(asked), site.workshop(opened)
    if name not in runnable():
        raise NotHere("there is no such writer")
    held = workshop.soon(name, budget, site.seconds)
    one = line(opened, _best(opened, workshop.optimum(budget)), runnable()[name], held)
    if one.found is None:
        return {"waiting": held is None, "failed": shown(held.failed if held else "")}
    found = one.found
    counts = [len(part) for part in (found.both, found.missed, found.instead, found.wasted)]
    return {
        "rank": one.ratio,
        "cells": [ratio(one.ratio), short_number(found.value), precise(found.cost),
                  *map(str, counts)],
    }  # fmt: skip


def _chosen(asked: Asked, budgets: list[Fraction]) -> Fraction:
    """The budget asked for, else the middle one."""
    if "budget" in asked:
        return budget_asked(asked)
    return budgets[(len(budgets) - 1) // 2] if budgets else Fraction(0)


STORES_PAGE = Page(STORES_PATTERN, render_stores, "package")
STORES_DATA = Data("package/{package}/row.json", answer_row)
