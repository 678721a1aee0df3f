"""The account of an import: every row is kept or skipped, with the reason."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import JsonValue

from memaudit.conversations.records import IdRegistry
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.foreign_json import encodable
from memaudit.kernel.io.store_file import (
    LEFT_OUT,
    MAX_DEPTH,
    Document,
    ExportedStore,
    ExportWarning,
    HarmlessSkip,
    ImportCount,
    Memory,
    Origin,
    ReaderTime,
    State,
    too_deep,
)
from memaudit.kernel.io.strict_json import kind_of
from memaudit.kernel.words.text import counted
from memaudit.stores.documents import ENTRIES_VERSION, Piece, split_document
from memaudit.stores.protocol import ExportFields, ExportRow, ImportOptions, SkipRow, api_error
from memaudit.stores.source import ExportSource, text_lines

NAMED = 20
"""Most rows that a warning names; the others are counted."""

LONGEST_NAME = 80
"""Characters of a name that a message lists."""

MAX_CHARACTERS = 256 << 20
"""Of all memories together: a text that a file holds once may be copied into every memory."""

NO_TIMES = "entries of a document have no times, so it is not known which are the newest"

COMMON_LIMITS = (10, 20, 50, 100)
"""Where list calls and their pages usually stop."""


@dataclass(frozen=True, slots=True)
class MemoryDraft:
    """A memory before it gets a unique id; `expires` is a date that is not yet compared."""

    text: str
    id: str | None = None
    state: State = "active"
    created_at: str | None = None
    updated_at: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    expires: str | None = None
    namespace: str | None = None
    example: str | None = None
    sources: tuple[str, ...] = ()
    salience: float | None = None
    document: str | None = None
    lines: tuple[int, int] | None = None
    context: tuple[str, ...] = ()
    metadata: dict[str, JsonValue] = field(default_factory=dict)


class ImportLedger:
    """Collects drafts, skips and notes while one source is read."""

    def __init__(self, source: ExportSource, options: ImportOptions) -> None:
        self.source, self.options = source, options
        self.view = options.view or ""
        self.configuration: dict[str, JsonValue] = {}
        self.read = self.size = 0
        self.drafts: list[tuple[str, MemoryDraft]] = []
        self.skipped: dict[str, list[str]] = defaultdict(list)
        self.notes: dict[str, list[str]] = defaultdict(list)
        self.warnings: list[str] = []
        self.documents: dict[str, Document] = {}
        # Names to choose from: of all rows, whether or not they are kept.
        self.namespaces: set[str] = set()
        self.conversations: set[str] = set()

    def note(self, what: str, place: str) -> None:
        """Note something left out or changed in a row that is kept."""
        self.notes[what].append(place)

    def warn(self, text: str, kind: ExportWarning | None = None) -> None:
        """Say something of the whole store; of a known kind, so that a score can repeat it."""
        text = text if kind is None else kind.text(text)
        if text not in self.warnings:
            self.warnings.append(text)

    def skip(self, place: str, reason: str) -> None:
        """Count a row that was read and not kept; `reason` may end with `: detail`."""
        self.read += 1
        # Counted by what comes before the colon, so that a reason is one line however many rows
        # have it.
        reason, _, detail = reason.partition(": ")
        self.skipped[reason].append(f"{place} ({detail})" if detail else place)

    def take(self, rows: Iterable[ExportRow], draft: Callable[[ExportFields], MemoryDraft]) -> int:
        """Read each row into a draft; returns the number of rows."""
        count = 0
        for raw in rows:
            count += 1
            self.take_one(raw, draft)
        return count

    def take_one(self, raw: ExportRow, draft: Callable[[ExportFields], MemoryDraft]) -> None:
        if raw.problem:
            return self.skip(raw.place, raw.problem)
        if not isinstance(raw.value, dict):
            return self.skip(raw.place, f"{kind_of(raw.value)}, not an object")
        if too_deep(raw.value):
            return self.skip(raw.place, f"nests deeper than {MAX_DEPTH} levels")
        notes: list[tuple[str, str]] = []
        try:
            made = draft(
                ExportFields(raw.value, raw.place, lambda *noted: notes.append(noted), self.view)
            )
        except SkipRow as reason:
            error = api_error(raw.value)
            return self.skip(raw.place, f"API error: {error}" if error else str(reason))
        if unwanted := self._unwanted(made):
            return self.skip(raw.place, unwanted)
        for what, place in dict.fromkeys(notes):  # a field may be read twice
            self.note(what, place)
        return self._keep(raw.place, made)

    def take_document(
        self,
        raw: ExportRow,
        key: str,
        id: str,
        view: str,
        draft: Callable[[ExportFields], MemoryDraft],
        head: int = 0,
    ) -> None:
        """Read the text under `key` as one memory, line by line, or entry by entry; `head` lines
        are front matter."""
        fields = raw.value if isinstance(raw.value, dict) else {}
        text = fields.get(key)
        if view == "full" or not isinstance(text, str) or not text.strip():
            return self.take_one(raw, draft)
        if view == "lines":
            rows = list(enumerate(text_lines(text), start=1))[head:]
            pieces = [Piece("entry", at, at, line) for at, line in rows if line.strip()]
            document = None
        else:
            pieces = split_document(text, head)
            document = self._document(id, text, head).id
        for piece in pieces:
            if piece.problem:
                self.note(piece.problem, f"{raw.place} line {piece.first}")
        entries = [piece for piece in pieces if piece.kind == "entry"]
        if not entries:
            return self.skip(raw.place, HarmlessSkip.NO_ENTRY)
        for piece in entries:
            # Bare lines are numbered from the first one with words, as they always were.
            at = f"L{piece.first}" if document else f"{piece.first - entries[0].first + 1}"
            placed = partial(_placed, draft, f"{id}:{at}", document, piece)
            row = ExportRow(f"{raw.place} line {piece.first}", {**fields, key: piece.text})
            self.take_one(row, placed)
        return None

    def _document(self, id: str, text: str, head: int) -> Document:
        """The document of this text, under a name that no other one has."""
        document = Document(id=id, text=encodable(text), head=head)
        number = 1
        # Two agents may have blocks of one label; a document of the same text is the same one.
        while self.documents.setdefault(document.id, document).text != document.text:
            number += 1
            document = document.model_copy(update={"id": f"{id}#{number}"})
        return document

    def check_limit(self, count: int, limits: Mapping[int, str] | None = None) -> None:
        """Warn if a list is exactly as long as a default limit; of pages, check only the last."""
        known = (limits or {}).get(count)
        if known or count in COMMON_LIMITS:
            which = f"the default limit of {known}" if known else "where list calls often stop"
            detail = f"exactly {count} rows, {which}; export again with a larger limit"
            self.warn(detail, ExportWarning.MAYBE_TRUNCATED)

    def check_total(self, total: object, held: int) -> bool:
        """Warn if the export says that there are more rows than it holds.

        True if it says how many there are: then no limit needs to be guessed.
        """
        if not isinstance(total, int) or isinstance(total, bool):
            return False
        if total > held:
            detail = f"holds {held} of {total} rows; export every page"
            self.warn(detail, ExportWarning.TRUNCATED)
        return True

    def _unwanted(self, made: MemoryDraft) -> HarmlessSkip | None:
        """Whether another conversation or namespace was asked for."""
        conversation, namespace = self.options.conversation, self.options.namespace
        if made.example is not None:
            self.conversations.add(made.example)
        if conversation is not None and made.example != conversation:
            return HarmlessSkip.OTHER_CONVERSATION
        if made.namespace is not None:
            self.namespaces.add(made.namespace)
        other = namespace is not None and made.namespace != namespace
        return HarmlessSkip.OTHER_NAMESPACE if other else None

    def _keep(self, place: str, made: MemoryDraft) -> None:
        self.read += 1
        self.size += _size(made)
        if self.size > MAX_CHARACTERS:
            raise MemAuditError(
                f"{place}: the memories up to here hold more than {MAX_CHARACTERS:,} characters "
                "(a long text is repeated in every one of them; export in pages)"
            )
        if made.id is None:
            made = replace(made, id=f"row-{self.read}")
            self.note("no id, numbered by its place", place)
        self.drafts.append((place, made))

    def store(self, system: str, format: str, view: str | None, in_order: bool) -> ExportedStore:
        """The store of all rows. `in_order`: the file lists them in the order of writing."""
        self._refuse_unreadable()
        self._judge_expiry()
        self._order(in_order)
        memories = self._memories()
        origin = Origin(
            system=system,
            format=format,
            guessed=self.options.guessed,
            view=view,
            view_version=ENTRIES_VERSION if view == "entries" else 1,
            files={part.name: part.digest for part in self.source.parts},
            configuration=self._configuration(),
        )
        inactive = Counter(memory.state for memory in memories if memory.state != "active")
        count = ImportCount(
            read=self.read,
            kept=len(memories),
            inactive=dict(sorted(inactive.items())),
            skipped={reason: len(places) for reason, places in sorted(self.skipped.items())},
        )
        return ExportedStore(
            name=self.options.name or self.source.name,
            origin=origin,
            memories=memories,
            documents=self._documents(memories),
            times=self.options.times,
            count=count,
            warnings=tuple(self._all_warnings(memories)),
        )

    def _refuse_unreadable(self) -> None:
        """A file of which no row could be read, or none has the name asked for, is not an empty
        store."""
        self._refuse_unknown("conversation", self.options.conversation, self.conversations)
        self._refuse_unknown("namespace", self.options.namespace, self.namespaces)
        # One row that could be read is a store, with a warning; none is the wrong format or the
        # wrong file.
        if self.drafts or not self.skipped:
            return
        broken = {
            reason: rows for reason, rows in self.skipped.items() if reason not in set(HarmlessSkip)
        }
        if broken:
            reason, rows = next(iter(broken.items()))
            raise MemAuditError(
                f"{self.source.name}: none of {self.read} rows could be read: {rows[0]}: {reason}"
            )

    def _refuse_unknown(self, what: str, wanted: str | None, names: set[str]) -> None:
        """Refuse a name that no memory has, if memories were left out for it."""
        if wanted is None or wanted in names:
            return
        if names:
            shown = first_places([repr(name[:LONGEST_NAME]) for name in sorted(names)])
            raise MemAuditError(
                f"{self.source.name}: no memory has the {what} {wanted!r}; the {what}s are {shown}"
            )
        if f"other {what}" in self.skipped:
            raise ParameterError(
                f"{{source}}: no memory has the {what} {{wanted}}; leave out {{{what}}}",
                source=self.source.name,
                wanted=repr(wanted),
            )

    def _judge_expiry(self) -> None:
        """Compare expiry dates with the given time, or else the latest time in the export."""
        if not any(made.expires for _, made in self.drafts):
            return
        times = [t for _, made in self.drafts for t in (made.created_at, made.updated_at) if t]
        as_of = self.options.as_of or max(times, default=None)
        if as_of is None:
            self.warn(
                "memories have an expiry date but nothing says when they were exported: "
                "all count as active (say when, as as_of)"
            )
            return
        self.warn(
            f"expiry dates are compared with {as_of}"
            + ("" if self.options.as_of else ", the latest time in the export")
        )
        for at, (place, made) in enumerate(self.drafts):
            # Times sort as texts.
            if made.expires and made.expires <= as_of and made.state == "active":
                self.drafts[at] = place, replace(made, state="expired")

    def _order(self, in_order: bool) -> None:
        """Sort by creation time, unless the file lists memories in the order of writing."""
        if sum(made.lines is not None for _, made in self.drafts) > 1:
            self.warn(NO_TIMES, ExportWarning.ORDER_UNKNOWN)
            return
        if in_order or len(self.drafts) < 2:
            return
        undated = sum(made.created_at is None for _, made in self.drafts)
        if undated:
            self.warn(
                f"{undated} of {len(self.drafts)} memories have no creation time; "
                "the order of the export is kept",
                ExportWarning.ORDER_UNKNOWN,
            )
        else:
            self.drafts.sort(key=lambda placed: placed[1].created_at or "")

    def _memories(self) -> tuple[Memory, ...]:
        """With unique ids: a repeated row is skipped, another row with the same id is renamed."""
        # Repeated rows are those of overlapping pages. Different rows with one id are two memories.
        ids = IdRegistry()
        seen: dict[str, MemoryDraft] = {}
        memories = []
        for place, made in self.drafts:
            own = made.id or ""
            if own in seen and seen[own] == made:
                self.skipped[HarmlessSkip.REPEATED_ROW.value].append(place)
                continue
            id = ids.assign(own)
            if id != own:
                self.note("id used twice, renamed with #2, #3, ...", f"{place} {own!r:.80}")
            seen[id] = made
            fields = {name: getattr(made, name) for name in MemoryDraft.__slots__}
            end = fields.pop("expires")
            memories.append(Memory(**{**fields, "id": id, "valid_to": made.valid_to or end}))
        return tuple(memories)

    def _documents(self, memories: Sequence[Memory]) -> tuple[Document, ...]:
        used = {memory.document for memory in memories}
        return tuple(document for document in self.documents.values() if document.id in used)

    def _configuration(self) -> dict[str, JsonValue]:
        chosen = {
            "namespace": self.options.namespace,
            "conversation": self.options.conversation,
            "as_of": self.options.as_of,
        }
        return self.configuration | {
            name: value for name, value in chosen.items() if value is not None
        }

    def _all_warnings(self, memories: tuple[Memory, ...]) -> list[str]:
        """Of the store, then skipped rows by reason, then notes; all name their rows."""
        warnings = list(self.warnings)
        if any(part.parsed.wrapped for part in self.source.parts):
            warnings.append("the JSON was inside a JSON string and was unwrapped")
        if self.source.left_out:
            names = [f"{name} ({why})" for name, why in sorted(self.source.left_out.items())]
            warnings.append(f"{counted(len(names), 'file')} not read: {first_places(names)}")
        if not memories:
            warnings.append("the store is empty: a valid export that holds no memory")
        harmless = set(HarmlessSkip)
        lost = sum(len(rows) for reason, rows in self.skipped.items() if reason not in harmless)
        if lost:
            text = f"{lost} of {self.read} rows were skipped"
            warnings.append(ExportWarning.PARTLY_READ.text(text))
        for reason, places in sorted(self.skipped.items()):
            if reason not in LEFT_OUT:
                warnings.append(
                    f"{counted(len(places), 'row')} skipped, {reason}: {first_places(places)}"
                )
        for what, places in sorted(self.notes.items()):
            warnings.append(f"{counted(len(places), 'row')}: {what}: {first_places(places)}")
        return warnings


class StoreFormat:
    """A format with a file of its own: what it is called, what it recognises, which rows it takes.

    It is an `Adapter`: reading begins and ends the same way for all of them.
    """

    name: str
    label: str
    system: str
    views: tuple[str, ...] = ("text",)
    reader_time: ReaderTime | None = None
    in_order = False
    """The export lists memories in the order of writing."""

    def recognises(self, source: ExportSource) -> int:
        raise NotImplementedError

    def take(self, ledger: ImportLedger) -> None:
        """Read all rows of the ledger's source into it."""
        raise NotImplementedError

    def read(self, source: ExportSource, options: ImportOptions) -> ExportedStore:
        ledger = ImportLedger(source, options)
        ledger.view = options.view or self.views[0]
        self.take(ledger)
        return ledger.store(self.system, self.name, ledger.view, self.in_order)


def _placed(
    draft: Callable[[ExportFields], MemoryDraft],
    id: str,
    document: str | None,
    piece: Piece,
    row: ExportFields,
) -> MemoryDraft:
    """A memory that is some lines of a document."""
    return replace(
        draft(row),
        id=id,
        created_at=None,
        updated_at=None,
        document=document,
        lines=(piece.first, piece.last),
        context=tuple(map(encodable, piece.context)),
    )


def _size(made: MemoryDraft) -> int:
    """The approximate number of characters of a memory in a store's file."""
    own = (made.text, made.id, made.namespace, made.example, *made.sources)
    waiting: list[object] = [*own, made.metadata]
    size = 0
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.keys()
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        size += len(value) if isinstance(value, str) else 8
    return size


def first_places(places: Sequence[str]) -> str:
    """The first places of a list, and how many more there are."""
    more = f", and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(places[:NAMED]) + more
