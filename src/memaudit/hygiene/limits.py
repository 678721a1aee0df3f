"""What the limits of a system cut off of a store's files."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from memaudit.adapters.store import Document, ExportedStore, document_lines
from memaudit.core.errors import MemAuditError
from memaudit.scoring.limits import LIMITS, TOKENS, Limit, named_limits


@dataclass(frozen=True, slots=True)
class CutOff:
    """What a limit cuts off of one document."""

    limit: Limit
    document: str
    size: int
    memories: tuple[str, ...]
    """Entries that are cut off, in whole or in part."""


def guessed_system(store: ExportedStore) -> str | None:
    """Whose limits hold, by the format of the files: entries between § are Hermes's."""
    files = {PurePosixPath(document.id).name for document in store.documents}
    if any("\n§\n" in document.text for document in store.documents):
        return "hermes"
    return "claude-code" if files & {"MEMORY.md", "CLAUDE.md"} else None


def cut_off(store: ExportedStore, system: str) -> Iterator[CutOff]:
    """Every document that is longer than a limit allows."""
    entries: Mapping[str, list[tuple[int, str]]] = _entries(store)
    limits = named_limits(system)
    if limits[0].system == TOKENS:
        raise MemAuditError(f"{system}: limits all memories together; score with it as a --budget")
    limits += [limit for limit in LIMITS if limit.system == f"{system}-user"]
    for document in store.documents:
        for limit in limits:
            if limit.file and PurePosixPath(document.id).name != limit.file:
                continue
            size, last = _measured(document, limit)
            if size > limit.most:
                lost = [id for line, id in entries.get(document.id, ()) if line > last]
                yield CutOff(limit, document.id, size, tuple(lost))


def _entries(store: ExportedStore) -> dict[str, list[tuple[int, str]]]:
    """Per document, the last line and the id of every active entry."""
    found: dict[str, list[tuple[int, str]]] = {}
    for memory in store.active:
        if memory.document is not None and memory.lines is not None:
            found.setdefault(memory.document, []).append((memory.lines[1], memory.id))
    return found


def _measured(document: Document, limit: Limit) -> tuple[int, int]:
    """The size of a document, and the last line that is read in whole."""
    size = last = 0
    for number, line in enumerate(document_lines(document.text), start=1):
        if limit.unit == "lines":
            size += 1
        else:
            size += len(line) if limit.unit == "characters" else len(line.encode())
        if size <= limit.most:
            last = number
    return size, last
