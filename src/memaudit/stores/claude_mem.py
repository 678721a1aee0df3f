"""claude-mem's SQLite file: observations of coding sessions, and their summaries."""

from collections.abc import Iterator

from memaudit.kernel.io.foreign_json import loads
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow, has_table, rows_of_table
from memaudit.stores.source import ExportFile, ExportSource

OBSERVATIONS, SUMMARIES = "observations", "session_summaries"
REQUIRED = ("id", "project", "type", "title", "facts", "narrative", "created_at_epoch")
OPTIONAL = (
    "subtitle",
    "text",
    "concepts",
    "files_read",
    "files_modified",
    "prompt_number",
    "merged_into_project",
)
PARTS = ("request", "investigated", "learned", "completed", "next_steps")
SUMMARY = ("id", "project", *PARTS, "created_at_epoch")
SUMMARY_OPTIONAL = ("notes", "prompt_number", "merged_into_project")
SESSION = ("memory_session_id", "sdk_session_id")
"""The session that a row belongs to; older versions have the second name."""


class ClaudeMem(StoreFormat):
    """`full`: all texts of a row; `title`: an observation's title, a summary's request."""

    name = "claude-mem"
    label = "claude-mem, observations and session summaries (SQLite)"
    system = "claude-mem"
    views = ("full", "title")

    def recognises(self, source: ExportSource) -> int:
        marked = [_is_store(part) for part in source.parts]
        return 3 if marked and all(marked) else 0

    def take(self, ledger: ImportLedger) -> None:
        for part in ledger.source.parts:
            observations = _rows(part, OBSERVATIONS, REQUIRED, OPTIONAL)
            ledger.take(observations, _observation)
            if has_table(part, SUMMARIES, SUMMARY):
                summaries = _rows(part, SUMMARIES, SUMMARY, SUMMARY_OPTIONAL)
                ledger.take(summaries, _summary)


def _is_store(part: ExportFile) -> bool:
    return any(has_table(part, OBSERVATIONS, (*REQUIRED, session)) for session in SESSION)


def _rows(
    part: ExportFile, table: str, required: tuple[str, ...], optional: tuple[str, ...]
) -> Iterator[ExportRow]:
    return rows_of_table(part, table, required, (*optional, *SESSION))


def _observation(row: ExportFields) -> MemoryDraft:
    """Title, subtitle, narrative and facts; `text` is what versions before them wrote."""
    if row.view == "title":
        return _draft(row, "observation", row.text("title"))
    texts = [_optional(row, name) for name in ("title", "subtitle", "narrative")]
    facts = _listed(row, "facts")
    if not any((*texts, *facts)):
        # Rows of early versions have this column only.
        texts = [_optional(row, "text")]
    return _draft(row, "observation", _joined(row, [*texts, *facts]))


def _summary(row: ExportFields) -> MemoryDraft:
    if row.view == "title":
        return _draft(row, "summary", row.text("request"))
    named = [(name, _optional(row, name)) for name in (*PARTS, "notes")]
    lines = [f"{name.replace('_', ' ')}: {text}" for name, text in named if text]
    return _draft(row, "summary", _joined(row, lines))


def _joined(row: ExportFields, texts: list[str]) -> str:
    return row.checked("\n".join(text for text in texts if text), "text")


def _optional(row: ExportFields, name: str) -> str:
    """A text that a row may lack."""
    value = row.data.get(name)
    return row.checked(value, name) if isinstance(value, str) and value.strip() else ""


def _listed(row: ExportFields, name: str) -> list[str]:
    """The texts of a column that holds a JSON list."""
    value = row.data.get(name)
    if value is None or value == "":
        return []
    try:
        items = loads(value) if isinstance(value, str) else None
    except ValueError:
        items = None
    if not isinstance(items, list):
        row.note(f"{name} is not a JSON list, left out")
        return []
    texts = [item.strip() for item in items if isinstance(item, str) and item.strip()]
    if len(texts) < len(items):
        row.note(f"part of {name} is not text, left out")
    return texts


def _draft(row: ExportFields, kind: str, text: str) -> MemoryDraft:
    number = row.label("id")
    session = next((label for name in SESSION if (label := row.label(name))), None)
    texts = ("title", "subtitle", "narrative", "facts", "text", *PARTS, "notes")
    return MemoryDraft(
        text=text,
        id=f"{kind}-{number}" if number else None,
        created_at=row.time("created_at_epoch"),
        namespace=row.label("project"),
        sources=(session,) if session else (),
        metadata={
            "kind": kind,
            **row.others("id", "project", "created_at_epoch", *SESSION, *texts),
        },
    )
