"""Amazon Bedrock AgentCore: the records of a memory, as `list_memory_records` returns them."""

from memaudit.adapters.fields import ExportFields
from memaudit.adapters.ledger import ImportLedger, MemoryDraft
from memaudit.adapters.protocol import ImportOptions, mostly_have, rows_of, value_at
from memaudit.adapters.source import ExportSource
from memaudit.adapters.store import ExportedStore, ExportWarning, ReaderTime

LISTS = ("memoryRecordSummaries",)
LIMITS = {20: "list_memory_records", 100: "one page, its largest"}
TOKENS = ("nextToken", "NextToken")
"""Of a page, and of the AWS command line and boto3's paginator where a maximum was given."""


class AgentCore:
    """Rows `{"memoryRecordId", "content": {"text"}, "memoryStrategyId", "namespaces", ...}`."""

    name = "agentcore"
    label = "Amazon Bedrock AgentCore, memory records"
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = None

    def recognises(self, source: ExportSource) -> int:
        if mostly_have(source, LISTS, ("memoryRecordId",), ("content",)):
            return 3
        documents = [part.parsed.document for part in source.parts if part.kind == "json"]
        empty = [value_at(document, LISTS[0]) == (True, []) for document in documents]
        return 3 if empty and all(empty) else 0

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        """Every record; a page that names the next one is not the end."""
        ledger = ImportLedger(source, options)
        pages = [rows_of(part, LISTS, ("memoryRecordId",)) for part in source.parts]
        for rows in pages:
            ledger.take(rows, _draft)
        if any(
            isinstance(row.value, dict) and row.value.get("score") is not None
            for rows in pages
            for row in rows
        ):
            ledger.warn(
                ExportWarning.SEARCH_SCORES.text(
                    "retrieve_memory_records holds only what it found, list_memory_records holds "
                    "the store"
                )
            )
        last = source.parts[-1].parsed.document
        if any(value_at(last, token)[1] for token in TOKENS):
            ledger.warn(
                ExportWarning.TRUNCATED.text("the export names a next page; export every page")
            )
        elif not isinstance(last, dict):  # without its page, a list does not say whether it ends
            ledger.check_limit(len(pages[-1]), LIMITS)
        return ledger.store("Amazon Bedrock AgentCore", self.name, self.views[0], in_order=False)


def _draft(row: ExportFields) -> MemoryDraft:
    return MemoryDraft(
        text=row.inner("content").text("text"),
        id=row.label("memoryRecordId"),
        created_at=row.time("createdAt"),
        namespace=next(iter(row.names("namespaces")), None),
        metadata=row.others("memoryRecordId", "content", "createdAt", "score"),
    )
