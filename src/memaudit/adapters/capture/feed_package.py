"""One package through a system: fed message by message, then read out and imported."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memaudit.adapters.capture.driver_process import DriverDied, DriverProcess
from memaudit.adapters.capture.systems import MemorySystem, Parts
from memaudit.adapters.protocol import ImportOptions
from memaudit.adapters.registry import import_store, named_adapter
from memaudit.adapters.store import WRITTEN_AFTER, Document, ExportWarning, Memory, export_warning
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.text import one_line
from memaudit.core.turns import fed_digests
from memaudit.io.atomic import write_file
from memaudit.models.secret import Secret
from memaudit.writers.protocol import VisibleExperience, visible

ASSISTANTS = frozenset({"assistant", "ai", "agent", "model", "bot", "system"})
PLAIN = ASSISTANTS | {"user", "human"}
"""Speakers that the role already names."""


@dataclass(frozen=True, slots=True)
class FedMessage:
    """One experience as a chat message, and the parts for systems with fields of their own."""

    role: str
    content: str
    """`[timestamp] speaker: text`, without the parts that the package does not have."""
    spoken: str
    """`speaker: text`."""
    dialogue: str
    """The same; where the speaker has no name, the role speaks."""
    time: str | None
    """`YYYYMMDDHHMM` if the timestamp is ISO, else unchanged."""


@dataclass(frozen=True, slots=True)
class FedExperience:
    """A message with its experience; only the message is sent to the system."""

    experience: str
    message: FedMessage


@dataclass(frozen=True, slots=True)
class CaptureExample:
    """What a system is fed of a package: its visible experiences as messages, nothing else."""

    name: str
    digest: str
    messages: tuple[FedExperience, ...]
    empty: int


def as_example(package: Package) -> CaptureExample:
    """The messages of a package in order of arrival; experiences without text are counted, unless
    they are a bracket around others, such as the end of a session."""
    experiences = visible(package).experiences
    told = {experience.session for experience in experiences if experience.text.strip()}
    empty = [
        experience
        for experience in experiences
        if not experience.text.strip() and (experience.session or None) not in told - {None}
    ]
    messages = tuple(
        FedExperience(experience.id, _message(experience))
        for experience in experiences
        if experience.text.strip()
    )
    if not messages:
        raise MemAuditError(f"package {package.name!r} has no experience with a text to feed")
    return CaptureExample(package.name, fed_digest(messages), messages, len(empty))


def fed_digest(messages: Sequence[FedExperience]) -> str:
    """The SHA-256 of what is fed; other labels on the same stream do not change it."""
    rows = [[fed.experience, asdict(fed.message)] for fed in messages]
    text = json.dumps(rows, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _message(experience: VisibleExperience) -> FedMessage:
    speaker = (experience.speaker or "").strip()
    named = speaker and speaker.casefold() not in PLAIN
    spoken = f"{speaker}: {experience.text}" if named else experience.text
    when = experience.timestamp
    role = "assistant" if speaker.casefold() in ASSISTANTS else "user"
    return FedMessage(
        role=role,
        content=f"[{when}] {spoken}" if when else spoken,
        spoken=spoken,
        dialogue=spoken if named else f"{role}: {spoken}",
        time=_compact(when) if when else None,
    )


def _compact(when: str) -> str:
    try:
        return datetime.fromisoformat(when).strftime("%Y%m%d%H%M")
    except ValueError:
        return when


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
    documents: list[Document] = field(default_factory=list)
    turns: list[list[str]] = field(default_factory=list)
    """Of every line that was fed, its digests (core/turns.py)."""


@dataclass(frozen=True, slots=True)
class FeedSettings:
    driver: DriverProcess
    wire_settings: dict[str, Any]
    """With the API key: sent to the driver, never written to a file."""
    key: Secret
    patience: float
    view: str | None


def feed_example(
    feeding: FeedSettings, example: CaptureExample, folder: Path, export: Path
) -> ExampleResult:
    """Feed every message in order into a new store in `folder`, and write the export."""
    driver = feeding.driver
    opened = driver.ask(
        "open", feeding.patience, settings=feeding.wire_settings, folder=str(folder)
    )
    in_parts = feeding.view in (None, named_adapter(driver.system.format).views[0])
    history = StoreHistory(driver.system.parts if in_parts else None)
    failures = _Failures(feeding.key)
    for fed in example.messages:
        reply = driver.ask("feed", feeding.patience, message=asdict(fed.message))
        history.note(fed.experience, reply["changes"])
        failures.note(fed.experience, reply["problem"])
    read = driver.ask("read", feeding.patience)
    driver.ask("close", feeding.patience)
    rows = history.exports(read["rows"])
    files = _write_export(driver.system, rows, export)
    store = import_store(
        files, driver.system.format, ImportOptions(name=example.name, view=feeding.view)
    )
    return ExampleResult(
        example=example.name, digest=example.digest, fed=len(example.messages),
        empty=example.empty, failures=failures.rows, changes=history.counts, rows=len(rows),
        memories=history.settle(store.memories, example.name),
        skipped=store.count.skipped, configuration=opened["configuration"],
        warnings=[text for text in store.warnings if export_warning(text) not in KNOWN_BETTER],
        contacted=read["contacted"], documents=list(store.documents),
        turns=_fed_turns(example, failures.rows),
    )  # fmt: skip


def _fed_turns(example: CaptureExample, failures: Sequence[Mapping[str, str]]) -> list[list[str]]:
    failed = {failure["experience"] for failure in failures}
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
        self._key, self._in_a_row = key, 0

    def note(self, experience: str, problem: str) -> None:
        if not problem:
            self._in_a_row = 0
            return
        text = one_line(self._key.hidden_in_message(problem))[:300]
        self.rows.append({"experience": experience, "problem": text})
        self._in_a_row += 1
        if self._in_a_row == FAILURES_IN_A_ROW:
            raise DriverDied(f"{FAILURES_IN_A_ROW} messages in a row failed: {text}")
