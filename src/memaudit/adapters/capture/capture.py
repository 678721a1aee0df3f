"""Many packages through one system, each once, into one store; a journal makes it resumable."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue

from memaudit.adapters.capture.driver_process import DriverDied, Drivers
from memaudit.adapters.capture.feed_package import (
    CaptureExample,
    ExampleResult,
    FeedSettings,
    as_example,
    feed_example,
)
from memaudit.adapters.capture.systems import CaptureSettings, MemorySystem
from memaudit.adapters.ledger import first_places
from memaudit.adapters.registry import named_adapter
from memaudit.adapters.store import (
    Document,
    ExportedStore,
    ExportWarning,
    ImportCount,
    Memory,
    Origin,
    write_store,
)
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.io.files import beside
from memaudit.io.journal import Journal, read_journal, to_line
from memaudit.io.run_folder import make_folder, make_own_folder
from memaudit.models.secret import Secret, checked_address, key_for

SUFFIX = ".capture"
JOURNAL = "journal.jsonl"
EXPORTS = "exports"
WORK = "work-"
EXAMPLES_IN_A_ROW = 2
"""After so many broken examples the run ends: the others would break too."""


@dataclass(slots=True)
class CaptureOutcome:
    """The store, the examples of this run and earlier ones, and what could not be fed."""

    store: ExportedStore
    results: list[ExampleResult]
    fed_now: int
    broken: dict[str, str] = field(default_factory=dict)


def capture(
    system: MemorySystem, packages: Sequence[Package], settings: CaptureSettings, out: Path,
    report: Callable[[str], None] = lambda _: None,
) -> CaptureOutcome:  # fmt: skip
    """Feed every package that is not finished, and write the store of all finished ones."""
    examples = _examples(packages)
    address, key = checked_address(settings.base_url), key_for(settings.base_url)
    with ExitStack() as stack:
        drivers = stack.enter_context(Drivers(system, settings.python, key))
        drivers.running()  # before anything is written: is the system installed, in which version?
        versions, known = drivers.hello["versions"], drivers.hello["options"]
        if unknown := sorted(set(settings.options) - set(known)):
            raise MemAuditError(
                f"{system.label} has no setting {unknown[0]!r} here; known: {', '.join(known)}"
            )
        identity = {"system": system.name, "view": settings.view, "versions": versions}
        record = stack.enter_context(open_record(out, {**identity, **settings.identity()}))
        waiting = [example for example in examples if record.result(example) is None]
        broken = _Run(drivers, settings, record, address, key, report).feed(waiting)
        results = [result for example in examples if (result := record.result(example))]
        store = assemble(system, settings, address, versions, results, broken, out.stem)
        write_store(store, out)  # while the folder is locked
    return CaptureOutcome(store, results, len(waiting) - len(broken), broken)


def _examples(packages: Sequence[Package]) -> list[CaptureExample]:
    examples: dict[str, CaptureExample] = {}
    for package in packages:
        if package.name in examples:
            raise MemAuditError(
                f"two packages are called {package.name!r}; a store identifies examples by name"
            )
        examples[package.name] = as_example(package)
    return list(examples.values())


@dataclass(slots=True)
class CaptureRecord:
    """The folder beside the store: a journal of finished examples, and the raw exports."""

    folder: Path
    journal: Journal
    finished: dict[str, ExampleResult]

    def result(self, example: CaptureExample) -> ExampleResult | None:
        """The result of an example that is finished with the same messages."""
        done = self.finished.get(example.name)
        return done if done is not None and done.digest == example.digest else None

    def keep(self, result: ExampleResult) -> None:
        """Record a finished example, which is not fed again."""
        row = {"kind": "example", **asdict(result)}
        for name in ("memories", "documents"):
            row[name] = [item.model_dump(mode="json") for item in getattr(result, name)]
        self.journal.append([to_line(row)])
        self.finished[result.example] = result

    def export_path(self, digest: str) -> Path:
        """The path of an example's raw export, without its suffix."""
        return self.folder / EXPORTS / digest[:16]

    @contextmanager
    def work_folder(self) -> Iterator[Path]:
        """A new folder for the system's files; that of a killed run is never used again."""
        path = Path(mkdtemp(prefix=WORK, dir=self.folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def open_record(out: Path, identity: dict[str, Any]) -> Iterator[CaptureRecord]:
    """Start or resume a capture; one with other settings or versions is refused."""
    folder = beside(out, SUFFIX)
    make_folder(folder.parent)
    make_own_folder(folder)
    make_own_folder(folder / EXPORTS)
    with Journal(folder / JOURNAL) as journal:
        for left in folder.glob(WORK + "*"):  # of a killed run: this process holds the lock
            shutil.rmtree(left, ignore_errors=True)
        rows = list(read_journal(folder / JOURNAL))
        if not rows:
            journal.append([to_line({"kind": "settings", **identity})])
        else:
            _refuse_other(folder, rows[0], identity)
        yield CaptureRecord(folder, journal, {row["example"]: _result(row) for row in rows[1:]})


def _refuse_other(folder: Path, row: dict[str, Any], identity: dict[str, Any]) -> None:
    for name, wanted in identity.items():
        if row.get(name) != wanted:
            before, now = json.dumps(row.get(name)), json.dumps(wanted)
            raise MemAuditError(
                f"{folder} was started with {name} {before}, not {now}; "
                "choose another --out, or delete the folder to start again"
            )


def _result(row: dict[str, Any]) -> ExampleResult:
    fields = {name: value for name, value in row.items() if name != "kind"}
    fields["memories"] = [Memory.model_validate(memory) for memory in row["memories"]]
    fields["documents"] = [
        Document.model_validate(document) for document in row.get("documents", ())
    ]
    return ExampleResult(**fields)


@dataclass(frozen=True, slots=True)
class _Run:
    drivers: Drivers
    settings: CaptureSettings
    record: CaptureRecord
    address: str
    key: Secret
    report: Callable[[str], None]

    def feed(self, waiting: Sequence[CaptureExample]) -> dict[str, str]:
        """Feed examples in order, with a new process after a failure; returns the failures."""
        broken: dict[str, str] = {}
        in_a_row = 0
        for example in waiting:
            if in_a_row == EXAMPLES_IN_A_ROW:
                broken[example.name] = "not reached"
                continue
            try:
                self._feed_example(example)
                in_a_row = 0
            except DriverDied as error:
                broken[example.name] = self.key.hidden_in_message(str(error))
                self.drivers.drop()
                in_a_row += 1
        return broken

    def _feed_example(self, example: CaptureExample) -> None:
        wire = {
            "model": self.settings.model, "base_url": self.address,
            "embedder": self.settings.embedder, "options": self.settings.options,
            "api_key": self.key.reveal() or "none", "budget_text": self.settings.budget_text,
        }  # fmt: skip
        feeding = FeedSettings(
            self.drivers.running(), wire, self.key, self.settings.patience, self.settings.view
        )
        with self.record.work_folder() as folder:
            result = feed_example(feeding, example, folder, self.record.export_path(example.digest))
        self.record.keep(result)
        self.report(f"{example.name}: {result.fed} messages, {len(result.memories)} memories")


def assemble(
    system: MemorySystem, settings: CaptureSettings, address: str, versions: Mapping[str, str],
    results: Sequence[ExampleResult], broken: Mapping[str, str], name: str,
) -> ExportedStore:  # fmt: skip
    """One store from the memories of every finished example, in order."""
    memories, documents = _with_unique_ids(results)
    inactive = Counter(memory.state for memory in memories if memory.state != "active")
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    return ExportedStore(
        name=name,
        origin=Origin(
            system=system.label, format=system.format,
            view=settings.view or named_adapter(system.format).views[0], versions=dict(versions),
            configuration=_configuration(system, settings, address, results),
        ),
        memories=memories,
        documents=documents,
        count=ImportCount(
            read=sum(result.rows for result in results), kept=len(memories),
            inactive=dict(sorted(inactive.items())), skipped=dict(sorted(skipped.items())),
        ),
        warnings=tuple(_warnings(results, broken, address)),
    )  # fmt: skip


def _with_unique_ids(
    results: Sequence[ExampleResult],
) -> tuple[tuple[Memory, ...], tuple[Document, ...]]:
    """The memories and documents of all examples; some systems number those of each from one."""
    seen: set[str] = set()
    memories: list[Memory] = []
    documents: dict[str, Document] = {}
    for result in results:
        names: dict[str | None, str | None] = {None: None}
        for document in result.documents:
            names[document.id] = id = (
                f"{result.example}/{document.id}" if document.id in documents else document.id
            )
            documents[id] = document.model_copy(update={"id": id})
        for memory in result.memories:
            id = f"{result.example}/{memory.id}" if memory.id in seen else memory.id
            seen.add(id)
            home = names.get(memory.document)
            memories.append(memory.model_copy(update={"id": id, "document": home}))
    return tuple(memories), tuple(documents.values())


def _configuration(
    system: MemorySystem, settings: CaptureSettings, address: str, results: Sequence[ExampleResult]
) -> dict[str, JsonValue]:
    changes: Counter[str] = Counter()
    for result in results:
        changes.update(result.changes)
    own: dict[str, JsonValue] = dict(results[0].configuration) if results else {}
    return {
        "captured": True, "system": system.name, "model": settings.model, "base_url": address,
        "options": settings.options, **own,
        **({"told": settings.budget_text} if settings.budget_text else {}),
        # By name: a package for which nothing was written is not one that was never fed.
        "examples": {result.example: len(result.memories) for result in results},
        "turns": {
            result.example: [list[JsonValue](line) for line in result.turns]
            for result in results
            if result.turns
        },
        "messages": sum(result.fed for result in results), "changes": dict(sorted(changes.items())),
        "failed_messages": sum(len(result.failures) for result in results),
        "telemetry_off": dict(system.quiet),
    }  # fmt: skip


def _warnings(
    results: Sequence[ExampleResult], broken: Mapping[str, str], address: str
) -> list[str]:
    warnings = []
    if broken:
        names = first_places([f"{name} ({why})" for name, why in broken.items()])
        warnings.append(
            ExportWarning.INCOMPLETE.text(f"{len(broken)} packages are not in this store: {names}")
        )
    failures = [
        f"{result.example} {failure['experience']} ({failure['problem']})"
        for result in results
        for failure in result.failures
    ]
    if failures:
        total = sum(result.fed for result in results)
        warnings.append(
            ExportWarning.INCOMPLETE.text(
                f"{len(failures)} of {total} messages failed: {first_places(failures)}"
            )
        )
    if empty := sum(result.empty for result in results):
        warnings.append(f"{empty} experiences without text were not fed")
    others = sorted({host for result in results for host in _others(result, address)})
    if others:
        warnings.append(
            f"the system contacted more than the model's address: {first_places(others)}"
        )
    warnings += [f"{result.example}: {text}" for result in results for text in result.warnings]
    return warnings


def _others(result: ExampleResult, address: str) -> set[str]:
    """Addresses contacted besides the model's; what its name resolved to is not distinguished."""
    parts = urlsplit(address)
    own = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    numeric = {address for address in result.contacted if _is_numeric(address)}
    # If the model has a host name, names are looked up first and numbers only repeat them.
    contacted = set(result.contacted) if own in numeric else set(result.contacted) - numeric
    return contacted - {own}


def _is_numeric(place: str) -> bool:
    host = place.rpartition(":")[0]
    return ":" in host or host.replace(".", "").isdigit()
