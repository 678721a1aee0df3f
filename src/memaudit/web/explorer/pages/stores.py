"""Stores as tables: OPT and every other store at the chosen budget. Works without scripts."""

import math
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.core.number_text import short_number
from memaudit.core.optimum import Optimum
from memaudit.report.page_numbers import precise, ratio
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.indexed_package import IndexedPackage
from memaudit.web.explorer.library.library import NotInLibrary
from memaudit.web.explorer.page import JsonEndpoint, Page, PathParams, QueryParams
from memaudit.web.explorer.pages.package import budget_param, package_crumbs
from memaudit.web.explorer.views.optima import runnable_writers
from memaudit.web.explorer.views.package_data import shown
from memaudit.web.explorer.views.package_stores import system_stores
from memaudit.web.explorer.views.store_table import (
    OptStore,
    first_budget,
    run_rows,
    shown_budgets,
    store_table_row,
    system_rows,
)

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

STORES_PATTERN = "package/{package}/stores.html"
MOST_LISTED = 40
"""Longer lists of memories are cut, with a note."""


def render_stores(site: "Site", parts: PathParams, params: QueryParams) -> str:
    """Writers are run until the time is up. The script of a served page requests the others.
    Without scripts, a link requests one of them."""
    until = math.inf if site.bundled else time.monotonic() + site.seconds
    indexed = site.package(parts["package"])
    frontier = site.frontier(indexed)
    budget = budget_param(params) if "budget" in params else first_budget(frontier)
    optima = site.optima(indexed)
    optimum = optima.optimum(budget)
    best = _opt_store(indexed, optimum)
    rows = run_rows(indexed, best, site.rows(indexed))
    ran = {row.member.name for row in rows}
    if params.get("writer") in runnable_writers():
        optima.written_by(params["writer"], budget)
    for name, member in runnable_writers().items():
        if name not in ran:
            store = optima.written_within(name, budget, until - time.monotonic())
            rows.append(store_table_row(indexed, best, member, store))
    systems = system_rows(indexed, best, system_stores(site.library, indexed), site.store_look)
    return site.render(
        "stores.html",
        addresses.package(indexed.entry.slug, "stores.html"),
        f"{indexed.package.name}: stores",
        crumbs=package_crumbs(indexed, site),
        indexed=indexed,
        tab="stores.html",
        frontier=frontier,
        budgets=shown_budgets(frontier),
        budget=budget,
        best=optimum,
        opt=best.store,
        most=MOST_LISTED,
        systems=sorted(systems, key=lambda row: row.rank),
        writers=sorted(rows, key=lambda row: row.rank),
        waiting=sum(row.store is None for row in rows),
    )


def _opt_store(indexed: IndexedPackage, optimum: Optimum) -> OptStore:
    store = indexed.candidate_store("OPT", optimum.store)
    value = store.value(indexed.package) if optimum.certified else Fraction(0)
    return OptStore(store, optimum.budget, value)


def answer_row(site: "Site", parts: PathParams, params: QueryParams) -> Any:
    """The row of a writer, or the message that it is still running."""
    indexed = site.package(parts["package"])
    name, budget, optima = params.get("writer", ""), budget_param(params), site.optima(indexed)
    if name not in runnable_writers():
        raise NotInLibrary("there is no such writer")
    store = optima.written_within(name, budget, site.seconds)
    best = _opt_store(indexed, optima.optimum(budget))
    row = store_table_row(indexed, best, runnable_writers()[name], store)
    comparison = row.comparison
    if comparison is None:
        return {"waiting": store is None, "failed": shown(store.failed if store else "")}
    counts = [
        len(part)
        for part in (comparison.both, comparison.missed, comparison.instead, comparison.wasted)
    ]
    return {
        "rank": row.ratio,
        "cells": [
            ratio(row.ratio),
            short_number(comparison.value),
            precise(comparison.cost),
            *map(str, counts),
        ],
    }


STORES_PAGE = Page(STORES_PATTERN, render_stores, "package")
STORES_DATA = JsonEndpoint("package/{package}/row.json", answer_row)
