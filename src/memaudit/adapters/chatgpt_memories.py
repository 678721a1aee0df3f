"""Saved memories that ChatGPT or Gemini printed, pasted as lines `[date] - memory`."""

import re
from collections.abc import Iterator

from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ExportFields, ExportRow, ImportOptions, SkipRow
from memaudit.adapters.source import ExportFile, ExportSource, text_lines
from memaudit.adapters.store import ExportedStore, ReaderTime
from memaudit.core.errors import MemAuditError
from memaudit.io.timestamps import export_time

_LINE = re.compile(
    r"\s*(?:[-*\u2022]\s+)?\[(?P<date>[^\[\]]{1,40})\]\s*(?:[-\u2013\u2014:]\s*)(?P<text>\S.*)"
)
_BULLET = re.compile(r"\s*[-*\u2022]\s+(?P<text>\S.*)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?|[^.!?]{1,60}:)\s*")
_UNDATED = re.compile(
    r"(?:the )?(?:date )?(?:saved )?(?:is )?"
    r"(?:unknown|undated|unavailable|not available|not saved|n/?a|none|no date)(?: date)?",
    re.IGNORECASE,
)
_ENGLISH = re.compile(r"(?P<month>[A-Za-z]+)\.? (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_COARSE = re.compile(r"\d{4}(?:-\d\d)?|[A-Za-z]+\.? \d{4}")
"""A year, or a month of one: a date, but no day."""


class ChatGptMemories:
    """Lines `[2025-03-14] - memory`; some may have no date."""

    name = "chatgpt-memories"
    label = "ChatGPT or Gemini, saved memories pasted as [date] - memory"
    views: tuple[str, ...] = ("memory",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        """Text of which most lines begin with a date, or say that there is none, in brackets."""
        if source.folder or any(part.kind != "text" for part in source.parts):
            return 0
        lines = [line for part in source.parts for _, line in _lines(part)]
        dated = [
            bool((match := _LINE.fullmatch(line)) and _is_date(match["date"])) for line in lines
        ]
        return 3 if sum(dated) * 2 > len(dated) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        ledger = ImportLedger(source, options)
        for part in source.parts:
            if part.kind != "text":
                raise MemAuditError(f"{part.name}: is not text (give lines '[date] - memory')")
            ledger.take((_row(part, at, line) for at, line in _lines(part)), _draft)
        return ledger.store("ChatGPT", self.name, self.views[0], in_order=False)


def _lines(part: ExportFile) -> Iterator[tuple[int, str]]:
    """Lines with words, counted from 1; marks around a block of code are none."""
    for at, line in enumerate(text_lines(part.parsed.text), start=1):
        if line.strip() and not _FENCE.match(line):
            yield at, line


def _is_date(text: str) -> bool:
    text = text.strip()
    known = _time(text) is not None or _COARSE.fullmatch(text) or _UNDATED.fullmatch(text)
    return bool(known)


def _time(text: str) -> str | None:
    """Also as Americans write it: March 14, 2025."""
    if match := _ENGLISH.fullmatch(text):
        months = [month for month in _MONTHS if month.lower().startswith(match["month"].lower())]
        if len(match["month"]) < 3 or len(months) != 1:
            return None
        return export_time(f"{match['day']} {months[0]} {match['year']}")
    return export_time(text)


def _row(part: ExportFile, at: int, line: str) -> ExportRow:
    place, id = f"{part.name}:{at}", f"line-{at}"
    match = _LINE.fullmatch(line)
    if match and _is_date(match["date"]):
        date = match["date"].strip()
        undated = _UNDATED.fullmatch(date)
        return ExportRow(
            place, {"id": id, "text": match["text"].strip(), "date": None if undated else date}
        )
    if _HEADING.fullmatch(line):
        return ExportRow(place, {"id": id})
    bullet = _BULLET.fullmatch(line)
    return ExportRow(place, {"id": id, "text": (bullet["text"] if bullet else line).strip()})


def _draft(row: ExportFields) -> MemoryDraft:
    if "text" not in row.data:
        raise SkipRow("a heading, not a memory")
    date = row.data.get("date")
    time = _time(date) if isinstance(date, str) else None
    if date is not None and time is None:
        row.note("date without a day, kept as metadata")
    return MemoryDraft(
        text=row.text("text"),
        id=row.label("id"),
        created_at=time,
        metadata={} if time else row.others("id", "text"),
    )
