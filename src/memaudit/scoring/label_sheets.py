"""Sheets on which a board's memories are labelled blind.

    DIR/sheets.json          what the numbers stand for; hidden from readers
    DIR/CONVERSATION.a.md    numbered statements, and memories, mixed and numbered
    DIR/CONVERSATION.b.md    the same in other orders, for a second reader
    DIR/CONVERSATION.a.txt   what the first reader wrote, memory by memory
    DIR/CONVERSATION.b.txt   what the second reader wrote, statement by statement
    DIR/third.md             the pairs on which the two differ, for another reader
    DIR/third.txt            the decisions

No sheet names a system, a question or a store. Some memories have labels of the board already: a
reader who does not agree with those is refused.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.labels import NONE
from memaudit.core.text import counted, one_line, visible_text
from memaudit.formats.board_file import SheetKey, SheetOrder
from memaudit.formats.file_model import validated
from memaudit.io.atomic import write_file
from memaudit.io.files import read_text
from memaudit.io.run_folder import make_own_folder
from memaudit.io.strict_json import read_object
from memaudit.scoring.board_folder import BoardFolder, Run, run_name, shipped_board
from memaudit.scoring.board_labels import labelled_texts, replace_rows
from memaudit.scoring.label_controls import (
    USABLE,
    Said,
    choose_controls,
    control_agreement,
    write_controls,
)
from memaudit.scoring.sheet_answers import READERS, Cells, Passes, read_cells, read_decisions

KEY, BRIEF, THIRD, DECIDED = "sheets.json", "labelling.md", "third.md", "third.txt"
BY_MEMORY = (
    "Go memory by memory. Write one line for each of the {texts} memories: its number, a colon, "
    "and the numbers of the statements that it keeps, such as `17: S3, S5?, S9`, or `17: none`. "
    "S5? means partial, S5 full. Write nothing else."
)
BY_STATEMENT = (
    "Go statement by statement. Write one line for each of the {units} statements: its number, a "
    "colon, and the numbers of the memories that keep it, such as `S3: 17, 21?`, or `S3: none`. "
    "21? means partial, 21 full. Write nothing else."
)
EACH_PAIR = (
    "Decide each pair alone. Write one line for each: its number, a colon, and full, partial or "
    "none, such as `1: partial`. Write nothing else."
)


@dataclass(frozen=True)
class Sheets:
    """A folder of sheets, and the folder that gets the labels: the board's or a system's."""

    board: BoardFolder
    folder: Path
    target: Path

    def advance(self) -> Iterator[str]:
        """Do what can be done next, and say what it was and what is missing."""
        plan = self.board.plan
        if len(plan.passes) != len(READERS):
            named = counted(len(plan.passes), "blind pass", "blind passes")
            raise MemAuditError(
                f"{self.board.folder}: board.json names {named}; sheets are for two"
            )
        for place in (self.board.folder, self.target):
            if self.folder.resolve().is_relative_to(place.resolve()):
                raise MemAuditError(
                    f"{self.folder}: give a folder outside {place}, which holds stores and labels"
                )
        if (self.folder / KEY).exists():
            yield from self._read()
        elif texts := self._unlabelled:
            yield from self._write(texts)
        else:
            yield "every memory of every store is labelled"

    def _read(self) -> Iterator[str]:
        """Take what the readers wrote as far as it goes."""
        make_own_folder(self.folder)  # a link in its place is refused
        for sheet in self._key.sheets:
            if (self.folder / _answer(sheet)).is_file():
                self._cells(sheet, sheet.texts)  # what is there already can be read
                self._check_controls(sheet)
        if missing := [name for name in self._answers if not (self.folder / name).is_file()]:
            yield from self._on_no_sheet()
            yield f"missing in {self.folder}: {', '.join(missing)}"
            return
        passes = self._passes()
        yield from self._on_no_sheet()
        pairs = [(one, text, unit) for one in passes for text, unit in one.differing]
        third, decided = self._third(pairs), self.folder / DECIDED
        decisions = []
        if pairs and decided.exists():
            if not (self.folder / THIRD).is_file():
                raise MemAuditError(
                    f"{self.folder}: has {DECIDED} without {THIRD}, which says what it decides; "
                    f"put {THIRD} back, or remove {DECIDED} and run this again for a new {THIRD}"
                )
            if read_text(self.folder / THIRD) != third:
                raise MemAuditError(
                    f"{self.folder}: what the first readers wrote has changed since {THIRD} was "
                    f"written; remove {THIRD} and {DECIDED}, and have the pairs decided again"
                )
            decisions = read_decisions(decided, len(pairs))
        yield from (one.agreement for one in passes)
        said = self._said_of_controls(self._key.sheets)
        if said:
            yield control_agreement(self.board, said).text
        if len(decisions) < len(pairs):
            write_file(self.folder / THIRD, third)
            yield f"{self.folder / THIRD}: {counted(len(pairs), 'pair')} for another reader"
            yield f"missing in {self.folder}: {DECIDED}"
            return
        third_said = {
            (one.conversation, text, unit): decision
            for (one, text, unit), decision in zip(pairs, decisions, strict=True)
        }
        yield self._add(passes, third_said, said)

    def _on_no_sheet(self) -> Iterator[str]:
        """What nobody labels, since it came after the sheets were written."""
        on_sheets: dict[str, set[str]] = {}
        for sheet in self._key.sheets:
            on_sheets.setdefault(sheet.conversation, set()).update(sheet.texts)
        for name, texts in self._unlabelled.items():
            if later := {*texts} - on_sheets.get(name, set()):
                yield (
                    f"{name}: {counted(len(later), 'memory')} on no sheet; when these sheets are "
                    "done, run this again with another folder"
                )

    @cached_property
    def _unlabelled(self) -> dict[str, list[str]]:
        """By conversation, what no label is about."""
        found: dict[str, set[str]] = {}
        for run in self._runs:
            found.setdefault(run.conversation, set()).update(
                map(one_line, self.board.unlabelled(run, headings=True))
            )
        return {name: sorted(texts) for name, texts in sorted(found.items()) if texts}

    @property
    def _runs(self) -> Iterator[Run]:
        """The runs whose labels belong into the target."""
        is_board = self.target.resolve() == self.board.folder.resolve()
        for system in self.board.systems:
            if is_board or system.folder.resolve() == self.target.resolve():
                yield from system.runs

    @property
    def _answers(self) -> list[str]:
        return [_answer(sheet) for sheet in self._key.sheets]

    @cached_property
    def _key(self) -> SheetKey:
        path = self.folder / KEY
        key = validated(SheetKey, read_object(path, "use another folder"), str(path))
        firsts, seconds = key.sheets[::2], key.sheets[1::2]
        for a, b in zip(firsts, seconds, strict=len(firsts) == len(seconds)):
            if (
                (a.reader, b.reader) != READERS
                or a.conversation != b.conversation
                or sorted(a.texts) != sorted(b.texts)
            ):
                raise MemAuditError(f"{path}: expected two sheets for each conversation")
        for sheet in key.sheets:
            units = self.board.units.get(sheet.conversation, {})
            if not units or sorted(sheet.units) != sorted(units):
                raise MemAuditError(
                    f"{path}: {sheet.conversation!r} and its units are not those of this board; "
                    "use another folder"
                )
        return key

    def _write(self, texts: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Write the sheets. Labelled memories are mixed in, as controls."""
        make_own_folder(self.folder)
        if any(self.folder.iterdir()):
            raise MemAuditError(
                f"{self.folder}: is not empty and has no {KEY}; give another folder"
            )
        for run in self._runs:
            if not run.store.active:
                yield f"{run_name(run)} on {run.conversation}: the store is empty"
            if run.missing:
                yield f"{run_name(run)} on {run.conversation}: {'; '.join(run.missing)}"
        brief = _brief(self.board.folder)
        sheets = []
        for conversation, own in texts.items():
            controls = choose_controls(self.board, conversation)
            for reader in READERS:
                dice = random.Random(f"{conversation} {reader}")
                mixed, units = sorted([*own, *controls]), list(self.board.units[conversation])
                sheet = SheetOrder(
                    conversation=conversation,
                    reader=reader,
                    texts=dice.sample(mixed, len(mixed)),
                    controls=controls,
                    units=dice.sample(units, len(units)),
                )
                sheets.append(sheet)
                text = _sheet(sheet, brief, self.board.units[conversation])
                write_file(self.folder / f"{conversation}.{reader}.md", text)
            yield (
                f"{conversation}: {counted(len(own), 'memory')} and "
                f"{counted(len(controls), 'control')}, {len(units)} statements"
            )
        key = SheetKey(format="memaudit-sheets", version=1, sheets=sheets)
        write_file(self.folder / KEY, f"{key.model_dump_json(indent=1)}\n")
        yield (
            f"sheets are in {self.folder}: give each CONVERSATION.a.md and CONVERSATION.b.md to a "
            "reader who does not know the systems and sees nothing else, put the answers beside "
            "them as CONVERSATION.a.txt and .b.txt, and run this again"
        )

    def _passes(self) -> list[Passes]:
        """What the readers said about memories that are to be labelled."""
        found = []
        for a, b in zip(self._key.sheets[::2], self._key.sheets[1::2], strict=True):
            texts = tuple(sorted({*a.texts} - {*a.controls}))
            stored = {
                one_line(memory.text)
                for run in self.board.runs_on(a.conversation)
                for memory in run.store.active
            }
            if len({*texts} - stored) > len(texts) / 2:
                raise MemAuditError(
                    f"{self.folder}: these sheets are about other stores of {a.conversation}; "
                    "use another folder"
                )
            found.append(
                Passes(
                    a.conversation,
                    texts,
                    tuple(a.units),
                    self._cells(a, texts),
                    self._cells(b, texts),
                )
            )
        return found

    def _cells(self, sheet: SheetOrder, about: Collection[str]) -> Cells:
        """What a reader wrote about some of the texts."""
        return read_cells(sheet, self.folder / _answer(sheet), about)

    def _check_controls(self, sheet: SheetOrder) -> None:
        """Refuse a reader who does not label as the board's readers do."""
        agreement = control_agreement(self.board, self._said_of_controls([sheet]))
        if not agreement.is_at_least(USABLE):
            raise MemAuditError(
                f"{self.folder / _answer(sheet)}: {agreement.text}; below {USABLE} labels are not "
                "taken, so have the sheet answered by another reader, who follows the brief"
            )

    def _said_of_controls(self, sheets: Iterable[SheetOrder]) -> Said:
        """What readers said about memories that the board has labels for."""
        said: dict[tuple[str, str, str], dict[str, Fraction]] = {}
        for sheet in sheets:
            cells = self._cells(sheet, sheet.controls)
            ids = self.board.known.get(sheet.conversation, {})
            for text in sheet.controls:
                if text in ids:
                    said[sheet.conversation, ids[text], sheet.reader] = {
                        unit: cells[text, unit] for unit in sheet.units if (text, unit) in cells
                    }
        return said

    def _third(self, pairs: Sequence[tuple[Passes, str, str]]) -> str:
        parts = [
            _brief(self.board.folder).rstrip(),
            f"## What to write\n\n{EACH_PAIR}",
        ]
        for number, (one, text, unit) in enumerate(pairs, 1):
            statement = self.board.units[one.conversation][unit]
            parts.append(f"{number}. Statement: {_shown(statement)}\n\n    Memory: {_shown(text)}")
        return "\n\n".join(parts) + "\n"

    def _add(
        self, passes: Sequence[Passes], third: Mapping[tuple[str, str, str], Fraction], said: Said
    ) -> str:
        """Put the labels into the files of the target, in place of earlier ones.

        The memories come last: a label of a memory that they do not name is refused, so that no
        board is made of what an interruption left.
        """
        plan = self.board.plan
        known = labelled_texts(self.target / plan.memories)
        new: dict[str, list[dict[str, object]]] = {
            name: [] for name in (*plan.passes, plan.labels, plan.memories)
        }
        for one in passes:
            ids = known.get(one.conversation, {})
            decided = {pair: third[one.conversation, *pair] for pair in one.differing}
            final = {**one.first, **decided}
            for text in one.texts:
                id = ids.setdefault(text, _free_id(one.conversation, ids.values()))
                new[plan.memories].append(
                    {"conversation": one.conversation, "memory_id": id, "text": text}
                )
            for name, cells in zip(
                (plan.labels, *plan.passes), (final, one.first, one.second), strict=True
            ):
                kept = sorted(pair for pair, value in cells.items() if value)
                kept = kept or [(one.texts[0], one.units[0])]  # says that the pass was made
                new[name] += [
                    {
                        "conversation": one.conversation,
                        "memory_id": ids[text],
                        "unit_id": unit,
                        "coverage": plain(cells.get((text, unit), NONE)),
                    }
                    for text, unit in kept
                ]
        if said and self.target.resolve() != self.board.folder.resolve():
            write_controls(self.target, self.board, said)
        labelled = {(row["conversation"], row["memory_id"]) for row in new[plan.memories]}
        for name, found in new.items():
            replace_rows(self.target / name, labelled, found)
        return f"labels of {counted(len(labelled), 'memory')} are in {self.target}"


def _free_id(conversation: str, taken: Collection[str]) -> str:
    numbers = (f"{conversation}/{number:03d}" for number in count(1))
    return next(id for id in numbers if id not in taken)


def _brief(folder: Path) -> str:
    """The board's own brief, or the one that ships."""
    if (folder / BRIEF).is_file():
        return read_text(folder / BRIEF)
    with shipped_board() as shipped:
        return read_text(shipped / BRIEF)


def _shown(text: str) -> str:
    """A text on one line, so that it cannot pass for another."""
    return visible_text(one_line(text))


def _sheet(sheet: SheetOrder, brief: str, units: Mapping[str, str]) -> str:
    how = BY_MEMORY if sheet.reader == READERS[0] else BY_STATEMENT
    statements = [f"S{number}. {_shown(units[id])}" for number, id in enumerate(sheet.units, 1)]
    memories = [f"{number}. {_shown(text)}" for number, text in enumerate(sheet.texts, 1)]
    return (
        "\n\n".join(
            [
                brief.rstrip(),
                f"## What to write\n\n{how.format(texts=len(sheet.texts), units=len(sheet.units))}",
                "## Statements",
                *statements,
                "## Memories",
                *memories,
            ]
        )
        + "\n"
    )


def _answer(sheet: SheetOrder) -> str:
    return f"{sheet.conversation}.{sheet.reader}.txt"
