"""What readers write on labelling sheets, read back as coverage."""

import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from memaudit.core.errors import MemAuditError
from memaudit.core.labels import FULL, NONE, PARTIAL
from memaudit.core.text import counted, shortened, visible_text
from memaudit.formats.board_file import SheetOrder
from memaudit.io.files import read_text
from memaudit.scoring.board_labels import errors_in
from memaudit.stats.agreement_coefficients import kappa_of_pairs

READERS: tuple[Literal["a"], Literal["b"]] = ("a", "b")
WORDS = {"full": FULL, "partial": PARTIAL, "none": NONE}

Cells = Mapping[tuple[str, str], Fraction]
"""Coverage by memory text and unit; what is missing is none."""

MARKUP = re.compile(r"^[-*+] +|\*\*|`")
"""Lists, bold and code, which language models like."""
LINE = re.compile(r"([Ss]?[0-9]+) *: *(.+)")
EXAMPLES = {"memory": "17: S3, S5?", "statement": "S3: 17, 21?", "pair": "1: partial"}


@dataclass(frozen=True, slots=True)
class Passes:
    """What two readers said about the memories of one conversation."""

    conversation: str
    texts: tuple[str, ...]
    units: tuple[str, ...]
    first: Cells
    second: Cells

    @property
    def differing(self) -> list[tuple[str, str]]:
        """Pairs of a text and a unit, in an order that says nothing."""
        pairs = sorted(
            pair
            for pair in self.first.keys() | self.second.keys()
            if self.first.get(pair, NONE) != self.second.get(pair, NONE)
        )
        random.Random(self.conversation).shuffle(pairs)
        return pairs

    @property
    def agreement(self) -> str:
        """Pairs, how many are full and partial in both, how many differ, and kappa."""
        pairs = Counter(
            (self.first.get((text, unit), NONE), self.second.get((text, unit), NONE))
            for text in self.texts
            for unit in self.units
        )
        return (
            f"{self.conversation}: {counted(pairs.total(), 'pair')}, {pairs[FULL, FULL]} full and "
            f"{pairs[PARTIAL, PARTIAL]} partial in both, {len(self.differing)} differ, "
            f"{kappa_text(pairs)}"
        )


def kappa_text(pairs: Counter[tuple[Fraction, Fraction]]) -> str:
    kappa = kappa_of_pairs(pairs)
    return "kappa undefined" if kappa is None else f"kappa {float(kappa):.3f}"


def read_cells(sheet: SheetOrder, path: Path, about: Collection[str]) -> Cells:
    """What a reader wrote about some of the texts, by text and unit."""
    texts = {str(number): text for number, text in enumerate(sheet.texts, 1)}
    units = {f"S{number}": unit for number, unit in enumerate(sheet.units, 1)}
    by_memory = sheet.reader == READERS[0]
    what = "memory" if by_memory else "statement"
    asked, offered = (texts, units) if by_memory else (units, texts)
    cells: dict[tuple[str, str], Fraction] = {}
    for at, left, right in _lines(path, list(asked), what):
        marks = [] if right.lower() == "none" else [one.strip() for one in right.split(",")]
        numbers = [mark.removesuffix("?").strip().upper() for mark in marks]
        wrong = [m for m, one in zip(marks, numbers, strict=True) if one not in offered]
        if wrong:
            raise MemAuditError(
                f"{path}:{at}: expected none, or numbers from {_range(list(offered))} with "
                f"commas between them, not {visible_text(shortened(wrong[0], 40))!r}"
            )
        if twice := next((one for one in numbers if numbers.count(one) > 1), None):
            raise MemAuditError(f"{path}:{at}: names {twice} twice")
        for mark, number in zip(marks, numbers, strict=True):
            text, unit = (left, number) if by_memory else (number, left)
            if texts[text] in about:
                cells[texts[text], units[unit]] = PARTIAL if mark.endswith("?") else FULL
    return cells


def read_decisions(path: Path, pairs: int) -> list[Fraction]:
    """What the third reader decided, pair by pair."""
    numbers = [str(number) for number in range(1, pairs + 1)]
    found: dict[str, Fraction] = {}
    for at, left, right in _lines(path, numbers, "pair"):
        if right.lower() not in WORDS:
            raise MemAuditError(f"{path}:{at}: expected full, partial or none")
        found[left] = WORDS[right.lower()]
    return [found[number] for number in numbers]


def _lines(path: Path, asked: Sequence[str], what: str) -> Iterator[tuple[int, str, str]]:
    """The lines of an answer: where, the number on the left, the rest. Each number once.

    Lines without a figure, such as a heading, say nothing.
    """
    seen: set[str] = set()
    with errors_in(path):
        lines = read_text(path).splitlines()
    for at, line in enumerate(lines, 1):
        if not re.search("[0-9]", line):
            continue
        found = LINE.fullmatch(MARKUP.sub("", line.strip()).strip().removesuffix("."))
        if found is None:
            raise MemAuditError(
                f"{path}:{at}: expected a line such as {EXAMPLES[what]!r}, not "
                f"{visible_text(shortened(line.strip(), 40))!r}"
            )
        number = found[1].upper()
        if number not in asked:
            raise MemAuditError(
                f"{path}:{at}: begins with {number!r}; expected a number from {_range(asked)}"
            )
        if number in seen:
            raise MemAuditError(f"{path}:{at}: {number} was answered before")
        seen.add(number)
        yield at, number, found[2].strip()
    if unanswered := [number for number in asked if number not in seen]:
        raise MemAuditError(
            f"{path}: {counted(len(unanswered), what)} without a line, the first is {unanswered[0]}"
        )


def _range(numbers: Sequence[str]) -> str:
    return f"{numbers[0]} to {numbers[-1]}"
