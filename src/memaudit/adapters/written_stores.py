"""The published layout's `written_stores.jsonl`: one line an example, with what was written."""

from collections import Counter

from pydantic import JsonValue

from memaudit.adapters.fields import Fields
from memaudit.adapters.ledger import Draft, Ledger
from memaudit.adapters.protocol import Options
from memaudit.adapters.rows import Raw, listed, share
from memaudit.adapters.shape import ExportedStore, Memory
from memaudit.adapters.source import Source
from memaudit.datasets.irregular import whole
from memaudit.datasets.lenient_json import kind_of


def memory_id(example: str, id: str) -> str:
    """The id of a memory in a store of many examples: memory ids repeat across them."""
    return id if id.startswith(f"{example}::") else f"{example}::{id}"


class WrittenStores:
    """Lines `{"instance_id", "memories": [{"memory_id", "text", "memory_index"}]}`."""

    name = "written-stores"
    label = "the published layout, written_stores.jsonl"
    views: tuple[str, ...] = ("text",)

    def recognises(self, source: Source) -> int:
        """By an instance and its memories."""
        return 4 if share(source, (), ("instance_id",), ("memories",)) else 0

    def read(self, source: Source, options: Options) -> ExportedStore:
        """One store; `example` says which instance a memory was written for."""
        ledger = Ledger(source, options)
        sizes: Counter[str] = Counter()
        for part in source.parts:
            for raw in listed(part, (), ("instance_id",)):
                _read_example(ledger, raw, sizes)
        if empty := sorted(name for name, size in sizes.items() if not size):
            ledger.warn(f"{len(empty)} of {len(sizes)} examples wrote nothing: "
                        + ", ".join(empty[:20]))  # fmt: skip
        store = ledger.store("published", self.name, self.views[0], in_order=True)
        kept = Counter(memory.example for memory in store.memories)
        examples: dict[str, JsonValue] = {name: kept[name] for name in sorted(sizes)}
        origin = store.origin.model_copy(
            update={"configuration": {**store.origin.configuration, "examples": examples}}
        )
        return store.model_copy(update={"origin": origin})


def _read_example(ledger: Ledger, raw: Raw, sizes: Counter[str]) -> None:
    """The memories of one line; a line without a list of them is skipped, not an empty store."""
    value = raw.value if isinstance(raw.value, dict) else {}
    example, rows = value.get("instance_id"), value.get("memories")
    if raw.problem or not isinstance(raw.value, dict):
        return ledger.skip(raw.place, raw.problem or f"{kind_of(raw.value)}, not an object")
    if not isinstance(example, str) or not example.strip():
        return ledger.skip(raw.place, "no instance_id")
    example = whole(example)
    if problem := value.get("error"):
        return ledger.skip(raw.place, f"failed run: {example[:40]}, {whole(str(problem))[:80]}")
    if not isinstance(rows, list):
        return ledger.skip(raw.place, f"memories is {kind_of(rows)}, not a list")
    if example in sizes:
        return ledger.skip(raw.place, f"second line of an example: {example[:40]}")
    sizes[example] = 0
    before = len(ledger.drafts)
    for at, row in enumerate(rows):
        ledger.take_one(Raw(f"{raw.place} memories[{at}]", row), lambda row: _draft(row, example))
    sizes[example] = len(ledger.drafts) - before
    return None


def _draft(row: Fields, example: str) -> Draft:
    text = row.text("text")
    id = row.label("memory_id")
    return Draft(
        text=text, id=memory_id(example, id) if id else None, example=example,
        created_at=row.time("timestamp"),
        metadata=row.others("text", "timestamp"),
    )  # fmt: skip


def split_examples(store: ExportedStore) -> dict[str, ExportedStore]:
    """One store per example, also of those that wrote nothing; what is shared stays with each."""
    known = store.origin.configuration.get("examples")
    names = list(known) if isinstance(known, dict) else []
    names += sorted({memory.example for memory in store.memories if memory.example} - set(names))
    memories: dict[str | None, list[Memory]] = {name: [] for name in names}
    for one in store.memories:
        memories.setdefault(one.example, []).append(one)
    return {
        name: store.model_copy(
            update={"name": f"{store.name}/{name}", "memories": tuple(memories[name])}
        )
        for name in names
    }
