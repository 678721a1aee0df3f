"""Label files in JSONL or CSV, read before they are fitted to a conversation.

A text that starts with = + - @ is a formula to a spreadsheet. In CSV for people to fill in such a
cell is written with an apostrophe before it, and one apostrophe is removed when a cell starts with
apostrophes followed by such a character. So what is written is read back unchanged.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.files import content_digest, open_regular
from memaudit.kernel.io.foreign_json import encodable, json_lines, read_piece
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.package.unit_parts import WholeUnit
from memaudit.stores.csv_rows import csv_rows

MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class LabelRow:
    data: dict[str, object]
    file: str
    line: int

    def wrong(self, message: str) -> MemAuditError:
        return MemAuditError(f"{self.file}:{self.line}: {message}")

    def text(self, field: str) -> str:
        """A required field."""
        value = self.optional(field)
        if value is None:
            what = "has nothing in" if field in self.data else "lacks"
            raise self.wrong(f"{what} the field {field!r}")
        return value

    def optional(self, field: str) -> str | None:
        """A text or number as text; None if it is missing or empty."""
        value = self.data.get(field)
        if value is None or value == "":
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise self.wrong(f"has {kind_of(value)} in the field {field!r}, text was expected")
        return encodable(str(value))

    def many(self, *fields: str) -> tuple[object, ...]:
        """A list under the first of these names that exists; in CSV split at semicolons."""
        for field in fields:
            value = self.data.get(field)
            if value is None or value == "":
                continue
            if isinstance(value, list):
                return tuple(encodable(item) if isinstance(item, str) else item for item in value)
            if isinstance(value, str):
                pieces = (piece.strip() for piece in value.split(";"))
                return tuple(piece for piece in pieces if piece)
            if isinstance(value, int) and not isinstance(value, bool):
                return (value,)
            raise self.wrong(f"has {kind_of(value)} in the field {field!r}, a list was expected")
        return ()

    def has(self, field: str) -> bool:
        """Whether there is anything in a field; an empty list is something."""
        return self.data.get(field) not in (None, "")

    def share(self, field: str) -> Fraction:
        """A number from 0 to 1."""
        text = self.text(field)
        try:
            value = exact(text)
        except ValueError as error:
            raise self.wrong(f"has a bad field {field!r}: {error}") from None
        if not 0 <= value <= 1:
            raise self.wrong(f"has {field} {text}, which is not between 0 and 1")
        return value


def file_rows(path: Path) -> list[LabelRow]:
    """The rows of a file, whatever their columns; an error if there are none."""
    # By the name: a first row of JSON may well parse as a header of CSV.
    if path.suffix.lower() == ".csv":
        rows = list(_csv(path))
    else:
        rows = [LabelRow(data, path.name, line) for line, data in json_lines(path)]
    if not rows:
        raise MemAuditError(f"{path.name}: contains no rows")
    return rows


def label_rows(path: Path, known: frozenset[str], required: frozenset[str]) -> list[LabelRow]:
    """The rows of a file; a missing or unknown column is an error that names it."""
    rows = file_rows(path)
    _check_columns(rows, known, required)
    return rows


def _check_columns(
    rows: Iterable[LabelRow], known: frozenset[str], required: frozenset[str]
) -> None:
    for row in rows:
        # A column that nobody reads is most often a misspelt one, whose labels would silently not
        # count.
        if unknown := sorted(row.data.keys() - known):
            fields = ", ".join(sorted(known))
            raise row.wrong(f"has the unknown field {unknown[0]!r} (known fields: {fields})")
        for field in sorted(required):
            row.text(field)


def _csv(path: Path) -> Iterator[LabelRow]:
    with open_regular(path) as file:
        content = read_piece(file, MAX_BYTES + 1, path.name)
    if len(content) > MAX_BYTES:
        raise MemAuditError(f"{path.name}: is larger than {MAX_BYTES >> 20} MB; split it")
    try:
        # Spreadsheets save UTF-8 with a mark in front, which would belong to the first column's
        # name.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MemAuditError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    for line, header, cells in csv_rows(text, path.name):
        row = LabelRow(dict(zip(header, cells, strict=False)), path.name, line)
        if len(cells) != len(header):
            raise row.wrong(f"has {len(cells)} cells, the header has {len(header)}")
        yield row


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
# Texts come from others, and a cell that begins so is run as a formula when the table is opened.
_SHIELDED = re.compile(r"'+[=+\-@\t\r]")


def shielded(text: str) -> str:
    """The text as a cell that no spreadsheet evaluates as a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def unshielded(text: str) -> str:
    """The original text of a cell."""
    return text[1:] if _SHIELDED.match(text) else text


def csv_text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as CSV; everything is quoted, since a bare carriage return would end a row."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[shielded(cell) for cell in row] for row in rows])
    return out.getvalue()


UNIT_COLUMNS = frozenset(
    {
        "conversation",
        "unit_id",
        "kind",
        "text",
        "quote",
        "turns",
        "dia_ids",
        "session",
        "questions",
        "note",
        "parts",
    }
)
MEMORY_COLUMNS = frozenset(
    {
        "conversation",
        "memory_id",
        "kind",
        "text",
        "turn",
        "session",
        "sources",
        "confidence",
    }
)
CELL_COLUMNS = frozenset({"conversation", "memory_id", "unit_id", "coverage", "parts", "why"})


def cell_rows(path: Path, known: frozenset[str]) -> list[LabelRow]:
    """The rows of a file of labels. Each has a coverage, or says which parts are kept."""
    return checked_cells(file_rows(path), known)


def checked_cells(rows: list[LabelRow], known: frozenset[str]) -> list[LabelRow]:
    """Rows of a file of labels, which each have a coverage or say which parts are kept."""
    _check_columns(rows, known, frozenset({"memory_id", "unit_id"}))
    for row in rows:
        if not row.has("parts"):
            row.text("coverage")
    return rows


def labelled_units(row: LabelRow, whole: WholeUnit) -> dict[str, Fraction]:
    """What a label says, by unit: the coverage of a plain unit; of a statement, 1 for every part
    that is kept and 0 for the others."""
    if not whole.has_parts:
        if row.many("parts"):
            raise row.wrong(f"names parts of unit {whole.id!r}, which has none; give its coverage")
        return {whole.id: row.share("coverage")}
    given = None if row.optional("coverage") is None else row.share("coverage")
    if row.has("parts"):
        try:
            kept = whole.of_parts(str(name) for name in row.many("parts"))
        except MemAuditError as error:
            raise row.wrong(str(error)) from None
        share = whole.share({unit.id for unit in kept})
        # Only none and all can contradict the parts; anything between leaves open which parts are
        # kept.
        if given in (0, 1) and given != share:
            raise row.wrong(
                f"has coverage {row.text('coverage')}, and parts of unit {whole.id!r} that are "
                "not that; leave one of them out"
            )
    elif given in (0, 1):
        kept = whole.units if given else ()
    else:
        names = ", ".join(name for name, _ in whole.parts)
        raise row.wrong(
            f"has coverage {row.text('coverage')} of unit {whole.id!r}, which has parts; name the "
            f"parts that are kept in the field 'parts': {names}"
        )
    return {unit.id: Fraction(unit in kept) for unit in whole.units}


def named_parts(row: LabelRow) -> tuple[tuple[str, str], ...]:
    """The parts that a unit's row names, as names and words, the core first.

    An object of words by name, or a list of `NAME: WORDS`; in CSV that list with semicolons.
    """
    given = row.data.get("parts")
    if isinstance(given, dict):
        items = [(str(name), words) for name, words in given.items()]
    else:
        items = []
        for part in row.many("parts"):
            name, colon, words = str(part).partition(":")
            if not colon:
                raise row.wrong(f"has the part {str(part)[:40]!r}; write NAME: WORDS")
            items.append((name.strip(), words.strip()))
    for name, words in items:
        if not isinstance(words, str):
            raise row.wrong(f"has {kind_of(words)} as part {name!r}, text was expected")
    return tuple((encodable(name), encodable(words)) for name, words in items)


@dataclass(frozen=True, slots=True)
class LabelFile:
    """One file. Its name without the extension names a pass."""

    name: str
    sha256: str
    rows: tuple[LabelRow, ...]

    def of(self, conversation: str) -> Iterator[LabelRow]:
        """The rows of a conversation, including rows that name none."""
        for row in self.rows:
            if row.optional("conversation") in (None, conversation):
                yield row


@dataclass(frozen=True, slots=True)
class Labels:
    """The label files of a build; None if not given."""

    units: LabelFile | None = None
    memories: LabelFile | None = None
    passes: tuple[LabelFile, ...] = ()

    @property
    def files(self) -> tuple[LabelFile, ...]:
        return (*filter(None, (self.units, self.memories)), *self.passes)

    @property
    def without_conversation(self) -> LabelRow | None:
        """The first row that names no conversation."""
        rows = (row for file in self.files for row in file.rows)
        return next((row for row in rows if row.optional("conversation") is None), None)


NO_LABELS = Labels()


def read_labels(
    units: Path | None = None, memories: Path | None = None, passes: Sequence[Path] = ()
) -> Labels:
    names = [path.stem for path in passes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MemAuditError(f"two label passes are called {twice!r}; rename one of the files")
    return Labels(
        None
        if units is None
        else _file(units, label_rows(units, UNIT_COLUMNS, frozenset({"unit_id", "text"}))),
        None
        if memories is None
        else _file(memories, label_rows(memories, MEMORY_COLUMNS, frozenset({"memory_id"}))),
        tuple(_file(path, cell_rows(path, CELL_COLUMNS)) for path in passes),
    )


def _file(path: Path, rows: Sequence[LabelRow]) -> LabelFile:
    return LabelFile(path.stem, content_digest(path), tuple(rows))
