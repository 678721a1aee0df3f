"""Judges that read a file: people's labels, and coverage calls of the published layout."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from memaudit.judges.label_files import (
    MEMORY_COLUMNS,
    LabelRow,
    checked_cells,
    file_rows,
    label_rows,
    labelled_units,
    unshielded,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.package.labels import PASS, VALUES, parse_label
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.unit_parts import WholeUnit, whole_units
from memaudit.kernel.score.judge import Cell, Judgement, MemoryText, NotJudged, Pair, only
from memaudit.kernel.words.text import counted
from memaudit.stores.published import CoverageCell, memory_id, read_coverage_calls

LABEL_COLUMNS = frozenset(
    {"conversation", "memory_id", "unit_id", "coverage", "parts", "memory", "unit", "why"}
)

CELL_ID = "cell_id"
CELL_FILES = ("cells.jsonl", "cells.csv")
"""Where the cells that labels name are looked for, beside the labels."""

UNDECIDED = "cells that nobody could tell"
UNNAMED = "labels whose memory the file of memories does not name"
ELSEWHERE = "labels about memories that are not in this store"


class LabelJudge:
    """People's labels: memory_id, unit_id, coverage and why, as JSONL or CSV; or labels by cell.

    A label of a statement with parts names the kept ones in `parts`, or has the coverage 0 or 1.
    Where labels name texts by ids of their own, their field `memory`, or a file of memories, says
    which text an id stands for. Every memory of that text is labelled, whatever its place or id,
    and a memory of another text was not labelled: such a store is refused. A row of a file of
    memories without a text names an extract of a build by its id. Only such labels can judge
    candidates of a package: an id alone may belong to a memory and to a candidate. Several files
    of labels, each with its file of memories, count together.
    """

    is_estimate = False

    def __init__(
        self, labels: Path | Sequence[Path], of_memories: Path | Sequence[Path] | None = None
    ) -> None:
        paths, memories = _listed(labels), _listed(of_memories or ())
        if memories and len(memories) != len(paths):
            raise MemAuditError(
                f"{counted(len(paths), 'file')} of labels and {counted(len(memories), 'file')} of "
                "memories: give one file of memories for each, in the same order"
            )
        self.name = f"labels {', '.join(dict.fromkeys(path.stem for path in paths))}"
        self._files = []
        for at, path in enumerate(paths):
            beside = memories[at] if memories else None
            rows = file_rows(path)
            if rows[0].has(CELL_ID):
                rows = answered_cells(path, rows, beside)
                of_ids = _texts_beside(rows)
            else:
                rows = checked_cells(rows, LABEL_COLUMNS)
                # Tables with texts are written for spreadsheets, with a sign before what looks like
                # a formula.
                if path.suffix.lower() == ".csv" and rows[0].optional("memory") is not None:
                    rows = [_unshielded(row) for row in rows]
                of_ids = _texts_beside(rows)
                if beside is not None:
                    of_ids = label_rows(beside, MEMORY_COLUMNS, frozenset({"memory_id"}))
            self._files.append(_LabelFile(f"{PASS}{path.stem}", rows, of_ids))
        # An id alone may belong to a memory and to a candidate, so labels by id judge no
        # candidates.
        self.judges_candidates = all(file.memories is not None for file in self._files)
        self.goes_by_id = not self.judges_candidates

    def __repr__(self) -> str:
        return f"LabelJudge({self.name!r})"

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        if not memories:  # nor is it known which conversation is asked about
            return Judgement({})
        wholes = whole_units(units)
        parts = (WholeUnit(unit.id, unit.text, (unit,)) for unit in units)
        units_by_id = {whole.id: whole for whole in (*parts, *wholes)}
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        left_out: Counter[str] = Counter()
        named: set[str] = set()
        used = sum(file.fill(cells, memories, units_by_id, left_out, named) for file in self._files)
        unknown = frozenset(memory.id for memory in memories if memory.id not in named)
        if pairs is None:
            self._refuse_unlabelled(memories, used, unknown)
        return Judgement(
            only(cells, pairs), left_out=dict(sorted(left_out.items())), unknown=unknown
        )

    def _refuse_unlabelled(
        self, memories: Sequence[MemoryText], used: int, unknown: frozenset[str]
    ) -> None:
        """A store that these labels are not about, or not about all of it, has no score."""
        file = self._files[0].rows[0].file
        by_text = self.judges_candidates
        missing = [memory for memory in memories if memory.id in unknown] if by_text else []
        if 0 < len(missing) < len(memories):
            raise NotJudged(
                f"{file}: {len(missing)} of {counted(len(memories), 'memory')} are not among the "
                f"texts that were labelled, the first {missing[0].id!r}; label them, or "
                "read the store with the view and the times that were labelled"
            )
        if missing or not (used or by_text):
            fix = (
                "no text of the file of memories is in it: read it with the view and the times "
                "that were labelled"
                if by_text
                else "if its ids are different, give the file of its memories as well; if it "
                "covers nothing, say so with a label of 0"
            )
            raise NotJudged(f"{file}: no label is about a memory of this store; {fix}")


def answered_cells(path: Path, rows: Sequence[LabelRow], cells: Path | None) -> list[LabelRow]:
    """Labels by cell as rows of memory, unit and coverage.

    The cells are those of a file, by default of the one beside the labels; a filled in sheet has
    their texts itself. Every cell needs a label.
    """
    if path.suffix.lower() == ".csv":
        rows = [_unshielded(row) for row in rows]
    if names := sorted({row.optional("annotator_id") or "" for row in rows} - {""})[1:]:
        raise MemAuditError(f"{path.name}: has labels of several annotators, also of {names[0]!r}")
    own = {row.text(CELL_ID): row for row in rows}
    if cells is None and not any(row.has("memory_text") for row in rows):
        places = [path.with_name(name) for name in CELL_FILES if path.with_name(name).is_file()]
        if not places:
            raise MemAuditError(
                f"{path.name}: labels name cells; put {' or '.join(CELL_FILES)} beside it, or give "
                "the file of cells as the file of memories"
            )
        cells = places[0]
    asked = rows
    if cells is not None:
        asked = file_rows(cells)
        if cells.suffix.lower() == ".csv":
            asked = [_unshielded(row) for row in asked]
        asked_ids = {row.text(CELL_ID) for row in asked}
        if unknown := [row for id, row in own.items() if id not in asked_ids]:
            raise unknown[0].wrong(f"names a cell that {cells.name} does not have")
        if missing := sorted(asked_ids - own.keys()):
            raise MemAuditError(
                f"{path.name}: {counted(len(missing), 'cell')} of {cells.name} without a label, "
                f"the first is {missing[0]}"
            )
    # A sheet of one package may be used for its copies under another name; of several, names tell
    # apart units that share an id.
    several = len({row.optional("package") for row in asked}) > 1
    return [_labelled(cell, own[cell.text(CELL_ID)], several) for cell in asked]


def _labelled(cell: LabelRow, said: LabelRow, several_packages: bool) -> LabelRow:
    """What a label says of a cell. `cannot_tell` has no coverage; partial of parts names them."""
    try:
        label = parse_label(said.optional("label") if said.has("parts") else said.text("label"))
    except ValueError as error:
        raise said.wrong(str(error)) from None
    value = VALUES.get(label) if label is not None else None
    by_part = said.has("parts") and label in (None, "partial")
    return LabelRow(
        {
            "conversation": cell.optional("package") if several_packages else None,
            "memory_id": cell.optional("candidate_id") or cell.text("memory_id"),
            "unit_id": cell.text("unit_id"),
            "coverage": None if value is None or by_part else str(plain(value)),
            "parts": said.data["parts"] if by_part else None,
            "memory": cell.optional("candidate_text") or cell.optional("memory_text") or "",
            "why": said.optional("notes"),
        },
        said.file,
        said.line,
    )


def _unshielded(row: LabelRow) -> LabelRow:
    """A row of a table that is written for spreadsheets, with its texts as they are."""
    cells = {name: unshielded(cell) for name, cell in row.data.items() if isinstance(cell, str)}
    return LabelRow({**row.data, **cells}, row.file, row.line)


def _texts_beside(rows: Sequence[LabelRow]) -> list[LabelRow] | None:
    """What ids stand for, where labels have the texts of memories beside them."""
    named: dict[tuple[str | None, str], LabelRow] = {}
    for row in rows:
        text, id, conversation = row.optional("memory"), row.text("memory_id"), _conversation(row)
        if text is None:
            if named:
                raise row.wrong("lacks the field 'memory', which other rows have")
            return None
        about: dict[str, object] = {"conversation": conversation, "memory_id": id, "text": text}
        first = named.setdefault((conversation, id), LabelRow(about, row.file, row.line))
        if first.data["text"] != text:
            raise row.wrong(f"gives memory {id!r} another text than line {first.line}")
    return list(named.values())


def _conversation(row: LabelRow) -> str | None:
    return row.optional("conversation")


def _listed(files: Path | Sequence[Path]) -> Sequence[Path]:
    return [files] if isinstance(files, Path) else files


class _LabelFile:
    """One file of labels, and the file of memories that says which texts they are about."""

    def __init__(
        self, provenance: str, rows: Sequence[LabelRow], memories: Sequence[LabelRow] | None
    ) -> None:
        self.provenance, self.rows, self.memories = provenance, rows, memories
        self._rows_of = _by_conversation(rows)
        self._memories_of = _by_conversation(memories or ())

    def fill(
        self,
        cells: dict[str, dict[str, Cell]],
        memories: Sequence[MemoryText],
        units: Mapping[str, WholeUnit],
        left_out: Counter[str],
        named: set[str],
    ) -> int:
        """Add its cells, the memories it names, and counts of labels left out; returns the number
        of labels used."""
        ids_of, used = self._ids_by_label(memories), 0
        named.update(id for ids in ids_of.values() for id in ids)
        for row in _about(self._rows_of, memories[0].example):
            unit = row.text("unit_id")
            if unit not in units:
                raise row.wrong(
                    f"names the unknown unit {unit!r}; label the units of this package, or say "
                    "which conversation each label is of"
                )
            label = row.text("memory_id")
            if self.memories is not None and label not in ids_of:
                left_out[UNNAMED] += 1
                continue
            ids = ids_of.get(label, [])
            if not ids and self.memories is None:  # texts are labelled for many stores at once
                left_out[ELSEWHERE] += 1
            if not (row.has("coverage") or row.has("parts")):
                left_out[UNDECIDED] += 1
                continue
            values = labelled_units(row, units[unit]) if ids else {}
            for id in ids:
                for own, value in values.items():
                    cell = Cell(value, self.provenance, row.optional("why") or "")
                    if own in cells[id] and cells[id][own].value != cell.value:
                        raise row.wrong(
                            f"labels memory {id!r} and unit {unit!r} a second time, differently"
                        )
                    cells[id][own] = cell
                used += 1
        return used

    def _ids_by_label(self, memories: Sequence[MemoryText]) -> dict[str, list[str]]:
        """Per label id the memories it is about: by the text alone, since a line number means
        something else in every export; or by the id, without a file of memories."""
        example, own = memories[0].example, {memory.id for memory in memories}
        if self.memories is None:
            labels = {row.text("memory_id") for row in _about(self._rows_of, example)}
            return {id: [id] for id in labels & own}
        # White space differs between an export and a sheet that went through a spreadsheet; words
        # do not.
        by_text: dict[str, list[str]] = {}
        for memory in memories:
            by_text.setdefault(" ".join(memory.text.split()), []).append(memory.id)
        ids_of: dict[str, list[str]] = {}
        for row in _about(self._memories_of, example):
            id, text = row.text("memory_id"), row.optional("text")
            if text is None:
                ids_of[id] = [id] if id in own else []
            else:
                ids_of[id] = sorted(by_text.get(" ".join(text.split()), ()))
        return ids_of


Rows = Mapping[str, Sequence[LabelRow]]
"""By conversation, in the order of the file; those without one under an empty name."""


def _by_conversation(rows: Sequence[LabelRow]) -> Rows:
    grouped: dict[str, list[LabelRow]] = defaultdict(list)
    for row in rows:
        grouped[_conversation(row) or ""].append(row)
    return grouped


def _about(rows: Rows, example: str) -> Sequence[LabelRow]:
    """The rows of a conversation and those of no named one, in the order of the file; all if it is
    not known which. Unit and memory ids may repeat from conversation to conversation."""
    chosen = [rows.get("", ()), rows.get(example, ())] if example else list(rows.values())
    return sorted((row for some in chosen for row in some), key=lambda row: row.line)


class PublishedJudge:
    """Coverage calls of the published layout: what a model said of an example's exported memories.

    An example without a call was not judged; its cells are not zero.
    """

    is_estimate = judges_candidates = False
    goes_by_id = True

    def __init__(self, path: Path) -> None:
        self.name = f"published calls {path.name}"
        self._file, self._provenance = path.name, f"calls:{path.stem}"
        calls = read_coverage_calls(path)
        self._judged, self._failed = frozenset(calls.examples), calls.skipped
        self._rows: dict[str, list[CoverageCell]] = defaultdict(list)
        for row in calls.rows:
            self._rows[row.example].append(row)

    def judge(
        self,
        memories: Sequence[MemoryText],
        units: Sequence[EvidenceUnit],
        pairs: Collection[Pair] | None = None,
    ) -> Judgement:
        left_out: Counter[str] = Counter()
        if self._failed:
            left_out["calls that failed or could not be read"] = len(self._failed)
        if not memories:
            return Judgement({}, left_out=dict(left_out))
        example = memories[0].example
        if example not in self._judged:
            raise NotJudged(self._no_call(example))
        unit_ids = {unit.id for unit in units}
        ids = {memory_id(example, memory.id): memory.id for memory in memories}
        cells: dict[str, dict[str, Cell]] = {memory.id: {} for memory in memories}
        rows = self._rows[example]
        for row in rows:
            if row.memory not in ids:
                left_out["edges to memories that are not in this store"] += 1
            elif row.unit not in unit_ids:
                left_out["edges to units that are not in this package"] += 1
            else:
                cells[ids[row.memory]][row.unit] = Cell(row.value, self._provenance)
        # Ids of another run or version match nothing, which without this would be a score of 0.
        if rows and not any(cells.values()):
            raise NotJudged(
                f"{self._file}: no edge of {example!r} is about a memory of this store and a unit "
                f"of this package: the first says {rows[0].memory!r} and {rows[0].unit!r}"
            )
        return Judgement(only(cells, pairs), left_out=dict(left_out))

    def _no_call(self, example: str) -> str:
        problem = f"{self._file}: has no call about {example!r}"
        if not self._failed:
            others = ", ".join(repr(name) for name in sorted(self._judged)[:3]) or "nothing"
            return f"{problem}; it is about {others}"
        place, reason = next(iter(self._failed.items()))
        failed = counted(len(self._failed), "call")
        return f"{problem}; {failed} failed or could not be read, the first at {place}: {reason}"
