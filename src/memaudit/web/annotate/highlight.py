"""Words that the memory shares with the unit or with the quote, and letters one could not see."""

import re
from collections.abc import Iterator
from typing import Literal

from memaudit.core.text import Terms, terms
from memaudit.report.page.visible import visible_text

Mark = Literal["", "shared", "quoted", "escape"]
Piece = tuple[str, Mark]
"""Some text and what to show it as; pieces in order are the whole text."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'\u2019][^\W_]+)*")


def compared(memory: str, unit: str, quote: str) -> tuple[list[Piece], list[Piece], list[Piece]]:
    """The three texts in pieces: `shared` is in memory and unit, `quoted` in memory and quote."""
    words = terms(memory)
    shared = words & terms(unit)
    quoted = (words & terms(quote)) - shared
    memory_pieces, unit_pieces, quote_pieces = (
        list(_pieces(text, shared, quoted)) for text in (memory, unit, quote)
    )
    return memory_pieces, unit_pieces, quote_pieces


def _pieces(text: str, shared: Terms, quoted: Terms) -> Iterator[Piece]:
    text = text.replace("\r\n", "\n")
    end = 0
    for word in _WORD.finditer(text):
        found = terms(word[0])
        mark: Mark = "shared" if found & shared else "quoted" if found & quoted else ""
        if mark:
            yield from _seen(text[end : word.start()])
            yield word[0], mark
            end = word.end()
    yield from _seen(text[end:])


def _seen(text: str) -> Iterator[Piece]:
    """Plain text; what is no visible letter is written out, marked so that it poses as no text."""
    plain = ""
    for letter in text:
        shown = visible_text(letter)
        if shown == letter:
            plain += letter
            continue
        if plain:
            yield plain, ""
            plain = ""
        yield shown, "escape"
    if plain:
        yield plain, ""
