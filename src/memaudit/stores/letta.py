"""Letta: agent files (core memory), archival passages, or both together."""

from functools import partial

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportWarning
from memaudit.kernel.io.strict_json import kind_of
from memaudit.stores.ledger import (
    LONGEST_NAME,
    ImportLedger,
    MemoryDraft,
    StoreFormat,
    first_places,
)
from memaudit.stores.protocol import ExportFields, SkipRow, mostly_have, rows_of, value_at
from memaudit.stores.source import ExportFile, ExportSource

PASSAGES = ("passages", "data")


class Letta(StoreFormat):
    """Blocks `{"label", "value", ...}` of a `.af`, passages `{"text", "archive_id", ...}`.

    `entries`: blocks cut as documents are; `full`: a block is one memory; `lines`: a line is.
    """

    name = "letta"
    label = "Letta, agent files and archival passages"
    system = "Letta"
    views = ("entries", "full", "lines")
    reader_time = "created_at"
    in_order = True

    def recognises(self, source: ExportSource) -> int:
        """By agents and blocks, the older core_memory, or passages with their archive."""
        if any(_is_agent_file(part) for part in source.parts):
            return 3
        marks = ("archive_id", "embedding_config", "source_id", "file_id")
        return 3 if mostly_have(source, PASSAGES, ("text",), marks) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Blocks first, then passages: core memory has no times, passages do."""
        files = [part for part in ledger.source.parts if _is_agent_file(part)]
        names = [name for part in files for name in _read_agent_file(ledger, part)]
        if len(names) > 1:
            ledger.warn(
                f"holds {len(names)} agents, read as one: {first_places(names)} (Letta exports "
                "one agent a file)"
            )
        pages = [part for part in ledger.source.parts if not _is_agent_file(part)]
        counts = [ledger.take(rows_of(part, PASSAGES, ("text",)), _passage) for part in pages]
        if counts:
            ledger.check_limit(counts[-1])
        _by_time(ledger)
        if files and not pages:
            ledger.warn(
                "an agent file holds no archival passages; give their JSON "
                "(client.agents.passages.list) as a second file",
                ExportWarning.CORE_MEMORY_ONLY,
            )
        if pages and not files:
            ledger.warn("core memory is in the agent file; give both", ExportWarning.ARCHIVAL_ONLY)


def _by_time(ledger: ImportLedger) -> None:
    """Put passages after the blocks, by creation time if all have one."""
    blocks = [draft for draft in ledger.drafts if draft[1].metadata.get("part") == "core"]
    passages = [draft for draft in ledger.drafts if draft[1].metadata.get("part") != "core"]
    if all(made.created_at for _, made in passages):
        passages.sort(key=lambda draft: draft[1].created_at or "")
    elif len(passages) > 1:
        ledger.warn("not every passage says when it was created", ExportWarning.ORDER_UNKNOWN)
    entries = sum(made.lines is not None for _, made in blocks)
    if blocks and len(ledger.drafts) > 1 >= entries:  # the ledger says it of several entries
        ledger.warn(
            "blocks have no times, and are listed before passages", ExportWarning.ORDER_UNKNOWN
        )
    ledger.drafts = blocks + passages


def _is_agent_file(part: ExportFile) -> bool:
    document = part.parsed.document
    if part.kind != "json" or not isinstance(document, dict):
        return False
    return {"agents", "blocks"} <= document.keys() or "core_memory" in document


def _read_agent_file(ledger: ImportLedger, part: ExportFile) -> list[str]:
    """Take the blocks of an agent file, each once, however many agents share it; the names of its
    agents. The older schema has one agent, at the top, and no lists of its blocks."""
    document = part.parsed.document
    key = "blocks" if value_at(document, "blocks")[0] else "core_memory"
    listed = value_at(document, "agents")[1] if key == "blocks" else [document]
    if not isinstance(listed, list):
        raise MemAuditError(f"{part.name}: agents is {kind_of(listed)}, a list was expected")
    names: list[str] = []
    owners: dict[str, list[str]] = {}
    for agent in listed:
        fields = agent if isinstance(agent, dict) else {}
        row = ExportFields(fields, f"{part.name}: agents", ledger.note)
        name = row.label("name") or row.label("id") or "agent"
        names.append(name[:LONGEST_NAME])
        for block in row.names("block_ids"):
            owners.setdefault(block, []).append(name)
    for at, raw in enumerate(rows_of(part, (key,)), start=1):
        name = _name(raw.value) or f"block-{at}"
        ledger.take_document(raw, "value", name, ledger.view, partial(_block, owners=owners))
    attached = value_at(document, "files")[1]
    if isinstance(attached, list) and attached:
        ledger.warn(f"attached files are documents, not memories: {len(attached)} not read")
    return names


def _name(block: object) -> str:
    """A block's id, or its label."""
    fields = ExportFields(block if isinstance(block, dict) else {}, "", lambda *_: None)
    return fields.label("id") or fields.label("label") or ""


def _block(row: ExportFields, owners: dict[str, list[str]]) -> MemoryDraft:
    text = row.text("value")
    label, id = row.label("label"), row.label("id")
    agents = owners.get(id or "", [])
    if owners and not agents:
        row.note("no agent of the file has this block attached")
    return MemoryDraft(
        text=text,
        id=id or label,
        namespace=label,
        metadata={"part": "core", "agents": list(agents), **row.others("id", "label", "value")},
    )


def _passage(row: ExportFields) -> MemoryDraft:
    text = row.text("text")
    # Letta cuts attached files into passages beside those that the agent wrote.
    if row.label("file_id") or row.label("source_id"):
        raise SkipRow("passage of an attached file, not a memory")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state="deleted" if row.flag("is_deleted") else "active",
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace="archival",
        metadata={
            "part": "archival",
            **row.others("id", "text", "created_at", "updated_at", "embedding_config"),
        },
    )
