"""What every HTML page shares: templates that escape everything, and one style sheet."""

import base64
import hashlib
import re
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, DictLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memaudit.kernel.number_text import byte_size, short_number
from memaudit.kernel.package.provenance import assumed_text
from memaudit.kernel.stats.bootstrap import LEVEL, RESAMPLES
from memaudit.kernel.stats.paired_tests import FLIPS
from memaudit.kernel.words.text import counted
from memaudit.show import encoding, page_charts
from memaudit.show.page_charts import GROUP_NOTES, GROUP_TITLES, OPT
from memaudit.show.page_numbers import (
    amount,
    change,
    difference,
    p_value,
    percent,
    precise,
    ratio,
    share,
    shortened,
    thousands,
    visible_text,
)

STYLE_SHEET = Path(__file__).parent / "templates" / "style.css"
MOST_CHARACTERS = 400
"""Longer texts are cut on pages."""


@cache
def style_sheet() -> str:
    """The style sheet of every page, with the colours of everything that is drawn."""
    return encoding.style_sheet() + STYLE_SHEET.read_text("utf-8")


def one_file(jinja: Environment, template: str, **context: Any) -> str:
    """A page in one file. Its policy allows only our own style sheet, identified by its hash."""
    # Rendered as the page will render it: the hash is of every byte between the tags.
    style = "".join(jinja.get_template(name).render() for name in ("encoding.css", "style.css"))
    code = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return jinja.get_template(template).render(style_hash=f"sha256-{code}", **context)


_ONE_FILE = re.compile(
    r"""<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">\s*"""
    r"""<meta http-equiv="Content-Security-Policy" content="default-src 'none'; """
    r"""style-src 'sha256-[A-Za-z0-9+/=]{44}'; img-src data:; base-uri 'none'; """
    r"""form-action 'none'">\s*(?:<meta name="[a-z-]+" content="[^"<>]*">\s*)*"""
    r"""<title>([^<]*) \u00b7 MemAudit</title>"""
)
_META = re.compile("<meta", re.IGNORECASE)


def one_file_title(text: str) -> str | None:
    """The title of a page that `one_file` made, from its beginning; None for any other HTML.

    The policy comes first in such a page, so nothing in it can run or be loaded. No `meta` element
    follows, which might lead elsewhere.
    """
    match = _ONE_FILE.match(text)
    return None if match is None or _META.search(text, match.end()) else unescape(match[1])


def environment(*packages: str) -> Environment:
    """Templates that escape everything and show invisible characters as escapes.

    A page's templates lie beside its code: `packages` are the folders that have them, searched in
    this order and before the kit's own.
    """
    jinja = Environment(
        loader=ChoiceLoader(
            [
                *(PackageLoader(package) for package in (*packages, "memaudit.show")),
                DictLoader({"encoding.css": encoding.style_sheet()}),
            ]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    for show in (
        ratio,
        difference,
        amount,
        change,
        p_value,
        precise,
        share,
        percent,
        shortened,
        counted,
        thousands,
        byte_size,
        short_number,
        assumed_text,
    ):
        jinja.filters[show.__name__] = show
    jinja.globals.update(
        OPT=OPT,
        LEVEL=LEVEL,
        RESAMPLES=RESAMPLES,
        FLIPS=FLIPS,
        GROUP_TITLES=GROUP_TITLES,
        GROUP_NOTES=GROUP_NOTES,
        MOST_CHARACTERS=MOST_CHARACTERS,
        charts=page_charts,
        encoding=encoding,
    )
    return jinja


def _shown(value: object) -> object:
    """Every text of an expression passes here. The output of a macro already has."""
    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return visible_text(value)
