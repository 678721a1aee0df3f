"""The scripts that texts are written in, and which of them are written without spaces.

The ranges are fixed here, so that no result depends on the Unicode version of an interpreter.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

_RANGES = {
    "Latin": "41-5A 61-7A AA BA C0-D6 D8-F6 F8-2AF 1E00-1EFF 2C60-2C7F A722-A7FF AB30-AB6F "
    "FB00-FB06 FF21-FF3A FF41-FF5A",
    "Greek": "370-373 376-37D 37F 386 388-3E1 3F0-3FF 1F00-1FFE",
    "Cyrillic": "400-481 483-52F 1C80-1C8F 2DE0-2DFF A640-A69F",
    "Armenian": "531-556 559 560-588",
    "Hebrew": "591-5BD 5BF 5C1-5C2 5C4-5C5 5C7-5EA 5EF-5F2 FB1D-FB4F",
    "Arabic": "610-61A 620-65F 66E-6D3 6D5-6EF 6FA-6FF 750-77F 870-8FF FB50-FDFB FE70-FEFC",
    "Devanagari": "900-963 971-97F A8E0-A8FF",
    "Bengali": "980-9E3 9F0-9F1 9FC",
    "Gurmukhi": "A00-A65 A70-A75",
    "Gujarati": "A80-AE5 AF9-AFF",
    "Oriya": "B00-B63 B71",
    "Tamil": "B80-BE5",
    "Telugu": "C00-C65",
    "Kannada": "C80-CE5 CF1-CF3",
    "Malayalam": "D00-D63 D7A-D7F",
    "Sinhala": "D80-DE5 DF2-DF3",
    "Thai": "E01-E3A E40-E4E",
    "Lao": "E81-EBD EC0-ECE EDC-EDF",
    "Tibetan": "F00 F18-F19 F35 F37 F39 F40-F84 F86-FBC",
    "Myanmar": "1000-103F 1050-108F 109A-109D A9E0-A9EF A9FA-A9FE AA60-AA7F",
    "Georgian": "10A0-10FA 10FC-10FF 1C90-1CBF 2D00-2D2F",
    "Hangul": "1100-11FF 3131-318E A960-A97C AC00-D7FB FFA0-FFDC",
    "Ethiopic": "1200-135F 1380-138F 2D80-2DDE AB01-AB2E",
    "Khmer": "1780-17D3 17D7 17DC-17DD",
    "Hiragana": "3041-3096 309D-309F 1B001-1B11F",
    "Katakana": "30A1-30FA 30FC-30FF 31F0-31FF FF66-FF9D",
    "Han": "2E80-2FDF 3005 3007 3021-3029 3038-303B 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD",
}
SCRIPTS = frozenset(_RANGES)
OTHER = "another script"
"""Letters of scripts that are not among SCRIPTS."""

SYLLABIC = frozenset({"Thai", "Lao", "Khmer", "Myanmar"})
"""Written without spaces; only a dictionary tells words apart."""

UNSPACED = SYLLABIC | {"Han", "Hiragana", "Katakana"}

UNSPACED_FROM = Fraction(1, 2)
"""The share of a text from which most of its words are not between spaces."""

_LETTERS = {"Han": 4, "Hiragana": 2, "Katakana": 2, "Hangul": 2}
"""How many letters of an alphabet say about as much as one character, where it is not one."""


def script_class(*scripts: str) -> str:
    """The letters of some scripts, as they stand in the brackets of a regular expression."""
    return "".join(
        f"{chr(first)}-{chr(last)}" for name in scripts for first, last in _pairs(_RANGES[name])
    )


def _pairs(ranges: str) -> list[tuple[int, int]]:
    ends = (part.partition("-") for part in ranges.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in ends]


_TABLE = sorted((*pair, name) for name, ranges in _RANGES.items() for pair in _pairs(ranges))
_FIRST = [first for first, _, _ in _TABLE]


@lru_cache(maxsize=1 << 14)
def script_of(character: str) -> str | None:
    """The script of a letter; None for digits, punctuation, emoji and signs."""
    _, last, name = _TABLE[bisect_right(_FIRST, ord(character)) - 1]
    if _FIRST[0] <= ord(character) <= last:
        return name
    return OTHER if character.isalpha() else None


def script_shares(texts: Iterable[str]) -> dict[str, Fraction]:
    """The share of each script in texts, the largest first; empty without any letter."""
    characters: Counter[str] = Counter()
    # Characters are counted first: a script is looked up once for each that occurs, not once per
    # place of a long conversation.
    for text in texts:
        characters.update(text)
    letters: Counter[str] = Counter()
    for character, count in characters.items():
        if script := script_of(character):
            letters[script] += count * _LETTERS.get(script, 1)
    total = letters.total()
    order = sorted(letters.items(), key=lambda item: (-item[1], item[0]))
    return {script: Fraction(count, total) for script, count in order}


def written_without_spaces(texts: Iterable[str]) -> bool:
    """Whether half of the text or more is in scripts without spaces between words."""
    shares = script_shares(texts)
    return sum((shares.get(script, Fraction(0)) for script in UNSPACED), Fraction(0)) >= (
        UNSPACED_FROM
    )
