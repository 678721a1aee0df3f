"""A query: the units it requires, who covers them, and the cheapest way to cover them all."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memaudit.core.package import Query
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.pages.package import crumbs
from memaudit.web.explorer.views.query_cover import cheapest

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "package/{package}/query/{query}.html"


def queries(site: "Site", parts: Parts) -> Iterable[Parts]:
    """Every query of a package."""
    return [{**parts, "query": slug} for slug in site.package(parts["package"]).query_slugs]


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page."""
    opened = site.package(parts["package"])
    query = opened.query_slugs.get(parts["query"])
    if query is None:
        raise NotHere("the package has no such query")
    slugs = list(opened.query_slugs)
    at = slugs.index(parts["query"])
    slug = opened.found.slug
    units = [opened.unit_at[id] for id in dict.fromkeys(query.required)]
    return site.render(
        "query.html", addresses.query(slug, parts["query"]), _title(query),
        crumbs=(*crumbs(opened, site), (opened.package.name, addresses.package(slug))),
        opened=opened, query=query,
        units=units, helped=any(opened.coverers[place] for place in units),
        weights=opened.package.weights, cover=cheapest(opened, query), tab="",
        before=addresses.query(slug, slugs[at - 1]) if at else "",
        after=addresses.query(slug, slugs[at + 1]) if at + 1 < len(slugs) else "",
        number=at + 1, count=len(slugs),
    )  # fmt: skip


def _title(query: Query) -> str:
    return query.text or query.id


PAGE = Page(PATTERN, render, "package", queries)
