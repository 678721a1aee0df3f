"""The MCP memory server: a graph of entities with observations, and relations between them."""

from collections.abc import Iterator

from memaudit.kernel.io.store_file import HarmlessSkip
from memaudit.kernel.io.strict_json import kind_of
from memaudit.stores.ledger import ImportLedger, MemoryDraft, StoreFormat
from memaudit.stores.protocol import ExportFields, ExportRow, SkipRow, mostly_have, rows_of
from memaudit.stores.source import ExportFile, ExportSource

LISTS = {"entities": "entity", "relations": "relation"}


class McpMemory(StoreFormat):
    """`observations`: each with the name of its entity; `entities`: each with all observations."""

    name = "mcp-memory"
    label = "MCP memory server, knowledge graph"
    system = "MCP memory server"
    views = ("observations", "entities")

    def recognises(self, source: ExportSource) -> int:
        marks = ("entityType", "relationType"), ("observations", "from")
        if mostly_have(source, ("entities",), *marks):
            return 3
        graphs = [_graph(part) for part in source.parts]
        # An answer of `read_graph` without entities is told by its relations, or by both empty
        # lists.
        if not graphs or not all(set(LISTS) == graph.keys() for graph in graphs):
            return 0
        if mostly_have(source, ("relations",), *marks):
            return 3
        return 2 if all(graph[name] == [] for graph in graphs for name in LISTS) else 0

    def take(self, ledger: ImportLedger) -> None:
        """Every observation or entity, and every relation; the format has no times and no ids."""
        for part in ledger.source.parts:
            for raw in _rows(part):
                pieces = _observations(raw) if ledger.view == "observations" else [raw]
                ledger.take(pieces, _draft)


def _graph(part: ExportFile) -> dict[str, object]:
    document = part.parsed.document
    return document if isinstance(document, dict) else {}


def _rows(part: ExportFile) -> list[ExportRow]:
    """The lines of the file, or the rows of both lists with the type that a line would have."""
    graph = _graph(part)
    if not any(name in graph for name in LISTS):
        return rows_of(part, own=("type",))
    return [
        ExportRow(
            raw.place, {**raw.value, "type": kind} if isinstance(raw.value, dict) else raw.value
        )
        for name, kind in LISTS.items()
        if name in graph
        for raw in rows_of(part, (name,))
    ]


def _observations(raw: ExportRow) -> Iterator[ExportRow]:
    """A row for each observation of an entity; any other row is left as it is."""
    row = raw.value
    if not isinstance(row, dict) or row.get("type") != "entity":
        yield raw
        return
    observations = row.get("observations")
    if not isinstance(observations, list):
        problem = f"observations is {kind_of(observations)}, not a list"
        yield ExportRow(raw.place, problem=problem)
    elif not observations:
        yield ExportRow(raw.place, problem=HarmlessSkip.EMPTY_TEXT)
    else:
        for at, text in enumerate(observations, start=1):
            piece = {**row, "observations": None, "observation": text, "number": at}
            yield ExportRow(f"{raw.place} observation {at}", piece)


def _draft(row: ExportFields) -> MemoryDraft:
    kind = row.data.get("type")
    if kind == "relation":
        parts = [_name(row, field) for field in ("from", "relationType", "to")]
        return MemoryDraft(
            text=row.checked(" ".join(parts), "relation"),
            id=" ".join(parts),
            metadata={"kind": "relation", **row.others("type")},
        )
    if kind != "entity":
        raise SkipRow("neither an entity nor a relation")
    name, of = _name(row, "name"), row.label("entityType")
    if row.view == "entities":
        titled = f"{name} ({of})" if of else name
        texts = list(_texts(row))
        text, id = "\n".join([f"{titled}:", *texts]) if texts else titled, name
    else:
        # "Eats fish." names nobody; the entity is what the observation is about.
        text, id = f"{name}: {row.text('observation')}", f"{name}/{row.label('number')}"
    known = ("type", "observations", "observation", "number")
    return MemoryDraft(
        text=row.checked(text, "entity"), id=id, metadata={"kind": "entity", **row.others(*known)}
    )


def _name(row: ExportFields, field: str) -> str:
    """A part without which the text would not say whom it is about."""
    name = row.label(field)
    if name is None:
        raise SkipRow(f"no {field}")
    return name


def _texts(row: ExportFields) -> Iterator[str]:
    """The observations of an entity that have words."""
    observations = row.data.get("observations")
    if not isinstance(observations, list):
        raise SkipRow(f"observations is {kind_of(observations)}, not a list")
    for at, value in enumerate(observations, start=1):
        try:
            yield row.checked(value, f"observation {at}")
        except SkipRow as reason:
            row.note(f"an observation left out, {reason}")
