"""The relative address of every page.

Addresses are the same on a server and in a static folder. Every name in them is a slug, so no text
of a package and no file name ever becomes part of a path.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cache

from memaudit.lab.explorer.library.entries import Kind, LibraryEntry

LONGEST = 40
CODE = 10
PATTERN = r"[a-z0-9][a-z0-9-]*"
"""The form of every name in an address. Nothing else is looked up or written."""


def slug(name: str, *key: str) -> str:
    """Some characters of the name, and a hash of name and key that makes it unique."""
    letters = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST].strip("-")
    text = "\0".join((name, *key)).encode("utf-8", "surrogatepass")
    code = hashlib.sha256(text).hexdigest()[:CODE]
    return f"{letters}-{code}" if letters else code


def anchor(table: str, id: str) -> str:
    """The anchor of a row on its page: the table's first letter and a hash of the id."""
    code = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:CODE]
    return f"{table[0]}-{code}"


INDEX = "index.html"
SEARCH = "search.html"


def run(slug: str, page: str = INDEX) -> str:
    """A page of a run: index.html or packages.html."""
    return f"run/{slug}/{page}"


def package(slug: str, page: str = INDEX) -> str:
    """A page of a package: index.html, stream.html, coverage.html, stores.html or proofs.html."""
    return f"package/{slug}/{page}"


def query(package_slug: str, slug: str) -> str:
    return f"package/{package_slug}/query/{slug}.html"


def certificate(slug: str) -> str:
    return f"certificate/{slug}.html"


def store(slug: str) -> str:
    return f"store/{slug}/index.html"


def scores(slug: str) -> str:
    return f"scores/{slug}/{INDEX}"


def score(scores_slug: str, slug: str) -> str:
    """One store at one budget of a score file."""
    return f"scores/{scores_slug}/at/{slug}.html"


def diagnosis(slug: str, chosen: str = "") -> str:
    """A diagnosis, or one of its lists of questions."""
    return f"diagnosis/{slug}/{chosen}/index.html" if chosen else f"diagnosis/{slug}/index.html"


def question(diagnosis_slug: str, slug: str) -> str:
    return f"diagnosis/{diagnosis_slug}/question/{slug}.html"


def report(slug: str) -> str:
    """A report, a board or another page that lies in the folder."""
    return f"page/{slug}.html"


def list_page_address(address: str, number: int) -> str:
    """A further page of a long list."""
    return address if number == 1 else f"{address.removesuffix('.html')}-{number}.html"


OF_KIND: Mapping[Kind, Callable[[str], str]] = {
    "run": run,
    "package": package,
    "store": store,
    "scores": scores,
    "diagnosis": diagnosis,
    "certificate": certificate,
    "page": report,
}
"""The page of each kind of entry."""


TITLES: dict[Kind, str] = {
    "run": "Runs",
    "package": "Packages",
    "store": "Stores",
    "scores": "Score files",
    "diagnosis": "Diagnoses",
    "certificate": "Certificates",
    "page": "Reports",
}
"""The headings of the first page. Their words are its anchors too."""


def list_link(kind: Kind) -> tuple[str, str]:
    """The list of a kind on the first page: its title and its address."""
    title = TITLES[kind]
    return title, f"{INDEX}#{title.lower().replace(' ', '-')}"


def entry_address(entry: LibraryEntry) -> str:
    return OF_KIND[entry.kind](entry.slug)


def path_to_root(address: str) -> str:
    """From a page up to the folder that all addresses are relative to: "" or "../" some times."""
    return "../" * address.count("/")


@cache
def matcher(pattern: str) -> re.Pattern[str]:
    """The regular expression of `package/{package}/query/{query}.html`; slugs stand in braces."""
    parts = re.split(r"\{([a-z]+)\}", pattern)
    named = [
        f"(?P<{part}>{PATTERN})" if place % 2 else re.escape(part)
        for place, part in enumerate(parts)
    ]
    return re.compile("".join(named))


def filled(pattern: str, parts: Mapping[str, str]) -> str:
    """The address of a pattern; a part that is not a slug is refused."""
    for name, part in parts.items():
        if not re.fullmatch(PATTERN, part):
            raise ValueError(f"{part!r} is not a {name} in an address")
    return pattern.format(**parts)
