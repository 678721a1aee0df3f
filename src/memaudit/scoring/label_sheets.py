"""Sheets on which a board's memories are labelled blind.

    DIR/sheets.json          what the numbers stand for; hidden from readers
    DIR/CONVERSATION.a.md    numbered statements, and memories of all systems, mixed and numbered
    DIR/CONVERSATION.b.md    the same in other orders, for a second reader
    DIR/CONVERSATION.a.txt   what the first reader wrote, memory by memory
    DIR/CONVERSATION.b.txt   what the second reader wrote, statement by statement
    DIR/third.md             the pairs on which the two differ, for another reader
    DIR/third.txt            the decisions

No sheet names a system, a question or a store.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.text import counted, visible_text
from memaudit.formats.board_file import SheetKey, SheetOrder
from memaudit.formats.file_model import validated
from memaudit.io.atomic import write_file, write_lines
from memaudit.io.files import MAX_BYTES, read_text
from memaudit.io.run_folder import make_own_folder
from memaudit.natural.label_files import label_rows
from memaudit.scoring.board_folder import BoardFolder, read_object, shipped_board
from memaudit.scoring.heading_credit import heading_texts
from memaudit.scoring.judged_store import measured_store
from memaudit.scoring.label_judges import MEMORY_FIELDS
from memaudit.stats.agreement_coefficients import kappa_of_pairs

KEY, BRIEF, THIRD, DECIDED = "sheets.json", "labelling.md", "third.md", "third.txt"
READERS: tuple[Literal["a"], Literal["b"]] = ("a", "b")
FULL, PARTIAL, NONE = Fraction(1), Fraction(1, 2), Fraction(0)
WORDS = {"full": FULL, "partial": PARTIAL, "none": NONE}

Cells = Mapping[tuple[str, str], Fraction]
"""Coverage by memory text and unit; what is missing is none."""

BY_MEMORY = (
    "Go memory by memory. Write one line for each of the {texts} memories: its number, a colon, "
    "and the numbers of the statements that it keeps, such as `17: S3, S5?, S9`, or `17: none`. "
    "S5? means partial, S5 full."
)
BY_STATEMENT = (
    "Go statement by statement. Write one line for each of the {units} statements: its number, a "
    "colon, and the numbers of the memories that keep it, such as `S3: 17, 21?`, or `S3: none`. "
    "21? means partial, 21 full."
)
EACH_PAIR = (
    "Decide each of these {pairs} pairs alone. Write one line for each: its number, a colon, and "
    "full, partial or none, such as `1: partial`."
)
LINE = re.compile(r"(S?[0-9]+) *: *(.*)")
MARK = re.compile(r"(S?[0-9]+)(\??)")


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
        kappa = kappa_of_pairs(pairs)
        return (
            f"{self.conversation}: {counted(pairs.total(), 'pair')}, {pairs[FULL, FULL]} full and "
            f"{pairs[PARTIAL, PARTIAL]} partial in both, {len(self.differing)} differ, kappa "
            + ("undefined" if kappa is None else f"{float(kappa):.3f}")
        )


@dataclass(frozen=True)
class Sheets:
    """A folder of sheets, and the folder that gets the labels."""

    board: BoardFolder
    folder: Path
    target: Path

    def advance(self) -> Iterator[str]:
        """Do what can be done next, and say what it was and what is missing."""
        if len(self.board.plan.passes) != len(READERS):
            named = counted(len(self.board.plan.passes), "blind pass", "blind passes")
            raise MemAuditError(
                f"{self.board.folder}: board.json names {named}; sheets are for two"
            )
        is_new = not (self.folder / KEY).exists()
        texts = unlabelled(self.board) if is_new else {}
        if is_new and not texts:
            yield "every memory of every store is labelled"
            return
        make_own_folder(self.folder)
        if is_new:
            yield from self._write(texts)
            return
        if missing := [name for name in self._answers if not (self.folder / name).is_file()]:
            yield f"missing: {', '.join(missing)}"
            return
        passes = self._passes()
        pairs = [(one, text, unit) for one in passes for text, unit in one.differing]
        third, decided = self._third(pairs), self.folder / DECIDED
        decisions = []
        if pairs and decided.exists():
            if read_text(self.folder / THIRD) != third:
                raise MemAuditError(
                    f"{self.folder}: what the first readers wrote has changed since {THIRD} was "
                    f"written; remove {THIRD} and {DECIDED}, and have the pairs decided again"
                )
            decisions = _decisions(decided, len(pairs))
        yield from (one.agreement for one in passes)
        if len(decisions) < len(pairs):
            write_file(self.folder / THIRD, third)
            yield f"{self.folder / THIRD}: {counted(len(pairs), 'pair')} for another reader"
            yield f"missing: {DECIDED}"
            return
        third_said = {
            (one.conversation, text, unit): decision
            for (one, text, unit), decision in zip(pairs, decisions, strict=True)
        }
        yield self._add(passes, third_said)

    @property
    def _answers(self) -> list[str]:
        return [f"{sheet.conversation}.{sheet.reader}.txt" for sheet in self._key.sheets]

    @cached_property
    def _key(self) -> SheetKey:
        path = self.folder / KEY
        key = validated(SheetKey, read_object(path, MAX_BYTES), str(path))
        readers = [sheet.reader for sheet in key.sheets]
        if readers != [*READERS] * (len(readers) // len(READERS)):
            raise MemAuditError(f"{path}: expected two sheets for each conversation")
        for sheet in key.sheets:
            if sorted(sheet.units) != sorted(self._units.get(sheet.conversation, ())):
                raise MemAuditError(
                    f"{path}: {sheet.conversation!r} and its units are not those of this board; "
                    "write the sheets again, in another folder"
                )
        return key

    @cached_property
    def _units(self) -> dict[str, dict[str, str]]:
        return {one.name: {unit.id: unit.text for unit in one.units} for one in self.board.packages}

    def _write(self, texts: Mapping[str, Sequence[str]]) -> Iterator[str]:
        brief = _brief(self.board.folder)
        sheets = []
        for conversation, own in texts.items():
            for reader in READERS:
                dice = random.Random(f"{conversation} {reader}")
                units = list(self._units[conversation])
                shuffled = dice.sample(own, len(own))
                sheet = SheetOrder(
                    conversation=conversation, reader=reader, texts=shuffled,
                    units=dice.sample(units, len(units)),
                )  # fmt: skip
                sheets.append(sheet)
                text = _sheet(sheet, brief, self._units[conversation])
                write_file(self.folder / f"{conversation}.{reader}.md", text)
            yield f"{conversation}: {counted(len(own), 'memory')}, {len(units)} statements"
        key = SheetKey(format="memaudit-sheets", version=1, sheets=sheets)
        write_file(self.folder / KEY, f"{key.model_dump_json(indent=1)}\n")
        yield (
            f"sheets are in {self.folder}: give each CONVERSATION.a.md and CONVERSATION.b.md to a "
            "reader who does not know the systems and sees nothing else, put the answers beside "
            "them as .txt, and run this again"
        )

    def _passes(self) -> list[Passes]:
        first, second = (
            [one for one in self._key.sheets if one.reader == reader] for reader in READERS
        )
        return [
            Passes(a.conversation, tuple(sorted(a.texts)), tuple(a.units),
                   _cells(a, self.folder), _cells(b, self.folder))
            for a, b in zip(first, second, strict=True)
        ]  # fmt: skip

    def _third(self, pairs: Sequence[tuple[Passes, str, str]]) -> str:
        parts = [
            _brief(self.board.folder).rstrip(),
            f"## What to write\n\n{EACH_PAIR.format(pairs=len(pairs))}",
        ]
        for number, (one, text, unit) in enumerate(pairs, 1):
            statement = self._units[one.conversation][unit]
            parts.append(f"{number}. Statement: {_one(statement)}\n\n    Memory: {_one(text)}")
        return "\n\n".join(parts) + "\n"

    def _add(self, passes: Sequence[Passes], third: Mapping[tuple[str, str, str], Fraction]) -> str:
        """Append the labels to the files of the target."""
        plan = self.board.plan
        known = labelled_texts([self.target / plan.memories])
        new: dict[str, list[dict[str, object]]] = {
            name: [] for name in (plan.memories, *plan.passes, plan.labels)
        }
        for one in passes:
            ids = known.get(one.conversation, {})
            decided = {pair: third[one.conversation, *pair] for pair in one.differing}
            final = {**one.first, **decided}
            for text in one.texts:
                id = ids.setdefault(text, f"{one.conversation}/{len(ids) + 1:03d}")
                about: dict[str, object] = {"conversation": one.conversation, "memory_id": id}
                new[plan.memories].append({**about, "text": text})
                for name, cells in zip(
                    (plan.labels, *plan.passes), (final, one.first, one.second), strict=True
                ):
                    new[name] += [
                        {**about, "unit_id": unit, "coverage": plain(cells[text, unit])}
                        for unit in sorted(one.units)
                        if cells.get((text, unit))
                    ]
        for name, rows in new.items():  # if this is interrupted, the same rows come again
            path = self.target / name
            there = read_text(path).splitlines() if path.exists() else []
            lines = [json.dumps(row, ensure_ascii=False) for row in rows]
            write_lines(path, (f"{line}\n" for line in dict.fromkeys([*there, *lines])))
        return f"labels of {counted(len(new[plan.memories]), 'memory')} are in {self.target}"


def unlabelled(board: BoardFolder) -> dict[str, list[str]]:
    """By conversation, the texts of memories and shared headings that no label is about."""
    places = [board.folder, *(one.folder for one in board.systems if one.own_labels)]
    known = labelled_texts([place / board.plan.memories for place in places])
    found: dict[str, list[str]] = {}
    for package in board.packages:
        texts: set[str] = set()
        for store in board.stores(package.name):
            measured = measured_store(package, store)
            texts |= {memory.text for memory in measured.memories}
            texts |= {heading.text for heading in heading_texts(measured, package.name)}
        if new := sorted(texts - known.get(package.name, {}).keys()):
            found[package.name] = new
    return found


def labelled_texts(files: Sequence[Path]) -> dict[str, dict[str, str]]:
    """By conversation, the texts in files of memories, with their ids; no file holds none."""
    found: dict[str, dict[str, str]] = {}
    for file in files:
        if file.is_file():
            for row in label_rows(file, MEMORY_FIELDS, frozenset({"conversation", "memory_id"})):
                own = found.setdefault(row.text("conversation"), {})
                own[row.text("text")] = row.text("memory_id")
    return found


def _brief(folder: Path) -> str:
    """The board's own brief, or the one that ships."""
    if (folder / BRIEF).is_file():
        return read_text(folder / BRIEF)
    with shipped_board() as shipped:
        return read_text(shipped / BRIEF)


def _one(text: str) -> str:
    """A text on one line, so that it cannot pass for another."""
    return visible_text(" / ".join(line for line in text.splitlines() if line.strip()))


def _sheet(sheet: SheetOrder, brief: str, units: Mapping[str, str]) -> str:
    how = BY_MEMORY if sheet.reader == READERS[0] else BY_STATEMENT
    statements = [f"S{number}. {_one(units[id])}" for number, id in enumerate(sheet.units, 1)]
    memories = [f"{number}. {_one(text)}" for number, text in enumerate(sheet.texts, 1)]
    return "\n\n".join([
        brief.rstrip(),
        f"## What to write\n\n{how.format(texts=len(sheet.texts), units=len(sheet.units))}",
        "## Statements", *statements, "## Memories", *memories,
    ]) + "\n"  # fmt: skip


def _lines(path: Path) -> Iterator[tuple[int, str, str]]:
    """The lines of an answer: where, the number on the left, the rest. Each number once."""
    seen: set[str] = set()
    for at, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        found = LINE.fullmatch(line.strip())
        if found is None:
            raise MemAuditError(f"{path}:{at}: expected a number, a colon and an answer")
        if found[1] in seen:
            raise MemAuditError(f"{path}:{at}: {found[1]} was answered before")
        seen.add(found[1])
        yield at, found[1], found[2].strip()


def _cells(sheet: SheetOrder, folder: Path) -> Cells:
    """What a reader wrote, by text and unit."""
    path = folder / f"{sheet.conversation}.{sheet.reader}.txt"
    texts = {str(number): text for number, text in enumerate(sheet.texts, 1)}
    units = {f"S{number}": unit for number, unit in enumerate(sheet.units, 1)}
    by_memory = sheet.reader == READERS[0]
    asked = texts if by_memory else units
    cells: dict[tuple[str, str], Fraction] = {}
    answered = set()
    for at, left, right in _lines(path):
        answered.add(left)
        for mark in () if right.lower() == "none" else right.split(","):
            found = MARK.fullmatch(mark.strip())
            number = "" if found is None else found[1]
            text, unit = (left, number) if by_memory else (number, left)
            if found is None or text not in texts or unit not in units:
                raise MemAuditError(
                    f"{path}:{at}: {mark.strip()!r} is not a number of this sheet, or `none`"
                )
            cells[texts[text], units[unit]] = PARTIAL if found[2] else FULL
    _refuse_other(path, asked.keys(), answered)
    return cells


def _decisions(path: Path, pairs: int) -> list[Fraction]:
    found: dict[str, Fraction] = {}
    for at, left, right in _lines(path):
        if right.lower() not in WORDS:
            raise MemAuditError(f"{path}:{at}: expected full, partial or none")
        found[left] = WORDS[right.lower()]
    numbers = [str(number) for number in range(1, pairs + 1)]
    _refuse_other(path, numbers, found)
    return [found[number] for number in numbers]


def _refuse_other(path: Path, asked: Collection[str], answered: Collection[str]) -> None:
    if unanswered := [number for number in asked if number not in answered]:
        raise MemAuditError(f"{path}: {len(unanswered)} not answered, the first {unanswered[0]}")
    if unknown := sorted(set(answered) - set(asked)):
        raise MemAuditError(f"{path}: {unknown[0]} is not a number of this sheet")
