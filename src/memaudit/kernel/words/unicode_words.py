"""Words of any script, by the word boundaries of Unicode (UAX #29).

A run of letters and digits is a word, with an apostrophe or dot inside; so is a run of Katakana,
every Han and Hiragana character, and every emoji. Punctuation and signs are none. Thai, Lao, Khmer
and Myanmar words cannot be separated without a dictionary, so their number is an estimate: one word
per three letters of a run, not counting vowel signs and tone marks.

Characters are classified by tables that are the same in every Python: the ranges of `scripts.py`
and Unicode 3.2, which all of them carry. What Unicode got later is a letter, but for the signs
below.
"""

import re
from unicodedata import ucd_3_2_0

from memaudit.kernel.words.scripts import SYLLABIC, script_of

LETTERS_PER_WORD = 3
"""ICU's dictionaries: 2.9 letters per word of Thai, 3.6 of Lao, 3.4 of Khmer, 2.2 of Myanmar."""

_EMOJI = (
    (0x231A, 0x231B),
    (0x23E9, 0x23F3),
    (0x2600, 0x2767),
    (0x2B50, 0x2B55),
    (0x1F000, 0x1FAFF),
)
_SIGNS = ((0x2000, 0x2BFF), (0x2E00, 0x2E7F), (0xFE10, 0xFE1F))
_MARKS = ((0x1F3FB, 0x1F3FF), (0xE0100, 0xE01EF))
"""Colours of skin, and later variation selectors."""
_FLAGS = (0x1F1E6, 0x1F1FF)

_SINGLE = {
    **dict.fromkeys(".'\u2018\u2019\u2024\ufe52\uff07\uff0e", "."),  # both kinds
    **dict.fromkeys(":\u00b7\u0387\u05f4\u2027\ufe13\ufe55\uff1a", ":"),  # between letters
    **dict.fromkeys(
        ",;\u037e\u0589\u060c\u060d\u066b\u066c\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b", ","
    ),
    '"': '"',  # between Hebrew letters
    "\u200d": "z",  # joins emoji
    **dict.fromkeys("\u00ad\uff9e\uff9f", ""),  # the soft hyphen, and marks of half-width Katakana
    **dict.fromkeys("\u30fb\uff65", " "),  # dots between Katakana words
}
"""What stands inside a word (commas between digits), and what Unicode 3.2 classified otherwise."""


class _Classes(dict[int, str]):
    """By character its class, one letter; "" for marks, which belong to what is before them."""

    def __missing__(self, code: int) -> str:
        letter = self[code] = _class(chr(code))
        return letter


def _class(character: str) -> str:
    code = ord(character)
    if character in _SINGLE:
        return _SINGLE[character]
    if _FLAGS[0] <= code <= _FLAGS[1]:
        return "r"
    if _within(code, _MARKS):
        return ""
    if _within(code, _EMOJI):
        return "e"
    # Unicode 3.2, which every Python carries for IDNA: the current tables differ between versions,
    # and with them costs and digests would.
    category = ucd_3_2_0.category(character)
    if category in ("Mn", "Mc", "Me", "Cf"):
        return ""
    script = script_of(character) if category not in ("Nd", "So", "Po") else None
    if script in ("Han", "Hiragana"):
        return "h"
    if script == "Katakana":
        return "k"
    if script in SYLLABIC:
        return "t"
    if category == "Nd":
        return "d"
    if category == "Pc":
        return "_"
    # Unassigned in 3.2 means newer: most of what came since are letters of further scripts.
    is_new = category == "Cn" and not _within(code, _SIGNS) and code < 0xE0000
    if not is_new and category[0] != "L" and category != "Nl":
        return " "
    return "b" if script == "Hebrew" else "a"


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


_CLASSES = _Classes()
_STRAY_JOINER = re.compile("(?<!e)z|z(?!e)")
_WORD = re.compile(
    r"_*[abdk](?:(?<=[abd_.:,\"])[abd]|(?<=[k_])k|_|(?<=[ab])[.:](?=[ab])|(?<=d)[.,](?=d)"
    r"|(?<=b)\"(?=b))*|h|e(?:ze)*|rr?|t+"
)


def unicode_words(text: str) -> int:
    """The number of words; an estimate where only a dictionary tells them apart."""
    classes = _STRAY_JOINER.sub("", text.translate(_CLASSES))
    return sum(
        -(-len(word) // LETTERS_PER_WORD) if word[0] == "t" else 1
        for word in _WORD.findall(classes)
    )
