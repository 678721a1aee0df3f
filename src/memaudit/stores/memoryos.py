"""MemoryOS of BAI-LAB: its short-term, mid-term and long-term files. MemOS is another system."""

from collections.abc import Iterator
from functools import partial
from typing import Literal

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import HarmlessSkip
from memaudit.kernel.io.strict_json import kind_of
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow, SkipRow, no_list, rows_of
from memaudit.stores.source import ExportFile, ExportSource

Layer = Literal["short-term", "mid-term", "profile", "user knowledge", "assistant knowledge"]

KNOWLEDGE: dict[str, Layer] = {
    "knowledge_base": "user knowledge",
    "assistant_knowledge": "assistant knowledge",
}


class MemoryOS(StoreFormat):
    """`pages`: mid-term sessions page by page; `summaries`: the summary of each session."""

    name = "memoryos"
    label = "MemoryOS of BAI-LAB, its three layers"
    system = "MemoryOS"
    views = ("pages", "summaries")
    reader_time = "created_at"

    def recognises(self, source: ExportSource) -> int:
        # An empty list could be of any system; beside a known file it is short-term memory.
        known = [_is_known(part) for part in source.parts if part.parsed.document != []]
        return 3 if known and all(known) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every layer; the layer is the namespace, since it decides how the reader is shown it."""
        view = ledger.view
        words = 0
        for part in ledger.source.parts:
            for layer, raw in _rows(part, view):
                ledger.take_one(raw, partial(_draft, layer=layer))
                words += layer == "short-term" or (layer == "mid-term" and view == "pages")
        if words:
            ledger.warn(
                "short-term memory and pages are messages word for word, not extracted memories"
            )


def _is_known(part: ExportFile) -> bool:
    document = part.parsed.document
    if isinstance(document, list):
        rows = [row for row in document[:20] if isinstance(row, dict)]
        return bool(rows) and all({"user_input", "agent_response"} <= row.keys() for row in rows)
    if not isinstance(document, dict):
        return False
    return {"sessions", "access_frequency"} <= document.keys() or (
        "knowledge_base" in document
        and ("user_profiles" in document or "assistant_knowledge" in document)
    )


def _rows(part: ExportFile, view: str) -> Iterator[tuple[Layer, ExportRow]]:
    document = part.parsed.document
    if not isinstance(document, dict):
        yield from (("short-term", raw) for raw in rows_of(part))
        return
    # A list is short-term memory; the other files are told by their keys, since any of them may be
    # given alone.
    if not {"sessions", "user_profiles", *KNOWLEDGE} & document.keys():
        raise MemAuditError(no_list(part, ("sessions", *KNOWLEDGE)))
    for raw in _named(part, "sessions", "id"):
        if view == "summaries" or raw.problem:
            yield "mid-term", raw
        else:
            yield from (("mid-term", page) for page in _pages(raw))
    yield from (("profile", raw) for raw in _named(part, "user_profiles", "user"))
    for key, layer in KNOWLEDGE.items():
        if key in document:
            yield from ((layer, raw) for raw in rows_of(part, (key,)))


def _named(part: ExportFile, key: str, own: str) -> Iterator[ExportRow]:
    """The objects under the names of an object, each with its name."""
    document = part.parsed.document
    if not isinstance(document, dict) or key not in document:
        return
    objects = document[key]
    if not isinstance(objects, dict):
        raise MemAuditError(f"{part.name}: {key} is {kind_of(objects)}, an object was expected")
    for name, value in objects.items():
        place = f"{part.name}: {key}.{name[:40]}"
        yield ExportRow(place, {own: name, **value} if isinstance(value, dict) else value)


def _pages(raw: ExportRow) -> Iterator[ExportRow]:
    session = raw.value
    pages = session.get("details") if isinstance(session, dict) else None
    if not isinstance(pages, list):
        problem = f"details is {kind_of(pages)}, not a list"
        yield raw if not isinstance(session, dict) else ExportRow(raw.place, problem=problem)
    elif not pages:
        yield ExportRow(raw.place, problem=HarmlessSkip.EMPTY_TEXT)
    else:
        for at, page in enumerate(pages):
            yield ExportRow(f"{raw.place}.details[{at}]", page)


def _draft(row: ExportFields, layer: Layer) -> MemoryDraft:
    if layer == "profile":
        return MemoryDraft(
            text=row.text("data"),
            id=f"profile/{row.label('user')}",
            namespace=layer,
            updated_at=row.time("last_updated"),
            metadata=row.others("data", "last_updated"),
        )
    time = row.time("timestamp")
    if layer in KNOWLEDGE.values():
        return MemoryDraft(
            text=row.text("knowledge"),
            namespace=layer,
            created_at=time,
            metadata=row.others("knowledge", "timestamp", "knowledge_embedding"),
        )
    if "summary" in row.data or "details" in row.data:
        return MemoryDraft(
            text=row.text("summary"),
            id=row.label("id"),
            namespace=layer,
            created_at=time,
            metadata=row.others("id", "summary", "summary_embedding", "details", "timestamp"),
        )
    # A page is copied into every session it belongs to, with other keywords and links.
    return MemoryDraft(text=_words(row), id=row.label("page_id"), namespace=layer, created_at=time)


def _words(row: ExportFields) -> str:
    """A message and its answer, as the reader is shown them, with the overview of their chain."""
    said = {"User": row.data.get("user_input"), "Assistant": row.data.get("agent_response")}
    if all(value is None for value in said.values()):
        raise SkipRow("no user_input")
    parts = [f"{who}: {row.checked(value, who)}" for who, value in said.items() if _is_said(value)]
    if not parts:
        raise SkipRow(HarmlessSkip.EMPTY_TEXT)
    if overview := row.label("meta_info"):
        parts.append(f"Conversation chain overview: {overview}")
    return row.checked("\n".join(parts), "page")


def _is_said(value: object) -> bool:
    """A message without an answer still says something."""
    return value is not None and not (isinstance(value, str) and not value.strip())
