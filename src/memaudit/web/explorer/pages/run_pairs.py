"""Every two writers of a run in one table."""

from typing import TYPE_CHECKING

from memaudit.web.explorer import addresses
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.run import budgets, part_asked
from memaudit.web.explorer.pages.unfinished import unfinished

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "run/{run}/pairs.html"


def render(site: "Site", parts: Parts, asked: Asked) -> str:
    """The page."""
    found = site.library.named("run", parts["run"])
    address = addresses.run(found.slug, "pairs.html")
    if page := unfinished(site, found, address):
        return page
    run = site.library.run(found)
    chosen = part_asked(run, asked)
    return site.render(
        "run_pairs.html", address, f"{found.name}: every two writers",
        crumbs=(("Runs", addresses.INDEX + "#runs"), (found.name, addresses.run(found.slug))),
        found=found, run=run, part_shown=site.slice(found, *chosen), chosen=chosen,
        budgets=budgets(run),
    )  # fmt: skip


PAGE = Page(PATTERN, render, "run")
