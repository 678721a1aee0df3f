"""Stores as tables: OPT and everybody else at the budgets that matter; needs no script."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.report.page.cast import Member
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.opened import Opened
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import crumbs
from memaudit.web.explorer.views.comparison import Comparison, compare
from memaudit.web.explorer.views.held import Held, of_candidates, of_system
from memaudit.web.explorer.views.store_data import spread
from memaudit.web.explorer.views.systems import systems_of
from memaudit.web.explorer.views.workshop import deployable

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "package/{package}/stores.html"
MOST_BUDGETS = 6
MOST_LISTED = 40
"""Longer lists of memories are cut, and say so."""


@dataclass(frozen=True, slots=True)
class Line:
    """One store at the budget shown: who kept it, where that is known from, and how it compares."""

    member: Member
    source: str
    held: Held
    found: Comparison | None
    ratio: float | None


def render(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page."""
    opened = site.package(parts["package"])
    workshop = site.workshop(opened)
    frontier = site.frontier(opened)
    budgets = spread([step.budget for step in frontier.steps], frontier.given, MOST_BUDGETS)
    budget = _chosen(asked, budgets)
    best = workshop.optimum(budget)
    opt = of_candidates(opened, "OPT", best.store)
    return site.render(
        "stores.html", addresses.package(opened.found.slug, "stores.html"),
        f"{opened.package.name}: stores", crumbs=crumbs(opened, site), opened=opened,
        tab="stores.html", frontier=frontier, budgets=budgets, budget=budget, best=best, opt=opt,
        lines=_lines(site, opened, budget, opt, best.certified), most=MOST_LISTED,
    )  # fmt: skip


def _chosen(asked: Asked, budgets: list[Fraction]) -> Fraction:
    """The budget asked for, else the middle one."""
    try:
        wanted = exact(asked["budget"]) if "budget" in asked else None
    except ValueError:
        raise MemAuditError("a budget is a number of 0 or more") from None
    if wanted is not None and wanted >= 0:
        return wanted
    return budgets[(len(budgets) - 1) // 2] if budgets else Fraction(0)


def _lines(
    site: "Site", opened: Opened, budget: Fraction, opt: Held, certified: bool
) -> list[Line]:
    """Every store at the budget, the best first; what failed at the end. A ratio needs a proof."""
    workshop = site.workshop(opened)
    held: list[tuple[Member, str, Held]] = [
        (member, "computed for this page", workshop.written_by(name, budget))
        for name, member in deployable().items()
    ]
    held += [
        (row.member, f"run {row.run.name}",
         of_candidates(opened, row.member.label, row.store, row.failed))
        for row in site.rows(opened) if row.budget == budget
    ]  # fmt: skip
    for number, (_, store) in enumerate(systems_of(site.library, opened), start=1):
        member = Member(store.name, store.name, "", "deployable", number)
        try:
            held.append((member, "exported store", of_system(opened, store)))
        except MemAuditError as error:
            held.append((member, "exported store", Held(store.name, (), str(error), True)))
    value = opt.value(opened) if certified else Fraction(0)
    lines = []
    for member, source, one in held:
        found = None if one.failed else compare(opened, opt, one)
        ratio = float(found.value / value) if found and value else None
        lines.append(Line(member, source, one, found, ratio))
    return sorted(lines, key=lambda line: (line.found is None, -(line.ratio or 0)))


PAGE = Page(PATTERN, render, "package")
