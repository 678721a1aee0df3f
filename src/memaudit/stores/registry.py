"""The importers by name, and the import itself.

A new format is a row of `field_maps.py`, or one file and one line in `FORMATS`; an outside package
names its own list by an entry point.
"""

import os
import re
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.entry_points import Registered
from memaudit.kernel.io.files import read_bytes
from memaudit.kernel.io.store_file import STORE_FORMAT, ExportedStore, read_store
from memaudit.kernel.io.timestamps import export_time
from memaudit.stores.amem import AMem
from memaudit.stores.assistants import ChatGptMemories, ClaudeAi
from memaudit.stores.claude_mem import ClaudeMem
from memaudit.stores.field_maps import FIELD_MAPS
from memaudit.stores.letta import Letta
from memaudit.stores.mapped import HOW, Mapped, fields_found
from memaudit.stores.mcp_memory import McpMemory
from memaudit.stores.mem0 import Mem0, Mem0History, Mem0Search
from memaudit.stores.memori import Memori
from memaudit.stores.memoryos import MemoryOS
from memaudit.stores.plain_files import TEXTS, JsonlOrText, MarkdownFolder
from memaudit.stores.protocol import Adapter, ImportOptions, api_error, is_failure, no_list
from memaudit.stores.published import LocomoNotes, WrittenStores
from memaudit.stores.source import MAX_BYTES, ExportSource, is_markdown, open_source

FORMATS: tuple[Adapter, ...] = (
    Mem0(),
    Mem0Search(),
    Mem0History(),
    Letta(),
    MarkdownFolder(),
    ClaudeAi(),
    ClaudeMem(),
    ChatGptMemories(),
    AMem(),
    Memori(),
    *FIELD_MAPS,
    McpMemory(),
    MemoryOS(),
    WrittenStores(),
    LocomoNotes(),
    JsonlOrText(),
    Mapped(),
)
"""Ours; the entry point `builtin` of the group `memaudit.stores` names this list."""

ADAPTERS: MutableMapping[str, Adapter] = Registered("memaudit.stores")


def named_adapter(name: str) -> Adapter:
    if name not in ADAPTERS:
        raise MemAuditError(f"unknown format {name!r}; known formats: {', '.join(ADAPTERS)}")
    return ADAPTERS[name]


def guess_adapter(source: ExportSource) -> Adapter:
    """The importer that is most certain of the content; of names only the ending .md counts."""
    # All are asked: a format that is added cannot hide behind one that answers first.
    scores = {name: adapter.recognises(source) for name, adapter in ADAPTERS.items()}
    best = max(scores.values())
    candidates = [name for name, score in scores.items() if score == best]
    if best and len(candidates) == 1:
        return ADAPTERS[candidates[0]]
    part = source.parts[0]
    if api_error(part.parsed.document):
        raise MemAuditError(no_list(part, ()))
    if best:
        raise ParameterError(
            "{name}: could be {candidates}; import it with {format}",
            name=source.name,
            candidates=" or ".join(candidates),
        )
    if part.parsed.document == []:
        raise ParameterError(
            "{name}: is an empty list, which any system may have written; import it with {format}",
            name=part.name,
        )
    formats = ", ".join(name for name in ADAPTERS if name != Mapped.name)
    fields = fields_found(part)
    mapped = f"its fields are {{found}}: say which to read with {HOW}, or " if fields else ""
    raise ParameterError(
        f"{{name}}: has no known format; {mapped}import it with {{format}}: {formats} "
        f"(rows with {', '.join(TEXTS[:-1])} or {TEXTS[-1]})",
        name=part.name,
        found=fields,
    )


def import_store(
    paths: Sequence[Path], format: str | None = None, options: ImportOptions | None = None
) -> ExportedStore:
    """Read an export completely, or raise an error of one line."""
    options = options or ImportOptions()
    if format is not None:
        named_adapter(format)
    source = open_source(paths)
    _refuse_other_files(source)
    if options.fields is not None:
        if format not in (None, Mapped.name):
            raise MemAuditError(f"named fields are read in any file; leave out the format {format}")
        format = Mapped.name
    if format == JsonlOrText.name and all(is_markdown(part.name) for part in source.parts):
        format = None  # its lines are markup, not memories: they are read as they are without it
    adapter = named_adapter(format) if format else guess_adapter(source)
    if options.view is not None and options.view not in adapter.views:
        raise MemAuditError(
            f"{adapter.name} has no view {options.view!r}; its views: {', '.join(adapter.views)}"
        )
    if options.as_of is not None:
        when = export_time(options.as_of)
        if when is None:
            raise ParameterError(
                "{as_of} {given} is not a time; write 2025-01-31", given=repr(options.as_of)
            )
        options = replace(options, as_of=when)
    return with_reader_time(adapter.read(source, replace(options, guessed=format is None)))


@dataclass(frozen=True, slots=True)
class StoreArgument:
    """`[NAME=]PATH[+PATH...][@VIEW]`: a store that was imported, or an export of some files."""

    paths: tuple[Path, ...]
    name: str | None = None
    view: str | None = None


def parse_argument(text: str) -> StoreArgument:
    """A path that exists is never taken apart."""
    path, name, view = text, None, None
    if not os.path.exists(path):
        # Names of files may hold = and @, so whatever exists is a path and nothing else.
        before, equals, after = path.partition("=")
        if equals and before and not os.path.exists(path.partition("@")[0]):
            name, path = before, after
    if not os.path.exists(path):
        before, at, after = path.rpartition("@")
        if at and "/" not in after:
            path, view = before, after
    paths = [path] if os.path.exists(path) else [part for part in path.split("+") if part]
    return StoreArgument(tuple(map(Path, paths)), name, view)


def open_store(argument: StoreArgument) -> ExportedStore:
    """The store, or the export imported now."""
    name, view = argument.name, argument.view
    path = argument.paths[0]
    if len(argument.paths) > 1 or not is_store(path):
        return import_store(argument.paths, None, ImportOptions(name=name, view=view))
    store = read_imported(path)
    if view is not None:
        raise MemAuditError(
            f"{path.name}: is a store, imported with its view; give the export for another view"
        )
    return store.model_copy(update={"name": name}) if name else store


def read_imported(path: Path) -> ExportedStore:
    """A store's file, with what older files do not say."""
    return with_reader_time(read_store(path))


def with_reader_time(store: ExportedStore) -> ExportedStore:
    """The store with the time its reader is shown, if its origin does not say."""
    origin, adapter = store.origin, ADAPTERS.get(store.origin.format)
    # Stores that were imported before origins said it.
    if adapter is None or "reader_time" in origin.model_fields_set:
        return store
    told = origin.model_copy(update={"reader_time": adapter.reader_time})
    return store.model_copy(update={"origin": told})


_STORE = re.compile(rb'"format"\s*:\s*"memaudit-store"')


def is_store(path: Path) -> bool:
    """Whether a file says that it is a store; what cannot be read is left to the reader."""
    if not path.is_file():
        return not path.exists()
    return _STORE.search(read_bytes(path, MAX_BYTES, path.name)) is not None


_NO_EXPORT = re.compile(
    r"(?P<page><(?:!doctype|\?xml|html|head|body)[\s>])|Traceback \(most recent call last\)",
    re.IGNORECASE,
)


def _refuse_other_files(source: ExportSource) -> None:
    """Refuse empty files, failed exports, web pages and stores that are already imported."""
    for part in source.parts:
        document, text = part.parsed.document, part.parsed.text.strip()
        if part.kind == "text" and not source.folder:
            if not text:
                raise MemAuditError(
                    f"{part.name}: is an empty file (an empty store is written as [] or its like)"
                )
            if match := _NO_EXPORT.match(text):
                what = "a web page" if match["page"] else "the traceback of a program"
                raise MemAuditError(f"{part.name}: is {what}, not a store (export it again)")
        if isinstance(document, list) and len(document) == 1 and isinstance(document[0], str):
            text = document[0]
        if not source.folder and is_failure(text):
            raise MemAuditError(
                f"{part.name}: says {text[:60]!r} and nothing else: a failed export, not a memory "
                "(export it again; an empty store is written as [])"
            )
        if not isinstance(document, dict):
            continue
        if document.get("format") == STORE_FORMAT:
            raise MemAuditError(f"{part.name}: is already a store; score it as it is")
        if str(document.get("format")).startswith("memaudit-"):
            raise MemAuditError(f"{part.name}: is a {document['format']}, not a store")
        if api_error(document) and not _holds_data(document):
            raise MemAuditError(no_list(part, ()))


def _holds_data(document: dict[str, object]) -> bool:
    """Whether it holds more than the error: then the format's own reader decides."""
    return any(
        isinstance(value, list | dict)
        for key, value in document.items()
        if key not in ("error", "errors", "detail")
    )
