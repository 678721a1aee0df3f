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

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.datasets.json_records import dataset_hash, json_lines, read_piece
from memaudit.io.csv_rows import csv_rows
from memaudit.io.files import open_regular
from memaudit.io.lenient_json import encodable
from memaudit.io.strict_json import kind_of

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


def label_rows(path: Path, known: frozenset[str], required: frozenset[str]) -> list[LabelRow]:
    """The rows of a file; a missing or unknown column is an error that names it."""
    if path.suffix.lower() == ".csv":
        rows = list(_csv(path))
    else:
        rows = [LabelRow(data, path.name, line) for line, data in json_lines(path)]
    for row in rows:
        if unknown := sorted(row.data.keys() - known):
            fields = ", ".join(sorted(known))
            raise row.wrong(f"has the unknown field {unknown[0]!r} (known fields: {fields})")
        for field in sorted(required):
            row.text(field)
    if not rows:
        raise MemAuditError(f"{path.name}: contains no rows")
    return rows


def _csv(path: Path) -> Iterator[LabelRow]:
    with open_regular(path) as file:
        content = read_piece(file, MAX_BYTES + 1, path.name)
    if len(content) > MAX_BYTES:
        raise MemAuditError(f"{path.name}: is larger than {MAX_BYTES >> 20} MB; split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MemAuditError(f"{path.name}: is not UTF-8; save it as UTF-8") from None
    for line, header, cells in csv_rows(text, path.name):
        row = LabelRow(dict(zip(header, cells, strict=False)), path.name, line)
        if len(cells) != len(header):
            raise row.wrong(f"has {len(cells)} cells, the header has {len(header)}")
        yield row


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
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


UNIT_FIELDS = frozenset({
    "conversation", "unit_id", "kind", "text", "quote", "turns", "dia_ids", "session", "questions",
    "note",
})  # fmt: skip
MEMORY_FIELDS = frozenset({
    "conversation", "memory_id", "kind", "text", "turn", "session", "sources", "confidence",
})  # fmt: skip
CELL_FIELDS = frozenset({"conversation", "memory_id", "unit_id", "coverage", "why"})


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
        None if units is None else _file(units, UNIT_FIELDS, {"unit_id", "text"}),
        None if memories is None else _file(memories, MEMORY_FIELDS, {"memory_id"}),
        tuple(_file(path, CELL_FIELDS, {"memory_id", "unit_id", "coverage"}) for path in passes),
    )


def _file(path: Path, known: frozenset[str], required: set[str]) -> LabelFile:
    rows = label_rows(path, known, frozenset(required))
    return LabelFile(path.stem, dataset_hash(path), tuple(rows))
