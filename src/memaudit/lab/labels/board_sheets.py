"""Sheets on which a board's memories are labelled blind.

    DIR/sheets.json          what the numbers stand for; hidden from readers
    DIR/CONVERSATION.a.md    numbered statements, and memories, mixed and numbered
    DIR/CONVERSATION.b.md    the same in other orders, for a second reader
    DIR/CONVERSATION.a.txt   what the first reader wrote, memory by memory
    DIR/CONVERSATION.b.txt   what the second reader wrote, statement by statement
    DIR/CONVERSATION.a.cells.jsonl    the same cells for a browser or a model, into .a.csv
    DIR/third.md             the pairs on which the two differ, for another reader
    DIR/third.txt            the decisions

No sheet names a system, a question or a store. Some memories have labels of the board already: a
reader who does not agree with those is refused.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from pathlib import Path

from memaudit.board.board_files import SheetKey, SheetOrder, errors_in, labelled_texts, replace_rows
from memaudit.board.board_folder import BoardFolder, Run, run_name, shipped_board
from memaudit.board.label_controls import (
    READERS,
    USABLE,
    Said,
    choose_controls,
    control_agreement,
    write_controls,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.package.labels import FULL, NONE, PARTIAL, VALUES, Label
from memaudit.kernel.stats.agreement_coefficients import kappa_of_pairs
from memaudit.kernel.words.text import counted, one_line
from memaudit.lab.labels.frame import Frame, FrameCell
from memaudit.lab.labels.frame_files import cell_lines, read_label_sets
from memaudit.lab.labels.sheets import grid_cells, grid_sheet, pair_sheet, read_grid, read_pairs
from memaudit.workspace.run_folder import make_own_folder

KEY, BRIEF, THIRD, DECIDED = "sheets.json", "labelling.md", "third.md", "third.txt"
ANSWERS = (".txt", ".csv", ".jsonl")
"""A grid's lines, or labels by cell as the other front ends write them."""

Cells = Mapping[tuple[str, str], Fraction]
"""Coverage by memory text and unit; what is missing is none."""


@dataclass(frozen=True, slots=True)
class ReaderPair:
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
        # Seeded by the conversation: the same pairs come in the same order when this is run again.
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
        shown_kappa = "kappa undefined" if kappa is None else f"kappa {float(kappa):.3f}"
        return (
            f"{self.conversation}: {counted(pairs.total(), 'pair')}, {pairs[FULL, FULL]} full and "
            f"{pairs[PARTIAL, PARTIAL]} partial in both, {len(self.differing)} differ, "
            f"{shown_kappa}"
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
        # What exists decides what is next, so the same command is run again and again until labels
        # are written.
        make_own_folder(self.folder)  # a link in its place is refused
        for sheet in self._key.sheets:
            if self._answer(sheet).is_file():
                self._cells(sheet, sheet.texts)  # what is there already can be read
                self._check_controls(sheet)
        answers = [self._answer(sheet) for sheet in self._key.sheets]
        if missing := [path.name for path in answers if not path.is_file()]:
            yield from self._on_no_sheet()
            yield f"missing in {self.folder}: {', '.join(missing)}"
            return
        passes = self._passes()
        yield from self._on_no_sheet()
        pairs = [(reading, text, unit) for reading in passes for text, unit in reading.differing]
        third, decided = self._third(pairs), self.folder / DECIDED
        decisions = []
        if pairs and decided.exists():
            if not (self.folder / THIRD).is_file():
                raise MemAuditError(
                    f"{self.folder}: has {DECIDED} without {THIRD}, which says what it decides; "
                    f"put {THIRD} back, or remove {DECIDED} and run this again for a new {THIRD}"
                )
            # Decisions are numbered by the pairs of third.md; other pairs would give them other
            # meanings.
            if read_text(self.folder / THIRD) != third:
                raise MemAuditError(
                    f"{self.folder}: what the first readers wrote has changed since {THIRD} was "
                    f"written; remove {THIRD} and {DECIDED}, and have the pairs decided again"
                )
            with errors_in(decided):
                decisions = self._decisions(decided, pairs)
        yield from (reading.agreement for reading in passes)
        said = self._said_of_controls(self._key.sheets)
        if said:
            yield control_agreement(self.board, said).text
        if len(decisions) < len(pairs):
            write_file(self.folder / THIRD, third)
            yield f"{self.folder / THIRD}: {counted(len(pairs), 'pair')} for another reader"
            yield f"missing in {self.folder}: {DECIDED}"
            return
        third_said = {
            (reading.conversation, text, unit): decision
            for (reading, text, unit), decision in zip(pairs, decisions, strict=True)
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
        texts_of: dict[str, set[str]] = {}
        for run in self._runs:
            texts_of.setdefault(run.conversation, set()).update(
                map(one_line, self.board.unlabelled(run))
            )
        return {name: sorted(texts) for name, texts in sorted(texts_of.items()) if texts}

    @property
    def _runs(self) -> Iterator[Run]:
        """The runs whose labels belong into the target."""
        is_board = self.target.resolve() == self.board.folder.resolve()
        for system in self.board.systems:
            if is_board or system.folder.resolve() == self.target.resolve():
                yield from system.runs

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
                # Another order for each reader: tired readers err at other places.
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
                own_units = self.board.units[conversation]
                text = grid_sheet(sheet, brief, own_units)
                write_file(self.folder / f"{_stem(sheet)}.md", text)
                lines = cell_lines(grid_cells(sheet, own_units))
                write_file(self.folder / f"{_stem(sheet)}.cells.jsonl", lines)
            yield (
                f"{conversation}: {counted(len(own), 'memory')} and "
                f"{counted(len(controls), 'control')}, {len(units)} statements"
            )
        key = SheetKey(format="memaudit-sheets", version=1, sheets=sheets)
        write_file(self.folder / KEY, f"{key.model_dump_json(indent=1)}\n")
        yield (
            f"sheets are in {self.folder}: give each CONVERSATION.a.md and CONVERSATION.b.md to a "
            "reader who does not know the systems and sees nothing else, put the answers beside "
            "them as CONVERSATION.a.txt and .b.txt, and run this again (or label "
            "CONVERSATION.a.cells.jsonl with memaudit label annotate or cells into "
            "CONVERSATION.a.csv)"
        )

    def _passes(self) -> list[ReaderPair]:
        """What the readers said about memories that are to be labelled."""
        readings = []
        for a, b in zip(self._key.sheets[::2], self._key.sheets[1::2], strict=True):
            texts = tuple(sorted({*a.texts} - {*a.controls}))
            stored = {
                one_line(memory.text)
                for run in self.board.runs_on(a.conversation)
                for memory in run.store.active
            }
            # Some memories may have left the stores since; most of them means another system.
            if len({*texts} - stored) > len(texts) / 2:
                raise MemAuditError(
                    f"{self.folder}: these sheets are about other stores of {a.conversation}; "
                    "use another folder"
                )
            readings.append(
                ReaderPair(
                    a.conversation,
                    texts,
                    tuple(a.units),
                    self._cells(a, texts),
                    self._cells(b, texts),
                )
            )
        return readings

    def _answer(self, sheet: SheetOrder) -> Path:
        """Where a sheet's answer is, or where its lines would be."""
        places = [self.folder / f"{_stem(sheet)}{suffix}" for suffix in ANSWERS]
        given = [path for path in places if path.is_file()]
        if len(given) > 1:
            raise MemAuditError(
                f"{self.folder}: {given[0].name} and {given[1].name} answer the same sheet; keep "
                "one of them"
            )
        return given[0] if given else places[0]

    def _cells(self, sheet: SheetOrder, about: Collection[str]) -> Cells:
        """What a reader said about some of the texts."""
        path = self._answer(sheet)
        labels = read_grid(sheet, path) if path.suffix == ".txt" else self._labels(sheet, path)
        values: dict[tuple[str, str], Fraction] = {}
        for place, text in enumerate(sheet.texts, 1):
            for number, unit in enumerate(sheet.units, 1):
                value = VALUES[labels[f"{place}-S{number}"]]
                if value and text in about:
                    values[text, unit] = value
        return values

    def _labels(self, sheet: SheetOrder, path: Path) -> Mapping[str, Label]:
        """The labels of all cells of a sheet, as a browser or a model leaves them."""
        cells = grid_cells(sheet, self.board.units[sheet.conversation])
        label_sets = read_label_sets(path, Frame(cells))
        if len(label_sets) > 1:
            raise MemAuditError(f"{path}: has labels of several annotators; give one of them")
        labels = label_sets[0].labels
        if missing := [cell.id for cell in cells if labels.get(cell.id) not in VALUES]:
            raise MemAuditError(
                f"{path}: {counted(len(missing), 'cell')} without full, partial or none, the "
                f"first is {missing[0]}"
            )
        return labels

    def _decisions(
        self, path: Path, pairs: Sequence[tuple[ReaderPair, str, str]]
    ) -> list[Fraction]:
        """What the third reader decided, pair by pair."""
        cells = self._third_cells(pairs)
        said = {row.cell: row.label for row in read_pairs(path, {cell.id: cell for cell in cells})}
        labels = [said[cell.id] for cell in cells]
        if "cannot_tell" in labels:
            raise MemAuditError(f"{path}: expected full, partial or none for every pair")
        return [VALUES[label] for label in labels if label is not None]

    def _check_controls(self, sheet: SheetOrder) -> None:
        """Refuse a reader who does not label as the board's readers do."""
        agreement = control_agreement(self.board, self._said_of_controls([sheet]))
        if not agreement.is_at_least(USABLE):
            raise MemAuditError(
                f"{self._answer(sheet)}: {agreement.text}; below {USABLE} labels are not "
                "taken, so have the sheet answered by another reader, who follows the brief"
            )

    def _said_of_controls(self, sheets: Iterable[SheetOrder]) -> Said:
        """What readers said about memories that the board has labels for."""
        said: dict[tuple[str, str, str], dict[str, Fraction]] = {}
        for sheet in sheets:
            cells = self._cells(sheet, sheet.controls)
            ids = self.board.labelled.get(sheet.conversation, {})
            for text in sheet.controls:
                if text in ids:
                    said[sheet.conversation, ids[text], sheet.reader] = {
                        unit: cells[text, unit] for unit in sheet.units if (text, unit) in cells
                    }
        return said

    def _third(self, pairs: Sequence[tuple[ReaderPair, str, str]]) -> str:
        return pair_sheet(self._third_cells(pairs), _brief(self.board.folder))

    def _third_cells(self, pairs: Sequence[tuple[ReaderPair, str, str]]) -> list[FrameCell]:
        return [
            FrameCell(
                id=str(number),
                package=own.conversation,
                candidate="",
                unit="",
                candidate_kind="memory",
                unit_kind="unit",
                same_session=None,
                candidate_text=text,
                unit_text=self.board.units[own.conversation][unit],
                quote="",
            )
            for number, (own, text, unit) in enumerate(pairs, 1)
        ]

    def _add(
        self,
        passes: Sequence[ReaderPair],
        third: Mapping[tuple[str, str, str], Fraction],
        said: Said,
    ) -> str:
        """Put the labels into the files of the target, in place of earlier ones.

        The memories come last: a label of a memory that they do not name is refused, so that no
        board is made of what an interruption left.
        """
        plan = self.board.plan
        ids_by_text = labelled_texts(self.target / plan.memories)
        new: dict[str, list[dict[str, object]]] = {
            name: [] for name in (*plan.passes, plan.labels, plan.memories)
        }
        for reading in passes:
            # Earlier labels of the target keep their ids, so that the same text is never two
            # memories.
            ids = ids_by_text.get(reading.conversation, {})
            decided = {pair: third[reading.conversation, *pair] for pair in reading.differing}
            final = {**reading.first, **decided}
            for text in reading.texts:
                id = ids.setdefault(text, _free_id(reading.conversation, ids.values()))
                new[plan.memories].append(
                    {"conversation": reading.conversation, "memory_id": id, "text": text}
                )
            for name, cells in zip(
                (plan.labels, *plan.passes), (final, reading.first, reading.second), strict=True
            ):
                kept = sorted(pair for pair, value in cells.items() if value)
                kept = kept or [(reading.texts[0], reading.units[0])]  # says that the pass was made
                new[name] += [
                    {
                        "conversation": reading.conversation,
                        "memory_id": ids[text],
                        "unit_id": unit,
                        "coverage": plain(cells.get((text, unit), NONE)),
                    }
                    for text, unit in kept
                ]
        if said and self.target.resolve() != self.board.folder.resolve():
            write_controls(self.target, self.board, said)
        labelled = {(row["conversation"], row["memory_id"]) for row in new[plan.memories]}
        for name, new_rows in new.items():
            replace_rows(self.target / name, labelled, new_rows)
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


def _stem(sheet: SheetOrder) -> str:
    return f"{sheet.conversation}.{sheet.reader}"
