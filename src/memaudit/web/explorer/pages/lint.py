"""The lint tab of a store: what the store itself shows, without a conversation or units."""

from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.formats.file_model import validated
from memaudit.formats.lint_file import LintFile
from memaudit.hygiene.findings import lint_data
from memaudit.hygiene.lint import lint
from memaudit.report.lint_page import lint_view
from memaudit.web.explorer import addresses
from memaudit.web.explorer.page import Page, PathParams, QueryParams

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

MOST_MEMORIES = 20_000
"""A larger store takes too long for a page; memaudit lint --out writes one."""


def render_lint(site: "Site", parts: PathParams, params: QueryParams) -> str:  # noqa: ARG001
    entry = site.library.named("store", parts["store"])
    store = site.library.store(entry)
    view, problem = {}, ""
    if len(store.memories) > MOST_MEMORIES:
        problem = f"it has more than {MOST_MEMORIES:,} memories; memaudit lint writes a page of it"
    else:
        try:
            view = site.made(lambda: lint_data(lint(store)), (entry,), "lint")
        except MemAuditError as error:
            problem = str(error)
    shown = lint_view(validated(LintFile, view, entry.place)) if view else {}
    return site.render(
        "store_lint.html",
        addresses.store(entry.slug, "lint.html"),
        f"{store.name}, lint",
        crumbs=(("Stores", addresses.INDEX + "#stores"), (store.name, addresses.store(entry.slug))),
        entry=entry,
        store=store,
        problem=problem,
        **shown,
    )


LINT_PAGE = Page("store/{store}/lint.html", render_lint, "store")
