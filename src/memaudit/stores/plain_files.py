"""Files without a system's marks: your own JSONL, JSON or text, and memories kept as Markdown."""

import re
from collections.abc import Sequence
from functools import partial

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import State
from memaudit.stores.documents import front_matter, has_structure
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow, SkipRow, rows_of, samples
from memaudit.stores.source import ExportFile, ExportSource, is_markdown, text_lines

LISTS = ("memories",)
TEXTS = ("text", "memory", "content", "fact")
IDS = ("id", "memory_id")
CREATED = ("created_at", "timestamp", "time", "date")
NAMESPACES = ("namespace", "speaker_namespace", "user_id", "speaker")
STATES: tuple[State, ...] = ("active", "deleted", "expired", "superseded")


class JsonlOrText(StoreFormat):
    """Rows with a `text` (or `memory`, `content`, `fact`) and whatever else."""

    name = "plain"
    label = "plain JSONL, JSON or text"
    system = "plain"
    in_order = True

    def recognises(self, source: ExportSource) -> int:
        """Anything with texts; every other format is more certain."""
        if all(part.kind == "text" for part in source.parts):
            # A .json file without a JSON list or object is an error page or a stray value.
            named_json = any(part.path.suffix.lower() == ".json" for part in source.parts)
            return 0 if source.folder or named_json else 1
        # Only where every row has a text: any list of objects would pass else.
        rows = list(samples(source, LISTS))
        if rows and all(any(key in row for key in TEXTS) for row in rows):
            return 1
        documents = [part.parsed.document for part in source.parts if part.kind == "json"]
        lists = [document for document in documents if isinstance(document, list) and document]
        return int(bool(lists) and all(isinstance(row, str) for rows in lists for row in rows[:20]))

    def take(self, ledger: ImportLedger) -> None:
        for part in ledger.source.parts:
            ledger.take(_rows(part), _draft)


def _rows(part: ExportFile) -> list[ExportRow]:
    if part.kind == "text":
        lines = enumerate(text_lines(part.parsed.text), start=1)
        return [
            ExportRow(f"{part.name}:{at}", {"text": line, "id": f"line-{at}"})
            for at, line in lines
            if line.strip()
        ]
    rows = rows_of(part, LISTS, TEXTS)
    numbers = [line.number for line in part.parsed.lines] or [at + 1 for at in range(len(rows))]
    named = []
    for at, raw in zip(numbers, rows, strict=True):
        value = {"text": raw.value} if isinstance(raw.value, str) else raw.value
        if isinstance(value, dict) and not any(value.get(key) is not None for key in IDS):
            value = {**value, "id": f"line-{at}"}  # there is no better name
        named.append(ExportRow(raw.place, value, raw.problem))
    return named


def _draft(row: ExportFields) -> MemoryDraft:
    name = next((key for key in TEXTS if row.data.get(key) is not None), "text")
    text = row.text(name)
    state = row.data.get("state", "active")
    if state not in STATES:
        raise SkipRow("unknown state")
    created = next((key for key in CREATED if row.data.get(key) is not None), "created_at")
    return MemoryDraft(
        text=text,
        id=next((id for key in IDS if (id := row.label(key))), None),
        state=state,
        created_at=row.time(created),
        updated_at=row.time("updated_at"),
        valid_from=row.time("valid_from"),
        valid_to=row.time("valid_to"),
        namespace=next((label for key in NAMESPACES if (label := row.label(key))), None),
        example=row.label("example"),
        sources=row.names("sources"),
        salience=row.number("salience"),
        metadata=row.others(name, created, *IDS, "state", "sources", "example", "salience"),
    )


_FIELD = re.compile(r"(?P<name>[A-Za-z_][\w-]*):[ \t]*(?P<value>.*)")


class MarkdownFolder(StoreFormat):
    """Files cut into entries, each file as one memory (`full`), or by bare lines (`lines`)."""

    name = "markdown"
    label = "Markdown or text files: CLAUDE.md, MEMORY.md, Letta Code, the Claude memory tool"
    system = "files"
    views = ("entries", "full", "lines")

    def recognises(self, source: ExportSource) -> int:
        """A folder of memory files, files of Markdown by name, a single one by its content."""
        if source.folder:
            return 3
        first, *others = source.parts
        structured = not others and first.kind == "text" and has_structure(first.parsed.text)
        return 2 if structured or all(is_markdown(part.name) for part in source.parts) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every file, by path; files that are not memory files are counted as left out."""
        view = ledger.view
        for part in ledger.source.parts:
            if part.kind != "text":
                raise MemAuditError(
                    f"{part.name}: is not a text file (give a folder of memory files)"
                )
            text, head = part.parsed.text, front_matter(part.parsed.text)
            if view == "full":
                # Front matter is for the program, which does not show it to the model.
                text = text.removeprefix("".join(head)).strip("\r\n")
            raw = ExportRow(part.name, {"text": text, "metadata": head_fields(head)})
            ledger.take_document(
                raw, "text", part.name, view, partial(_document_draft, part=part), len(head)
            )


def head_fields(lines: Sequence[str]) -> dict[str, str]:
    """The `name: value` lines of the front matter; other YAML is kept as text."""
    head: dict[str, list[str]] = {}
    last = ""
    for ended in lines[1:-1]:
        line = ended.rstrip("\r\n")
        if field := _FIELD.fullmatch(line):
            last = field["name"]
            head[last] = [field["value"].strip().strip("\"'")]
        elif last and line.strip():  # a folded value or a list
            head[last].append(line.rstrip())
    return {name: "\n".join(lines).strip() for name, lines in head.items()}


def _document_draft(row: ExportFields, part: ExportFile) -> MemoryDraft:
    text = row.text("text")
    path = part.name.rpartition(".")[0] or part.name
    return MemoryDraft(
        text=text,
        id=part.name,
        namespace=path.partition("/")[0] if "/" in path else None,
        metadata=row.inner("metadata").others(),
    )
