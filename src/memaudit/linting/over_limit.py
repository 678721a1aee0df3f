"""Files that are longer than their system reads: which entries it never sees."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePosixPath

from memaudit.kernel.errors import ParameterError
from memaudit.kernel.io.store_file import Document, ExportedStore, document_lines
from memaudit.kernel.words.text import counted
from memaudit.linting.findings import Finding
from memaudit.stores.system_budgets import LIMITS, TOKENS, Limit, named_limits


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A document that is longer than a limit allows."""

    limit: Limit
    document: str
    size: int
    memories: tuple[str, ...]
    """Entries that are cut off, in whole or in part."""


def guessed_system(store: ExportedStore) -> str | None:
    """Whose limits hold, by the files: Hermes alone writes a line `§` between entries."""
    files = {PurePosixPath(document.id).name for document in store.documents}
    if any("\n§\n" in document.text for document in store.documents):
        return "hermes"
    return "claude-code" if files & {"MEMORY.md", "CLAUDE.md"} else None


def over_limit(store: ExportedStore, system: str) -> Iterator[OverLimit]:
    """Every document that is longer than a limit of the system allows."""
    last_lines: dict[str | None, list[tuple[int, str]]] = defaultdict(list)
    for memory in store.active:
        if memory.lines is not None:
            last_lines[memory.document].append((memory.lines[1], memory.id))
    limits = named_limits(system)
    if limits[0].system == TOKENS:
        raise ParameterError(
            "{system}: limits all memories together; score with it as a {budget}", system=system
        )
    # Hermes limits its two files apart: MEMORY.md, and what it knows of the user in USER.md.
    limits += [limit for limit in LIMITS if limit.system == f"{system}-user"]
    for document in store.documents:
        for limit in limits:
            if limit.file and PurePosixPath(document.id).name != limit.file:
                continue
            size, last = _size_and_end(document, limit)
            if size > limit.most:
                lost = [id for line, id in last_lines[document.id] if line > last]
                yield OverLimit(limit, document.id, size, tuple(lost))


def _size_and_end(document: Document, limit: Limit) -> tuple[int, int]:
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


def limit_findings(
    store: ExportedStore, cost: dict[str, Fraction], system: str | None, unmeasured: dict[str, str]
) -> Iterator[Finding]:
    """A finding for each document over a limit; `unmeasured` is told where no limit is known."""
    system = system or guessed_system(store)
    if not store.documents:
        unmeasured["limits"] = "needs a file with a known limit, such as MEMORY.md"
        return
    if system is None:
        unmeasured["limits"] = "needs the name of the system whose limits hold"
        return
    counted_before: set[str] = set()
    for over in over_limit(store, system):
        limit = over.limit
        # Two limits of one file mostly cut off the same entries, whose cost is saved only once.
        new = set(over.memories) - counted_before
        counted_before |= new
        lost = f"{counted(len(over.memories), 'memory')} cut off" if over.memories else "cut off"
        yield Finding(
            "limits",
            over.memories,
            f"{over.document} has {over.size:,} {limit.unit}, {limit.system} reads the first "
            f"{limit.most:,}: {lost}",
            (),
            sum((cost.get(id, Fraction(0)) for id in new), Fraction(0)),
        )
