"""A file of certificates: what each claims, how large it is, and whether it holds."""

from typing import TYPE_CHECKING

from memaudit.core.optimum import Certificate
from memaudit.web.explorer import addresses
from memaudit.web.explorer.library.library import NotHere
from memaudit.web.explorer.pages.kind import Asked, Page, Parts
from memaudit.web.explorer.views.proving import Proven, proven

if TYPE_CHECKING:
    from memaudit.web.explorer.site import Site

PATTERN = "certificate/{certificate}.html"
MOST_SHOWN = 500
"""Of a longer file the first are shown, and the page says so."""


def render(site: "Site", parts: Parts, asked: Asked) -> str:  # noqa: ARG001
    """The page; a bundle has every certificate checked while it is written."""
    found = site.library.named("certificate", parts["certificate"])
    known = site.library.certificates(found)
    return site.render(
        "certificate.html", addresses.certificate(found.slug), found.name,
        crumbs=(("Certificates", addresses.INDEX + "#certificates"),), found=found,
        rows=[checked(site, one, site.bundled) for one in known[:MOST_SHOWN]], count=len(known),
    )  # fmt: skip


def checked(site: "Site", certificate: Certificate, check: bool) -> Proven:
    """A certificate with its package, where the library holds that."""
    found = site.library.with_digest(certificate.package)
    package = site.library.package(found).package if found and check else None
    return proven(certificate, found, package, check)


def numbered(site: "Site", slug: str, number: int) -> Certificate:
    """One certificate of a file, counted from 1."""
    known = site.library.certificates(site.library.named("certificate", slug))
    if not 1 <= number <= len(known):
        raise NotHere(f"the file has no certificate {number}")
    return known[number - 1]


PAGE = Page(PATTERN, render, "certificate")
