"""Limits that memory systems put on what a reader sees, and what they cut off.

Every limit names its source and the day it was looked up. A limit counts characters, lines or bytes
of a whole file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from memaudit.adapters.documents import document_lines
from memaudit.adapters.store import Document, ExportedStore
from memaudit.core.errors import MemAuditError

Unit = Literal["characters", "lines", "bytes"]


@dataclass(frozen=True, slots=True)
class Limit:
    """So much of a file of this name is read; an empty name is any file."""

    system: str
    file: str
    most: int
    unit: Unit
    source: str
    looked_up: str


LIMITS: Sequence[Limit] = (
    Limit("claude-code", "MEMORY.md", 200, "lines", "Claude Code, memory documentation", "2026-09"),
    Limit("claude-code", "MEMORY.md", 25 * 1024, "bytes", "Claude Code, memory documentation",
          "2026-09"),
    Limit("hermes", "MEMORY.md", 2200, "characters", "hermes-agent, tools/memory_tool.py",
          "2026-09"),
    Limit("hermes", "USER.md", 1375, "characters", "hermes-agent, tools/memory_tool.py", "2026-09"),
    Limit("openclaw", "", 20_000, "characters", "OpenClaw, issue 45415: about 20,000", "2026-09"),
)  # fmt: skip
SYSTEMS = tuple(dict.fromkeys(limit.system for limit in LIMITS))


@dataclass(frozen=True, slots=True)
class CutOff:
    """What a limit cuts off of one document."""

    limit: Limit
    document: str
    size: int
    memories: tuple[str, ...]
    """Entries that are cut off, in whole or in part."""


def named_limits(system: str) -> list[Limit]:
    found = [limit for limit in LIMITS if limit.system == system]
    if not found:
        raise MemAuditError(f"no limits of {system!r} are known; known: {', '.join(SYSTEMS)}")
    return found


def guessed_system(store: ExportedStore) -> str | None:
    """Whose limits hold, by the format of the files: entries between § are Hermes's."""
    files = {PurePosixPath(document.id).name for document in store.documents}
    if any("\n§\n" in document.text for document in store.documents):
        return "hermes"
    return "claude-code" if files & {"MEMORY.md", "CLAUDE.md"} else None


def cut_off(store: ExportedStore, system: str) -> Iterator[CutOff]:
    """Every document that is longer than a limit allows."""
    entries: Mapping[str, list[tuple[int, str]]] = _entries(store)
    for document in store.documents:
        for limit in named_limits(system):
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
