"""CSV as people and spreadsheets save it: commas, semicolons or tabs, and long cells."""

import csv
import io
from collections.abc import Iterator

from memaudit.kernel.errors import MemAuditError

LONGEST_CELL = 1 << 24
"""Characters; the csv module's own limit is far below what a session's text needs."""


def csv_rows(text: str, name: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Each row that is not blank: its line number, the header, and its cells."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    # Not splitlines, which also splits at characters that belong to texts.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        if len(set(header)) < len(header):
            raise MemAuditError(f"{name}:1: names a column twice")
        for cells in reader:
            if any(cells):
                yield reader.line_num, header, cells
    except csv.Error as error:
        raise MemAuditError(f"{name}:{reader.line_num}: is not CSV: {error}") from None


def _delimiter(text: str) -> str:
    """The separator of the header: in some countries spreadsheets save semicolons or tabs."""
    header = text.partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in header), ",")
