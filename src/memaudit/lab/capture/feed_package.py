"""One package through a system: fed in order, then read out and imported."""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.store_file import (
    WRITTEN_AFTER,
    Document,
    ExportWarning,
    Memory,
    export_warning,
)
from memaudit.kernel.score.store_match import fed_digests
from memaudit.kernel.words.text import one_line
from memaudit.lab.capture.driver_process import DriverDied, DriverProcess
from memaudit.lab.capture.messages import CaptureExample, feedings
from memaudit.lab.capture.model_proxy import ModelProxy
from memaudit.lab.capture.systems import MemorySystem, Parts
from memaudit.models.record import Spent
from memaudit.models.secret import Secret
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store, named_adapter


@dataclass(slots=True)
class MemoryHistory:
    """The experiences that wrote or changed a memory, and the one that deleted it."""

    after: list[str]
    """Not its sources: the system may have used anything it read before."""
    place: int = 0
    """Which of all memories and entries it was, counted in the order they appeared."""
    export: dict[str, Any] = field(default_factory=dict)
    deleted_after: str | None = None


@dataclass(slots=True)
class StoreHistory:
    """Every memory the store ever held, in the order of first appearance.

    Of a row that has `parts`, every part has a history of its own: it appears and goes with its
    text.
    """

    parts: Parts | None = None
    entries: dict[str, MemoryHistory] = field(default_factory=dict)
    lives: dict[tuple[str, str], MemoryHistory] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def note(self, experience: str, changes: Sequence[Mapping[str, Any]]) -> None:
        """Record the changes that one message made."""
        for change in changes:
            kind, row = change["change"], change["id"]
            self.counts[kind] = self.counts.get(kind, 0) + 1
            entry = self.entries.setdefault(row, MemoryHistory([], self._appeared))
            if kind == "delete":
                entry.deleted_after = experience
                self._live(experience, row, [])
                continue
            entry.after.append(experience)
            entry.export, entry.deleted_after = change["export"], None
            self._live(experience, row, self.parts(entry.export) if self.parts else [])

    @property
    def _appeared(self) -> int:
        return len(self.entries) + len(self.lives)

    def _live(self, experience: str, row: str, now: Sequence[str]) -> None:
        """Note which entries of a row a message wrote, and which are gone after it."""
        self._rename(experience, row, now)
        for (owner, entry), life in self.lives.items():
            if owner != row:
                continue
            if entry not in now:
                # The first message after which it was gone: later ones find it gone already.
                life.deleted_after = life.deleted_after or experience
            elif life.deleted_after is not None:
                life.after.append(experience)
                life.deleted_after = None
        for entry in now:
            self.lives.setdefault((row, entry), MemoryHistory([experience], self._appeared))

    def exports(self, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The rows to import: the final store, then the last state of deleted memories."""
        present = {row["id"] for row in rows}
        deleted = [entry.export for id, entry in self.entries.items() if id not in present]
        return [row["export"] for row in rows] + deleted

    def _rename(self, experience: str, row: str, now: Sequence[str]) -> None:
        """Entries whose headings alone were changed live on under their new text."""
        gone: dict[str, str] = {}
        for owner, entry in self.lives:
            if owner == row and entry not in now and not self.lives[owner, entry].deleted_after:
                # Entries are "heading: text". With the heading cut off, a moved entry equals its
                # old self.
                gone.setdefault(entry.rpartition(": ")[2], entry)
        for text in now:
            before = gone.pop(text.rpartition(": ")[2], None)
            if before is not None and (row, text) not in self.lives:
                life = self.lives.pop((row, before))
                life.after.append(experience)
                self.lives[row, text] = life

    def settle(self, memories: Sequence[Memory], example: str) -> list[Memory]:
        """The imported memories in the order of writing, with their history."""

        def order(memory: Memory) -> tuple[int, int]:
            life = self._life(memory)
            place = self._appeared if life is None else life.place
            return place, memory.lines[0] if memory.lines else 0

        held = {(self._row(memory.id), memory.text) for memory in memories}
        gone = [
            Memory(id=f"{row}:gone-{number}", text=text, state="deleted", namespace=None)
            for number, (row, text) in enumerate(self.lives, start=1)
            # Their text left the row, so the export does not have them, but a store shows what it
            # forgot.
            if (row, text) not in held
        ]
        settled = [self._settled(memory, example) for memory in sorted(memories, key=order)]
        return settled + [self._settled(memory, example) for memory in gone]

    def _row(self, id: str) -> str:
        """The row of a memory: a view may split it into `row:1`, `row:2`, ... or `row/1`, ..."""
        rows = (id, id.rpartition(":")[0], id.rpartition("/")[0])
        return next((row for row in rows if row in self.entries), "")

    def _life(self, memory: Memory) -> MemoryHistory | None:
        row = self._row(memory.id)
        return self.lives.get((row, memory.text)) or self.entries.get(row)

    def _settled(self, memory: Memory, example: str) -> Memory:
        entry = self._life(memory)
        written = {WRITTEN_AFTER: list(entry.after)} if entry else {}
        deleted = {"deleted_after": entry.deleted_after} if entry and entry.deleted_after else {}
        update: dict[str, object] = {
            "example": example,
            "metadata": {**memory.metadata, **written, **deleted},
        }
        if deleted:
            update["state"] = "deleted"
        return memory.model_copy(update=update)


FAILURES_IN_A_ROW = 3
"""More than chance: the server or a setting is broken."""

KNOWN_BETTER = (ExportWarning.MAYBE_TRUNCATED, ExportWarning.ORDER_UNKNOWN)
"""Warnings of the importer that do not apply: the driver read all, and saw the order."""


@dataclass(slots=True)
class ExampleResult:
    example: str
    digest: str
    fed: int
    empty: int
    failures: list[dict[str, str]]
    changes: dict[str, int]
    rows: int
    memories: list[Memory]
    skipped: dict[str, int]
    warnings: list[str]
    configuration: dict[str, Any] = field(default_factory=dict)
    contacted: list[str] = field(default_factory=list)
    """Addresses besides the model's."""
    documents: list[Document] = field(default_factory=list)
    turns: list[list[str]] = field(default_factory=list)
    """Of every line that was fed, its digests (kernel/score/store_match.py)."""
    failed: int = 0
    """Messages that failed; `failures` has a row for those that were fed together."""
    untimed: int = 0
    late: int = 0
    """Messages without a time, and those that are earlier than one before them."""
    writing: list[dict[str, Any]] = field(default_factory=list)
    """What opening the system and each feeding cost (record.Spent), by its last experience."""


@dataclass(frozen=True, slots=True)
class FeedSettings:
    driver: DriverProcess
    proxy: ModelProxy
    wire_settings: dict[str, Any]
    key: Secret
    patience: float
    view: str | None
    feed: str
    progress: Callable[[int, int, int], None] = lambda *_: None
    """Told after every feeding: messages fed of the example, calls so far, memories."""


def feed_example(
    feeding: FeedSettings, example: CaptureExample, folder: Path, export: Path
) -> ExampleResult:
    """Feed every message in order into a new store in `folder`, and write the export."""
    driver, proxy = feeding.driver, feeding.proxy
    waiting = _Waiting(feeding, example)
    opened = waiting.ask(
        0,
        "open",
        settings=feeding.wire_settings,
        folder=str(folder),
        time=example.begins,
        seed=example.digest,
    )
    # `parts` are the memories of the format's first view; other views cut rows differently.
    in_parts = feeding.view in (None, named_adapter(driver.system.format).views[0])
    history = StoreHistory(driver.system.parts if in_parts else None)
    failures = _Failures(feeding.key)
    done = calls = 0
    for place, messages in enumerate(feedings(example.messages, feeding.feed), start=1):
        last = messages[-1].experience
        times = [fed.microseconds for fed in messages if fed.microseconds is not None]
        reply = waiting.ask(
            place,
            "feed",
            messages=[asdict(fed.message) for fed in messages],
            time=max(times, default=None),
        )
        history.note(last, reply["changes"])
        failures.note([fed.experience for fed in messages], reply["problem"])
        done += len(messages)
        calls += len(proxy.calls)
        feeding.progress(done, calls, len(history.entries))
    # An empty store of a system that never worked would look like one that forgot everything.
    if len(failures.failed) == len(example.messages):
        raise DriverDied(f"every message failed: {failures.rows[-1]['problem']}")
    read = waiting.ask(len(waiting.spent), "read")
    driver.ask("close", feeding.patience)
    rows = history.exports(read["rows"])
    files = _write_export(driver.system, rows, export)
    as_of = example.ends if waiting.by_conversation else None
    store = import_store(
        files,
        driver.system.format,
        ImportOptions(name=example.name, view=feeding.view, as_of=as_of),
    )
    return ExampleResult(
        example=example.name,
        digest=example.digest,
        fed=len(example.messages),
        empty=example.empty,
        failures=failures.rows,
        changes=history.counts,
        rows=len(rows),
        failed=len(failures.failed),
        memories=history.settle(store.memories, example.name),
        skipped=store.count.skipped,
        configuration=opened["configuration"],
        warnings=[text for text in store.warnings if export_warning(text) not in KNOWN_BETTER],
        contacted=[address for address in read["contacted"] if address not in proxy.address],
        documents=list(store.documents),
        turns=_fed_turns(example, failures.failed),
        untimed=example.untimed,
        late=example.late,
        writing=[{"after": after, **asdict(spent)} for after, spent in waiting.spent],
    )


class NotRecorded(MemAuditError):
    """A replay was asked something that is not in its record."""


class _Waiting:
    """Asks the driver, and counts what each feeding costs; a replay copies the figures."""

    def __init__(self, feeding: FeedSettings, example: CaptureExample) -> None:
        self._feeding, self._example = feeding, example
        self.spent: list[tuple[str, Spent]] = []
        self.by_conversation = feeding.wire_settings["clock"] == "conversation"

    def ask(self, place: int, do: str, **fields: Any) -> dict[str, Any]:
        driver, proxy = self._feeding.driver, self._feeding.proxy
        proxy.begin(self._example.name, place)
        start = time.monotonic()
        try:
            reply = driver.ask(do, self._feeding.patience, lambda: proxy.last_sign, **fields)
        finally:
            self._refuse_a_miss(place)
        if do == "read":
            return reply
        at = self._example.name, place
        known = proxy.record.spent.get(at)
        spent = known or Spent.of(proxy.calls, time.monotonic() - start)
        if proxy.file is not None and known is None:
            proxy.file.fed(*at, spent)
        after = "" if do == "open" else self._after(place)
        self.spent.append((after, spent))
        return reply

    def _refuse_a_miss(self, place: int) -> None:
        proxy = self._feeding.proxy
        if proxy.missed:
            when = f"after {self._after(place)!r}" if place else "when it is opened"
            raise NotRecorded(
                f"{proxy.record.name} has no answer to what {self._feeding.driver.system.label} "
                f"asks {when} in {self._example.name!r}: {proxy.missed}"
            )

    def _after(self, place: int) -> str:
        groups = feedings(self._example.messages, self._feeding.feed)
        return groups[min(place, len(groups)) - 1][-1].experience


def _fed_turns(example: CaptureExample, failed: Collection[str]) -> list[list[str]]:
    return [
        line
        for fed in example.messages
        if fed.experience not in failed
        for line in fed_digests(fed.message.content)
    ]


def _write_export(system: MemorySystem, rows: list[dict[str, Any]], stem: Path) -> list[Path]:
    files = []
    for end, document in system.layout(system.list_key, rows).items():
        files.append(stem.with_name(stem.name + end))
        write_file(files[-1], json.dumps(document, indent=1, ensure_ascii=True))
    return files


class _Failures:
    """Messages that failed; too many in a row end the example."""

    def __init__(self, key: Secret) -> None:
        self.rows: list[dict[str, str]] = []
        self.failed: set[str] = set()
        self._key, self._in_a_row = key, 0

    def note(self, experiences: Sequence[str], problem: str) -> None:
        if not problem:
            self._in_a_row = 0
            return
        text = one_line(self._key.hidden_in_message(problem))[:300]
        self.failed.update(experiences)
        where = " to ".join(dict.fromkeys((experiences[0], experiences[-1])))
        self.rows.append({"experience": where, "problem": text})
        self._in_a_row += 1
        if self._in_a_row == FAILURES_IN_A_ROW:
            raise DriverDied(f"{FAILURES_IN_A_ROW} messages in a row failed: {text}")
