"""Texts in figures: made harmless, measured, and cut to the room there is."""

import unicodedata
from functools import lru_cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.textpath import TextToPath

from memaudit.writers.registry import WRITERS

ELLIPSIS = "…"
UNPRINTABLE, NO_GLYPH = "\N{REPLACEMENT CHARACTER}", "\N{WHITE SQUARE}"
MOST_LETTERS = 400
"""No figure has room for more, so longer texts are not even measured."""

POINTS_PER_INCH = 72
FAMILY = "DejaVu Sans"


def shown(text: object) -> str:
    """One line that can be drawn: no control characters, no stacked marks, no missing glyphs."""
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", " ".join(str(text)[:MOST_LETTERS].split())):
        marks = unicodedata.combining(letter) and letters and unicodedata.combining(letters[-1])
        if not marks:
            letters.append(_drawable(letter))
    return "".join(letters)


@lru_cache(maxsize=4096)
def _drawable(letter: str) -> str:
    if not letter.isprintable():
        return UNPRINTABLE
    return letter if get_font(_file()).get_char_index(ord(letter)) else NO_GLYPH


@lru_cache(maxsize=1)
def _file() -> str:
    return findfont(FontProperties(family=FAMILY))


@lru_cache(maxsize=4096)
def inches(text: str, size: float, bold: bool = False) -> float:
    """How wide a line of text is."""
    font = FontProperties(family=FAMILY, size=size, weight="bold" if bold else "normal")
    width, _, _ = TextToPath().get_text_width_height_descent(text, font, ismath=False)
    return float(width) / POINTS_PER_INCH


def fitted(text: object, room: float, size: float, bold: bool = False) -> str:
    """The text as it can be drawn, cut with an ellipsis where it is wider than the room."""
    return _cut(shown(text), room, size, bold, kept_end=0)


def fitted_name(name: object, room: float, size: float, bold: bool = False) -> str:
    """The same for a name: the middle goes, as names often differ at the end."""
    return _cut(shown(name), room, size, bold, kept_end=1 / 3)


def _cut(line: str, room: float, size: float, bold: bool, kept_end: float) -> str:
    """As many letters as fit, of which a share comes from the end of the line."""
    if inches(line, size, bold) <= room:
        return line
    low, high = 0, len(line) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if inches(_without_middle(line, middle, kept_end), size, bold) <= room:
            low = middle
        else:
            high = middle - 1
    return _without_middle(line, low, kept_end)


def _without_middle(line: str, letters: int, kept_end: float) -> str:
    end = int(letters * kept_end)
    return line[: letters - end].rstrip() + ELLIPSIS + line[len(line) - end :].lstrip()


def wrapped(text: object, room: float, size: float, most: int) -> list[str]:
    """The text in at most so many lines, broken at spaces; the last one is cut to fit."""
    lines: list[str] = []
    words = shown(text).split(" ")
    while words and len(lines) < most - 1:
        take = 1
        while take < len(words) and inches(" ".join(words[: take + 1]), size) <= room:
            take += 1
        lines.append(fitted(" ".join(words[:take]), room, size))
        words = words[take:]
    if words:
        lines.append(fitted(" ".join(words), room, size))
    return lines


def writer_label(writer: str) -> str:
    """A writer's name for readers."""
    return WRITERS[writer].label if writer in WRITERS else shown(writer)


def distribution_label(name: str) -> str:
    """A distribution's name for readers."""
    return shown(name).replace("_", " ")
