"""What chat assistants remember: Claude.ai's data export, memories ChatGPT or Gemini printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.io.timestamps import MONTHS, export_time
from memaudit.stores.documents import front_matter
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.plain_files import head_fields
from memaudit.stores.protocol import (
    ExportFields,
    ExportRow,
    SkipRow,
    no_list,
)
from memaudit.stores.source import ExportFile, ExportSource, text_lines

ACCOUNT, PROJECTS, FILES = "conversations_memory", "project_memories", "memory_files"
KNOWN = (ACCOUNT, PROJECTS, FILES, "account_uuid")


@dataclass(frozen=True, slots=True)
class _Text:
    """One document of the export: its text is in `row` under `key`."""

    id: str
    row: ExportRow
    key: str
    namespace: str | None
    head: int = 0


class ClaudeAi(StoreFormat):
    """`memories.json`: a list of accounts; `memories/<account>.json`: one account each."""

    name = "claude-ai"
    label = "Claude.ai, data export (file or folder)"
    system = "Claude.ai"
    views = ("entries", "full", "lines")

    def recognises(self, source: ExportSource) -> int:
        """By the keys of an account."""
        accounts = [_accounts(part) for part in source.parts]
        marked = [sum(map(_is_account, rows)) * 2 > len(rows) for rows in accounts]
        return 3 if marked and all(marked) else 0

    def take(self, ledger: ImportLedger) -> None:
        view = ledger.view
        rows = [row for part in ledger.source.parts for row in _placed_accounts(part)]
        named = {
            row["account_uuid"]
            for _, row in rows
            if isinstance(row, dict) and isinstance(row.get("account_uuid"), str)
        }
        for place, row in rows:
            if not isinstance(row, dict):
                ledger.skip(place, f"{kind_of(row)}, not an object")
            elif not any(key in row for key in KNOWN[:3]):
                ledger.skip(place, f"no {ACCOUNT}, {PROJECTS} or {FILES}")
            else:
                self._take_account(ledger, place, row, view, several=len(named) > 1)

    def _take_account(
        self, ledger: ImportLedger, place: str, row: dict[str, object], view: str, several: bool
    ) -> None:
        account = row.get("account_uuid")
        owner = {"account": account} if isinstance(account, str) else {}
        # Two accounts may have documents of one name; the usual export of one account needs no
        # longer ids.
        prefix = f"{account}/" if several and owner else ""
        for name in row:
            if name not in KNOWN:
                ledger.note(f"field {encodable(name)[:40]!r} is not read", place)
        for text in _texts(ledger, place, row, owner):
            key, namespace = text.key, text.namespace

            def draft(
                fields: ExportFields,
                key: str = key,
                id: str = prefix + text.id,
                namespace: str | None = namespace,
            ) -> MemoryDraft:
                # A time of the document is the time of none of its entries: it is metadata.
                return MemoryDraft(
                    text=fields.text(key), id=id, namespace=namespace, metadata=fields.others(key)
                )

            ledger.take_document(text.row, key, prefix + text.id, view, draft, text.head)


def _accounts(part: ExportFile) -> list[object]:
    document = part.parsed.document
    return document if isinstance(document, list) else [document]


def _is_account(row: object) -> bool:
    """By a key that only this export has, or memory files with their paths."""
    if not isinstance(row, dict):
        return False
    files = row.get(FILES)
    listed = (
        isinstance(files, list)
        and bool(files)
        and all(isinstance(file, dict) and {"path", "content"} <= file.keys() for file in files)
    )
    return ACCOUNT in row or PROJECTS in row or listed


def _placed_accounts(part: ExportFile) -> Iterator[tuple[str, object]]:
    document = part.parsed.document
    if part.kind != "json":
        raise MemAuditError(f"{part.name}: is not JSON (this format is read from JSON)")
    if isinstance(document, list):
        yield from ((f"{part.name}: [{at}]", row) for at, row in enumerate(document))
    elif isinstance(document, dict) and any(key in document for key in KNOWN[:3]):
        yield f"{part.name}: account", document
    else:
        raise MemAuditError(no_list(part, ()))


def _texts(
    ledger: ImportLedger, place: str, row: dict[str, object], owner: dict[str, str]
) -> Iterator[_Text]:
    """The documents of an account: of all conversations, of each project, and its files."""
    if row.get(ACCOUNT) is not None:
        value = {ACCOUNT: row[ACCOUNT], **owner}
        yield _Text(ACCOUNT, ExportRow(f"{place}.{ACCOUNT}", value), ACCOUNT, "conversations")
    projects = row.get(PROJECTS)
    if isinstance(projects, dict):
        for given, text in projects.items():
            uuid = encodable(given)
            raw = ExportRow(f"{place}.{PROJECTS}.{uuid[:40]}", {"text": text, **owner})
            yield _Text(f"{PROJECTS}/{uuid}", raw, "text", uuid)
    elif projects is not None:
        ledger.skip(f"{place}.{PROJECTS}", f"{PROJECTS} is {kind_of(projects)}, not an object")
    files = row.get(FILES)
    if isinstance(files, list):
        for at, file in enumerate(files):
            yield _file(f"{place}.{FILES}[{at}]", f"{FILES}[{at}]", file, owner)
    elif files is not None:
        ledger.skip(f"{place}.{FILES}", f"{FILES} is {kind_of(files)}, not a list")


def _file(place: str, unnamed: str, file: object, owner: dict[str, str]) -> _Text:
    """A memory file `{"path", "content", "updated_at"}`, as one of a folder."""
    if not isinstance(file, dict):
        return _Text(unnamed, ExportRow(place, file), "content", None)
    path, content = file.get("path"), file.get("content")
    name = encodable(path).strip("/") if isinstance(path, str) else ""
    head = front_matter(content) if isinstance(content, str) else []
    value = {**file, **head_fields(head), **owner, "content": content}
    folder = name.partition("/")[0] if "/" in name else None
    return _Text(name or unnamed, ExportRow(place, value), "content", folder, len(head))


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
_COARSE = re.compile(r"\d{4}(?:-\d\d)?|[A-Za-z]+\.? \d{4}")
"""A year, or a month of one: a date, but no day."""


class ChatGptMemories(StoreFormat):
    """Lines `[2025-03-14] - memory`; some may have no date."""

    name = "chatgpt-memories"
    label = "ChatGPT or Gemini, saved memories pasted as [date] - memory"
    system = "ChatGPT"
    views = ("memory",)

    def recognises(self, source: ExportSource) -> int:
        """Text of which most lines begin with a date, or say that there is none, in brackets."""
        if source.folder or any(part.kind != "text" for part in source.parts):
            return 0
        lines = [line for part in source.parts for _, line in _lines(part)]
        dated = [
            bool((match := _LINE.fullmatch(line)) and _is_date(match["date"])) for line in lines
        ]
        return 3 if sum(dated) * 2 > len(dated) else 0

    def take(self, ledger: ImportLedger) -> None:
        for part in ledger.source.parts:
            if part.kind != "text":
                raise MemAuditError(f"{part.name}: is not text (give lines '[date] - memory')")
            ledger.take((_row(part, at, line) for at, line in _lines(part)), _draft)


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
        months = [month for month in MONTHS if month.startswith(match["month"].lower())]
        # "Ma" could be March or May.
        if len(match["month"]) < 3 or len(months) != 1:
            return None
        return export_time(f"{match['day']} {months[0]} {match['year']}")
    return export_time(text)


def _row(part: ExportFile, at: int, line: str) -> ExportRow:
    place, id = f"{part.name}:{at}", f"line-{at}"
    match = _LINE.fullmatch(line)
    # A bracket without a date is part of the text: "[work] - Ann bakes".
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
