"""Letta: agent files (core memory), archival passages, or both together."""

from collections.abc import Sequence
from dataclasses import dataclass
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
        view = ledger.view
        agents: list[_Agent] = []
        for part in files:
            own = _agents(ledger, part)
            _read_agent_file(ledger, part, view, own)
            agents += own
        pages = [part for part in ledger.source.parts if not _is_agent_file(part)]
        draft = partial(
            _passage,
            wanted=ledger.options.namespace,
            known={agent.id for agent in agents},
            asked={agent.id for agent in agents if agent.asked},
        )
        counts = [ledger.take(rows_of(part, PASSAGES, ("text",)), draft) for part in pages]
        if counts:
            ledger.check_limit(counts[-1])
        _by_time(ledger)
        _warn_of_several(ledger, agents)
        if files and not pages:
            ledger.warn(
                "an agent file holds no archival passages; give their JSON "
                "(client.agents.passages.list) as a second file",
                ExportWarning.CORE_MEMORY_ONLY,
            )
        if pages and not files:
            ledger.warn("core memory is in the agent file; give both", ExportWarning.ARCHIVAL_ONLY)


@dataclass(frozen=True, slots=True)
class _Agent:
    name: str
    id: str | None
    blocks: tuple[str, ...]
    wanted: str | None
    """The name that the user gave."""

    @property
    def title(self) -> str:
        return self.name if self.id in (None, self.name) else f"{self.name} ({self.id})"

    @property
    def asked(self) -> bool:
        return self.wanted is not None and self.wanted in (self.name, self.id, self.title)


def _agents(ledger: ImportLedger, part: ExportFile) -> list[_Agent]:
    """The agents of a file; the older schema has one, at the top."""
    document = part.parsed.document
    listed = value_at(document, "agents")[1] if value_at(document, "blocks")[0] else [document]
    if not isinstance(listed, list):
        raise MemAuditError(f"{part.name}: agents is {kind_of(listed)}, a list was expected")
    agents = []
    for agent in listed:
        fields = agent if isinstance(agent, dict) else {}
        row = ExportFields(fields, f"{part.name}: agents", ledger.note)
        id, blocks = row.label("id"), row.names("block_ids")
        name = row.label("name") or id or "agent"
        agents.append(_Agent(name, id, blocks, ledger.options.namespace))
    return agents


def _warn_of_several(ledger: ImportLedger, agents: Sequence[_Agent]) -> None:
    """Say that several agents are read as one, and which there are to choose from."""
    ledger.namespaces |= {agent.title for agent in agents}
    mixed = [agent for agent in agents if agent.wanted is None or agent.asked]
    if len(mixed) > 1:
        titles = first_places([agent.title[:LONGEST_NAME] for agent in mixed])
        ledger.warn(f"holds {len(mixed)} agents: {titles} (a namespace reads one of them)")


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


def _read_agent_file(
    ledger: ImportLedger, part: ExportFile, view: str, agents: Sequence[_Agent]
) -> None:
    """The blocks of an agent file, each once, however many agents share it."""
    key = "blocks" if value_at(part.parsed.document, "blocks")[0] else "core_memory"
    owners: dict[str, list[_Agent]] = {}
    for agent in agents:
        for block in agent.blocks:
            owners.setdefault(block, []).append(agent)
    # The older schema has one agent and no lists of its blocks.
    everything = key == "core_memory" and any(agent.asked for agent in agents)
    for at, raw in enumerate(rows_of(part, (key,)), start=1):
        name = _name(raw.value) or f"block-{at}"
        draft = partial(_block, owners=owners, asked=everything)
        ledger.take_document(raw, "value", name, view, draft)
    attached = value_at(part.parsed.document, "files")[1]
    if isinstance(attached, list) and attached:
        ledger.warn(f"attached files are documents, not memories: {len(attached)} not read")


def _name(block: object) -> str:
    """A block's id, or its label."""
    fields = ExportFields(block if isinstance(block, dict) else {}, "", lambda *_: None)
    return fields.label("id") or fields.label("label") or ""


def _block(row: ExportFields, owners: dict[str, list[_Agent]], asked: bool) -> MemoryDraft:
    text = row.text("value")
    label, id = row.label("label"), row.label("id")
    agents = owners.get(id or "", [])
    if owners and not agents:
        row.note("no agent of the file has this block attached")
    return MemoryDraft(
        text=text,
        id=id or label,
        namespace=label,
        asked=asked or any(agent.asked for agent in agents),
        metadata={
            "part": "core",
            "agents": [agent.name for agent in agents],
            **row.others("id", "label", "value"),
        },
    )


def _passage(
    row: ExportFields, wanted: str | None, known: set[str | None], asked: set[str | None]
) -> MemoryDraft:
    """`known` and `asked`: the ids of all agents, and of those that were asked for."""
    text = row.text("text")
    # Letta cuts attached files into passages beside those that the agent wrote.
    if row.label("file_id") or row.label("source_id"):
        raise SkipRow("passage of an attached file, not a memory")
    agent = row.label("agent_id")
    # Ids are given anew in an agent file: an unknown one may be of any of its agents.
    unknown = agent is None or agent not in known
    if unknown and asked and len(known) > 1:
        row.note("does not say which agent it belongs to, read for each of them")
    return MemoryDraft(
        text=text,
        id=row.label("id"),
        state="deleted" if row.flag("is_deleted") else "active",
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        namespace="archival",
        asked=bool(asked) or agent == wanted if unknown else agent in asked,
        metadata={
            "part": "archival",
            **row.others("id", "text", "created_at", "updated_at", "embedding_config"),
        },
    )
