"""The dataset formats by name. A new one is one file and one line here; tests find it.

An outside package names a list of its own by an entry point.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from memaudit.conversations.assistants import ChatGPTConversations, ClaudeConversations
from memaudit.conversations.beam import Beam
from memaudit.conversations.chat import Chat
from memaudit.conversations.halumem import HaluMem
from memaudit.conversations.locomo import LoCoMo
from memaudit.conversations.longmemeval import LongMemEval
from memaudit.conversations.memdaily import MemDaily
from memaudit.conversations.message_logs import ClaudeCode, Messages
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.transcripts import Transcripts, transcript_files
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.entry_points import Registered
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.foreign_json import JsonCursor


class DatasetLoader(Protocol):
    """Reads the files of one dataset format into conversations."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """One line: what the format is."""
        ...

    def recognises(self, keys: frozenset[str]) -> bool:
        """Whether a record with these keys is of this format."""
        ...

    def conversations(self, path: Path) -> Iterator[LoadedConversation]:
        """The conversations of a file, or of a folder of transcripts, one at a time."""
        ...


FORMATS: tuple[DatasetLoader, ...] = (
    LongMemEval(),
    LoCoMo(),
    MemDaily(),
    Chat(),
    HaluMem(),
    Beam(),
    Messages(),
    ClaudeConversations(),
    ClaudeCode(),
    ChatGPTConversations(),
    Transcripts(),
)
"""Ours; the entry point `builtin` of the group `memaudit.conversations` names this list."""

LOADERS: Mapping[str, DatasetLoader] = Registered("memaudit.conversations")

MAX_NESTING = 2
"""Most objects around the first list of records: MemDaily's question type and scenario."""


def named_loader(name: str) -> DatasetLoader:
    if name not in LOADERS:
        raise MemAuditError(f"unknown format {name!r}; known formats: {', '.join(LOADERS)}")
    return LOADERS[name]


def seen_format(path: Path) -> str | None:
    """The format of the first record, if it is known; the file's name plays no part.

    A folder can only hold transcripts.
    """
    if path.is_dir():
        transcript_files(path)
        return Transcripts.name
    # Records are mostly in a list, those of MemDaily below two objects as well. A file of one
    # record has its keys at the top.
    for keys in (_first_keys(path, nested=True), _first_keys(path, nested=False)):
        for name, loader in LOADERS.items():
            if loader.recognises(keys):
                return name
    return None


def guess_format(path: Path) -> str:
    """The format whose records the file holds; an error if there is none."""
    if (seen := seen_format(path)) is not None:
        return seen
    raise ParameterError(
        "{name}: its first record has no known format; give {format}: {formats}",
        name=path.name,
        formats=", ".join(LOADERS),
    )


def _first_keys(path: Path, nested: bool) -> frozenset[str]:
    """The keys of the first record: in the first list, looked for inside objects if `nested`."""
    with open_regular(path) as file:
        cursor = JsonCursor(file, path.name)
        for _ in range(MAX_NESTING):
            if not nested or cursor.peek() != "{":
                break
            next(cursor.members(), None)
        if cursor.peek() == "[" and next(cursor.elements(), None) is None:
            return frozenset()
        if cursor.peek() != "{":
            return frozenset()
        first = cursor.value()
        return frozenset(first) if isinstance(first, dict) else frozenset()


def iter_conversations(path: Path, format: str | None = None) -> Iterator[LoadedConversation]:
    """The conversations one at a time; the format is guessed from the content if not given."""
    if format is None:
        return named_loader(guess_format(path)).conversations(path)
    loader, seen = named_loader(format), None
    with suppress(MemAuditError):  # the loader says what is wrong with the file
        seen = seen_format(path)
    if seen not in (None, format):
        raise ParameterError(
            "{name}: has the format {seen}, not {named}; check {format}",
            name=path.name,
            seen=seen,
            named=format,
        )
    return loader.conversations(path)


def read_conversations(path: Path, format: str | None = None) -> list[LoadedConversation]:
    return list(iter_conversations(path, format))
