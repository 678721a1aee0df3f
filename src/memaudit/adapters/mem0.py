"""Mem0: `get_all` of the library and the platform, current and older."""

from memaudit.adapters.fields import Fields
from memaudit.adapters.ledger import Draft, Ledger
from memaudit.adapters.protocol import Options
from memaudit.adapters.rows import listed, share, under
from memaudit.adapters.shape import ExportedStore
from memaudit.adapters.source import Source
from memaudit.adapters.truncation import check_limit, check_total

LISTS = ("results", "memories")
OWNERS = ("user_id", "agent_id", "run_id", "app_id")
LIMITS = {20: "get_all (top_k)", 100: "get_all in older versions (limit)"}


class Mem0:
    """Rows `{"id", "memory", "metadata", "created_at", ...}`, bare or under `results`."""

    name = "mem0"
    label = "Mem0, get_all"
    views: tuple[str, ...] = ("memory",)

    def recognises(self, source: Source) -> int:
        """By `memory` beside what only Mem0 writes; an empty `results` list is Mem0's too."""
        if share(source, LISTS, ("memory",), ("hash", "user_id", "agent_id", "run_id", "score")):
            return 3
        documents = [part.parsed.document for part in source.parts if part.kind == "json"]
        if documents and all(under(document, "results") == (True, []) for document in documents):
            return 2
        return 1 if share(source, LISTS, ("memory",), ("id",)) else 0

    def read(self, source: Source, options: Options) -> ExportedStore:
        """Every row; deleted and expired ones keep their state."""
        ledger = Ledger(source, options)
        lists = [listed(part, LISTS, ("memory",)) for part in source.parts]
        for rows in lists:
            ledger.take(rows, _draft)
        if any(isinstance(row.value, dict) and "score" in row.value for rows in lists
               for row in rows):  # fmt: skip
            ledger.warn("rows carry a search score: a search result holds only what it found, "
                        "get_all holds the store")  # fmt: skip
        relations = sum(_relations(part.parsed.document) for part in source.parts)
        if relations:
            ledger.warn(f"incomplete: graph relations beside memories are not read: {relations}")
        last = source.parts[-1].parsed.document
        if not check_total(ledger, under(last, "count")[1], ledger.read):
            for rows in lists:  # get_all has no pages: each file is a call of its own
                check_limit(ledger, len(rows), LIMITS)
        if under(last, "next")[1]:
            ledger.warn("truncated: the export names a next page; export every page")
        return ledger.store("Mem0", self.name, self.views[0], in_order=False)


def _relations(document: object) -> int:
    """How many relations stand beside the rows, where older versions kept a graph as well."""
    found = under(document, "relations")[1]
    return len(found) if isinstance(found, list) else 0


def _draft(row: Fields) -> Draft:
    text = row.text("memory")
    deleted = row.flag("is_deleted") or row.data.get("event") == "DELETE"
    owner = next((found for name in OWNERS if (found := row.label(name))), None)
    return Draft(
        text=text, id=row.label("id"), state="deleted" if deleted else "active",
        created_at=row.time("created_at"), updated_at=row.time("updated_at"),
        expires=row.time("expiration_date"), namespace=owner,
        metadata={**row.others("id", "memory", "created_at", "updated_at", "metadata"),
                  **row.inner("metadata").others()},
    )  # fmt: skip
