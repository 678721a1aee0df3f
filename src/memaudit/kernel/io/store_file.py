"""An exported store: the shape every export is read into, its file, and what its warnings mean."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from enum import Enum, StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.foreign_json import encodable, loads
from memaudit.kernel.io.strict_json import first_fault, kind_of

STORE_FORMAT: Literal["memaudit-store"] = "memaudit-store"
STORE_VERSION: Literal[1] = 1

State = Literal["active", "deleted", "expired", "superseded"]

ReaderTime = Literal["created_at", "valid_from"]

Times = Literal["shown", "none", "all"]
"""Times of the conversation in a memory's text: those its system's reader is shown, none, or all.
"""

WRITTEN_AFTER = "written_after"
"""In a memory's metadata: the messages after which a capture saw it written or changed."""

MAX_DEPTH = 64
LONGEST_VECTOR = 50
"""Longer lists of numbers are embeddings, which are left out."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Memory(_Frozen):
    """A memory that a system wrote. Only active memories are scored."""

    id: str = Field(min_length=1, description="unique within the store")
    text: str
    state: State = "active"
    created_at: str | None = None
    updated_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    namespace: str | None = Field(default=None, description="user, agent or block it belongs to")
    example: str | None = Field(default=None, description="package it was written for")
    sources: tuple[str, ...] = Field(default=(), description="experiences or turns it names")
    salience: float | None = Field(default=None, description="the system's own write-time score")
    document: str | None = Field(default=None, description="the document it is a part of")
    lines: tuple[int, int] | None = Field(
        default=None, description="its first and last line in the document, counted from 1"
    )
    context: tuple[str, ...] = Field(
        default=(), description="headings and parents that its text begins with"
    )
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")


def document_lines(text: str) -> list[str]:
    """The lines as editors count them, each with its end; joined they are the text."""
    return _LINE.findall(text)


class Document(_Frozen):
    """A file or block that a store cuts into entries. Kept whole, it costs what it costs itself."""

    id: str = Field(min_length=1)
    text: str
    head: int = Field(default=0, description="lines of front matter, which a reader is not shown")

    @property
    def shown_text(self) -> str:
        """What a reader is shown: the text without front matter."""
        return "".join(document_lines(self.text)[self.head :])


class ImportCount(_Frozen):
    """What happened to the rows of an export."""

    read: int = 0
    kept: int = 0
    inactive: dict[str, int] = Field(default_factory=dict, description="by state")
    skipped: dict[str, int] = Field(default_factory=dict, description="by reason")


class Origin(_Frozen):
    system: str
    format: str
    guessed: bool = False
    view: str | None = Field(default=None, description="which text of a record was taken")
    view_version: int = Field(default=1, description="of the rule that makes this text")
    files: dict[str, str] = Field(default_factory=dict, description="name to SHA-256")
    versions: dict[str, str] = Field(default_factory=dict)
    configuration: dict[str, JsonValue] = Field(default_factory=dict)
    reader_time: ReaderTime | None = Field(
        default=None, description="the time of a memory that the system's reader is shown, if any"
    )


class ExportedStore(_Frozen):
    """Memories in the order they were written, with what was left out and why."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    format: Literal["memaudit-store"] = STORE_FORMAT
    version: Literal[1] = STORE_VERSION
    name: str = Field(min_length=1)
    origin: Origin
    memories: tuple[Memory, ...]
    documents: tuple[Document, ...] = Field(
        default=(), description="files or blocks that memories are entries of"
    )
    times: Times = Field(default="shown", description="which times belong to a memory's text")
    count: ImportCount = ImportCount()
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ExportedStore({self.name!r}, {len(self.active):,} active memories)"

    def __str__(self) -> str:
        return repr(self)

    @property
    def active(self) -> tuple[Memory, ...]:
        return tuple(memory for memory in self.memories if memory.state == "active")

    @cached_property
    def active_by_example(self) -> dict[str | None, list[Memory]]:
        """The active memories by the package they were written for, in their order."""
        by_example: dict[str | None, list[Memory]] = {}
        for memory in self.active:
            by_example.setdefault(memory.example, []).append(memory)
        return by_example

    @cached_property
    def named_examples(self) -> frozenset[str]:
        """The packages that memories name, active or not."""
        named = {memory.example for memory in self.memories}
        return frozenset(example for example in named if example is not None)

    @cached_property
    def digest(self) -> str:
        """What `store_digest` returns: it is asked for once per package."""
        # Without defaults, so that a new optional field leaves the digests of older stores as they
        # are.
        rows = [row.model_dump(mode="json", exclude_defaults=True) for row in self.documents]
        view = [self.origin.view, self.origin.view_version, self.times]
        return _sha256({"view": view, "documents": rows, "memories": _rows(self)})

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, which works out by itself what this store has cached."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("active_by_example", "named_examples", "digest"):
            copied.__dict__.pop(name, None)
        return copied


IMPORT_FIRST = "(read an export with memaudit import first)"


def store_digest(store: ExportedStore) -> str:
    """The SHA-256 of the view, its documents and the memories in their order; names, counts and
    warnings do not change it."""
    return store.digest


def _rows(store: ExportedStore) -> list[object]:
    return [memory.model_dump(mode="json", exclude_defaults=True) for memory in store.memories]


def _sha256(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def write_store(store: ExportedStore, path: Path) -> None:
    write_file(path, store_text(store))


def store_text(store: ExportedStore) -> str:
    data = store.model_dump(mode="json", exclude={"memories"})
    if not store.documents:
        del data["documents"]
    # What was read from a file without this field is written without it: to be silent is not to say
    # that the reader is shown no time.
    if "reader_time" not in store.origin.model_fields_set:
        del data["origin"]["reader_time"]
    head = {**data, "digest": store_digest(store)}
    parts = [f"  {_line(name)}: {_line(value)}" for name, value in head.items()]
    rows = [
        "    " + _line({"id": memory.id, **memory.model_dump(mode="json", exclude_defaults=True)})
        for memory in store.memories
    ]
    body = "[\n" + ",\n".join(rows) + "\n  ]" if rows else "[]"
    return "{\n" + ",\n".join([*parts, f'  "memories": {body}']) + "\n}\n"


def read_store(path: Path) -> ExportedStore:
    """Read a store's file; a file that was edited is refused."""
    name = path.name
    try:
        parsed = loads(read_text(path))
    except ValueError as error:
        raise MemAuditError(f"{name}: is {error} {IMPORT_FIRST}") from None
    if too_deep(parsed):
        raise MemAuditError(f"{name}: nests deeper than {MAX_DEPTH} levels")
    document = plain_json(parsed)
    if not isinstance(document, dict):
        raise MemAuditError(f"{name}: holds {kind_of(document)}, not a store {IMPORT_FIRST}")
    if document.get("format") != STORE_FORMAT:
        raise MemAuditError(f"{name}: is not a store {IMPORT_FIRST}")
    if document.get("version") != STORE_VERSION:
        raise MemAuditError(
            f"{name}: is a store of version {document.get('version')!s:.20}, "
            f"this program reads {STORE_VERSION}"
        )
    digest = document.pop("digest", None)
    try:
        store = ExportedStore.model_validate(document)
    except ValidationError as error:
        raise MemAuditError(f"{name}: {first_fault(error)}") from None
    seen: set[str] = set()
    # Labels, salience and diagnoses find memories by id: two of one id would share them.
    for at, memory in enumerate(store.memories):
        if memory.id in seen:
            raise MemAuditError(f"{name}: memories[{at}] repeats the id {memory.id!r}")
        seen.add(memory.id)
    # Before views had versions, the memories alone were the store.
    known = digest in (None, store.digest) or digest == _sha256(_rows(store))
    if not known:
        raise MemAuditError(f"{name}: does not match its digest: it was edited or damaged")
    return store


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=False)


def is_vector(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > LONGEST_VECTOR
        and all(isinstance(number, int | Decimal | float) for number in value)
    )


def plain_json(value: object) -> JsonValue:
    """A parsed value as data a store can hold: floats, encodable text, no embeddings."""
    if isinstance(value, Decimal):
        number = float(value)
        return number if abs(number) != float("inf") else str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {
            encodable(str(key)): plain_json(item)
            for key, item in value.items()
            if not is_vector(item)
        }
    if isinstance(value, list):
        return [plain_json(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)


def too_deep(value: object, limit: int = MAX_DEPTH) -> bool:
    """Whether a value nests deeper than the limit; works at any depth, without recursion."""
    # Level by level: at most `limit` steps, while recursion would fail on the very input it is for.
    level: list[object] = [value]
    for _ in range(limit + 1):
        below: list[object] = []
        for container in level:
            if isinstance(container, dict):
                below += container.values()
            elif isinstance(container, list):
                below += container
        level = [item for item in below if isinstance(item, dict | list)]
        if not level:
            return False
    return True


class ExportWarning(Enum):
    """What a warning of an import or a capture means, where a score acts on it.

    A store's file holds its warnings as text. A text that a program acts on begins with an opening
    of a member; the openings are part of the file format, and what follows is for people. The first
    opening is the one that is written. To reword it, add the new one in front and leave the others
    in place: stores on disk carry the texts of earlier versions.
    """

    TRUNCATED = ("truncated",)
    MAYBE_TRUNCATED = ("maybe truncated",)
    INCOMPLETE = ("incomplete",)
    CORE_MEMORY_ONLY = ("core memory only",)
    ARCHIVAL_ONLY = ("archival passages only",)
    SEARCH_RESULTS = ("a union of search results",)
    SEARCH_SCORES = ("rows carry a search score",)
    PARTLY_READ = ("partly read",)
    ORDER_UNKNOWN = ("order of writing unknown",)

    def text(self, detail: str) -> str:
        """The warning as it is written to a store."""
        return f"{self.value[0]}: {detail}"


MISSING_MEMORIES = frozenset(ExportWarning) - {
    ExportWarning.PARTLY_READ,
    ExportWarning.ORDER_UNKNOWN,
}
"""The system holds, or may hold, memories that the export does not."""


def export_warning(text: str) -> ExportWarning | None:
    """What a warning of this or an earlier version means; None where no program acts on it."""
    return next((known for known in ExportWarning if text.startswith(known.value)), None)


def missing_memories(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings which say that memories are missing."""
    return tuple(text for text in warnings if export_warning(text) in MISSING_MEMORIES)


class HarmlessSkip(StrEnum):
    """Reasons for a skipped row that leave nothing unread; they are keys of `count.skipped`."""

    EMPTY_TEXT = "empty text"
    NO_ENTRY = "a document without an entry"
    OTHER_NAMESPACE = "other namespace"
    OTHER_CONVERSATION = "other conversation"
    REPEATED_ROW = "repeated row"


LEFT_OUT = (HarmlessSkip.OTHER_NAMESPACE, HarmlessSkip.OTHER_CONVERSATION)
"""Skipped because the user asked for others: counted, and nothing to warn about."""
