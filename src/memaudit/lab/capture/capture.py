"""Many packages through one system, each once, into one store; a journal makes it resumable."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import make_folder
from memaudit.kernel.io.files import beside
from memaudit.kernel.io.store_file import (
    Document,
    ExportedStore,
    ExportWarning,
    ImportCount,
    Memory,
    Origin,
    write_store,
)
from memaudit.kernel.package.package import Package
from memaudit.lab.capture.driver_process import DriverDied, Drivers
from memaudit.lab.capture.feed_package import (
    ExampleResult,
    FeedSettings,
    feed_example,
)
from memaudit.lab.capture.messages import EXCHANGE, CaptureExample, as_example
from memaudit.lab.capture.model_proxy import ModelProxy, Upstream
from memaudit.lab.capture.systems import (
    CONVERSATION,
    SAME,
    CaptureSettings,
    MemorySystem,
)
from memaudit.models.http_client import HttpClient
from memaudit.models.record import SUFFIX as RECORD
from memaudit.models.record import Record, RecordFile, read_record, total
from memaudit.models.secret import Secret, checked_address, key_for
from memaudit.stores.ledger import first_places
from memaudit.stores.registry import named_adapter
from memaudit.workspace.journal import Journal, read_journal, to_line
from memaudit.workspace.overwrite import may_write
from memaudit.workspace.run_folder import make_own_folder

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


@dataclass(frozen=True, slots=True)
class CallPlan:
    """Where the calls to the model are recorded, or which record they are answered from."""

    record: Path | None = None
    """Beside the store by default."""
    replay: Path | None = None


RECORDED = CallPlan()


def capture(
    system: MemorySystem,
    packages: Sequence[Package],
    settings: CaptureSettings,
    out: Path,
    report: Callable[[str], None] = lambda _: None,
    calls: CallPlan = RECORDED,
    progress: Callable[[int, int, int, int], None] = lambda *_: None,
) -> CaptureOutcome:
    """Feed every package that is not finished, and write the store of all finished ones."""
    examples = _examples(packages)
    replayed = None if calls.replay is None else read_record(calls.replay)
    if replayed is not None:
        settings = _recorded(settings, replayed, system)
    settings = replace(settings, feed=settings.feed or system.feed)
    live = replayed is None
    kept = calls.record or beside(out, RECORD)
    if live:
        may_write(kept, "record of a capture")
        if kept.resolve() == out.resolve():
            raise MemAuditError(f"{kept} cannot be the record as well; choose another --record")
    key = key_for(settings.base_url) if live else Secret("")
    upstream = None
    if live:
        client = HttpClient(checked_address(settings.base_url))
        upstream = Upstream(client, key, settings.patience, settings.counts_tokens)
    with ExitStack() as stack:
        proxy = ModelProxy(replayed or Record(""), None, upstream)
        drivers = stack.enter_context(
            Drivers(system, settings.python, Secret(proxy.token), settings.clock, proxy.address)
        )
        drivers.running()  # before anything is written: is the system installed, in which version?
        versions, known = drivers.hello["versions"], drivers.hello["options"]
        if unknown := sorted(set(settings.options) - set(known)):
            raise MemAuditError(
                f"{system.label} has no setting {unknown[0]!r} here; known: {', '.join(known)}"
            )
        identity = {
            "system": system.name,
            "versions": versions,
            **settings.identity(),
            "per_person": False,  # 0.1 could also feed each of two people a memory of their own
        }
        record = stack.enter_context(open_record(out, identity))
        known = replayed.settings if replayed is not None else {}
        identity["name"] = known.get("name", out.stem)
        identity["model_at"] = known.get("model_at") or _where(settings.base_url)
        if live:
            proxy.file = stack.enter_context(RecordFile(kept))
            # A new journal beside an old record: mixing both would replay calls of another store.
            if record.is_new and proxy.file.record.calls:
                raise MemAuditError(
                    f"{kept} holds the calls of an earlier capture; delete it to ask the model "
                    "again, or give --replay to use it"
                )
            proxy.file.begin(identity)
            proxy.record = proxy.file.record
        stack.enter_context(proxy)
        waiting = [example for example in examples if record.result(example) is None]
        run = _Run(drivers, settings, record, proxy, key, report, progress)
        broken = run.feed(waiting)
        results = [result for example in examples if (result := record.result(example))]
    store = assemble(system, settings, identity, results, broken, identity["name"])
    write_store(store, out)
    return CaptureOutcome(store, results, len(waiting) - len(broken), broken)


def _recorded(settings: CaptureSettings, record: Record, system: MemorySystem) -> CaptureSettings:
    """The settings of a recording, for a replay; another system or a wall clock is refused."""
    known = record.settings
    if known.get("system") != system.name:
        raise MemAuditError(
            f"{record.name} is a record of {known.get('system')}, not {system.name}"
        )
    if known.get("per_person"):
        raise MemAuditError(f"{record.name} has a memory for each person, made by memaudit 0.1")
    if known.get("clock") != CONVERSATION:
        raise MemAuditError(
            f"{record.name} was recorded with the clock on the wall, which nobody can set back; "
            "capture again with clock=conversation"
        )
    return replace(settings, **{name: known[name] for name in SAME if name in known})


def _where(base_url: str) -> str:
    """The host of a model, for a store: an address of this machine says nothing to anybody."""
    host = urlsplit(base_url).hostname or ""
    return "this machine" if host in ("localhost", "127.0.0.1", "::1") else host


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
    is_new: bool = False

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
        finished = {row["example"]: _result(row) for row in rows[1:]}
        yield CaptureRecord(folder, journal, finished, not rows)


def _refuse_other(folder: Path, row: dict[str, Any], identity: dict[str, Any]) -> None:
    for name, wanted in identity.items():
        if row.get(name) != wanted:
            before, now = json.dumps(row.get(name)), json.dumps(wanted)
            raise MemAuditError(
                f"{folder} was started with {name} {before}, not {now}; "
                "choose another --out, or delete the folder and the record to start again"
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
    proxy: ModelProxy
    key: Secret
    report: Callable[[str], None]
    progress: Callable[[int, int, int, int], None]

    def feed(self, waiting: Sequence[CaptureExample]) -> dict[str, str]:
        """Feed examples in order, with a new process after a failure; returns the failures."""
        broken: dict[str, str] = {}
        in_a_row = done = 0
        for example in waiting:
            # Not an error: what is finished is a store, and a second run goes on from here.
            if in_a_row == EXAMPLES_IN_A_ROW:
                broken[example.name] = "not reached"
                continue
            try:
                self._feed_example(example, done, sum(len(each.messages) for each in waiting))
                in_a_row = 0
            except DriverDied as error:
                broken[example.name] = self.key.hidden_in_message(str(error))
                # A broken system may hold locks or half a store: the next example gets a new
                # process.
                self.drivers.drop()
                in_a_row += 1
            done += len(example.messages)
        return broken

    def _feed_example(self, example: CaptureExample, before: int, messages: int) -> None:
        settings = self.settings
        wire = {
            "model": settings.model,
            "base_url": self.proxy.address,
            "embedder": settings.embedder,
            "options": settings.options,
            "api_key": self.proxy.token,
            "budget_text": settings.budget_text,
            "clock": settings.clock,
        }

        def progress(done: int, calls: int, memories: int) -> None:
            self.progress(before + done, messages, calls, memories)

        feeding = FeedSettings(
            self.drivers.running(),
            self.proxy,
            wire,
            self.key,
            settings.patience,
            settings.view,
            settings.feed or EXCHANGE,
            progress,
        )
        with self.record.work_folder() as folder:
            export = self.record.export_path(example.digest)
            result = feed_example(feeding, example, folder, export)
        self.record.keep(result)
        self.report(f"{example.name}: {result.fed} messages, {len(result.memories)} memories")


def assemble(
    system: MemorySystem,
    settings: CaptureSettings,
    identity: Mapping[str, Any],
    results: Sequence[ExampleResult],
    broken: Mapping[str, str],
    name: str,
) -> ExportedStore:
    """One store from the memories of every finished example, in order."""
    memories, documents = _with_unique_ids(results)
    inactive = Counter(memory.state for memory in memories if memory.state != "active")
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    return ExportedStore(
        name=name,
        origin=Origin(
            system=system.label,
            format=system.format,
            view=settings.view or named_adapter(system.format).views[0],
            versions=dict(identity["versions"]),
            configuration=_configuration(system, settings, identity, results),
        ),
        memories=memories,
        documents=documents,
        count=ImportCount(
            read=sum(result.rows for result in results),
            kept=len(memories),
            inactive=dict(sorted(inactive.items())),
            skipped=dict(sorted(skipped.items())),
        ),
        warnings=tuple(_warnings(settings, results, broken)),
    )


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
            # Unique ids stay as the system wrote them, so that its own logs and exports can be
            # compared.
            id = f"{result.example}/{memory.id}" if memory.id in seen else memory.id
            seen.add(id)
            home = names.get(memory.document)
            memories.append(memory.model_copy(update={"id": id, "document": home}))
    return tuple(memories), tuple(documents.values())


def _configuration(
    system: MemorySystem,
    settings: CaptureSettings,
    identity: Mapping[str, Any],
    results: Sequence[ExampleResult],
) -> dict[str, JsonValue]:
    changes: Counter[str] = Counter()
    for result in results:
        changes.update(result.changes)
    own: dict[str, JsonValue] = dict(results[0].configuration) if results else {}
    asked = settings.feed != system.feed
    return {
        "captured": True,
        "system": system.name,
        "model": settings.model,
        "model_at": identity.get("model_at", ""),
        "options": settings.options,
        **own,
        **({"told": settings.budget_text} if settings.budget_text else {}),
        "feed": settings.feed,
        "feed_from": "as asked" if asked else system.feed_from,
        "per_person": False,
        "clock": settings.clock,
        "replayable": settings.clock == CONVERSATION,
        # By name: a package for which nothing was written is not one that was never fed.
        "examples": {result.example: len(result.memories) for result in results},
        "turns": {
            result.example: [list[JsonValue](line) for line in result.turns]
            for result in results
            if result.turns
        },
        "messages": sum(result.fed for result in results),
        "changes": dict(sorted(changes.items())),
        "failed_messages": sum(result.failed for result in results),
        "messages_without_time": sum(result.untimed for result in results),
        "writing": _writing(results),
        "telemetry_off": dict(system.quiet),
    }


def _writing(results: Sequence[ExampleResult]) -> dict[str, JsonValue]:
    """What the writing cost: in all, and for every feeding by its last experience."""
    rows = [row for result in results for row in result.writing]
    known = [row for row in rows if row["calls"]]
    tokens: dict[str, JsonValue] = {
        name: NOT_REPORTED if (number := total([row[name] for row in known])) is None else number
        for name in ("tokens_in", "tokens_out")
    }
    return {
        "calls": sum(row["calls"] for row in rows),
        **tokens,
        "embedding_calls": sum(row["embedding_calls"] for row in rows),
        "embedded_texts": sum(row["embedded_texts"] for row in rows),
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "feedings": {result.example: list[JsonValue](result.writing) for result in results},
    }


NOT_REPORTED = "not reported"


def _warnings(
    settings: CaptureSettings,
    results: Sequence[ExampleResult],
    broken: Mapping[str, str],
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
        fed = sum(result.fed for result in results)
        failed = sum(result.failed for result in results)
        warnings.append(
            ExportWarning.INCOMPLETE.text(
                f"{failed} of {fed} messages failed: {first_places(failures)}"
            )
        )
    late = sum(result.late for result in results)
    if late and settings.clock == CONVERSATION:
        warnings.append(
            f"{late} messages are earlier than one before them; the clock did not go back"
        )
    if empty := sum(result.empty for result in results):
        warnings.append(f"{empty} experiences without text were not fed")
    others = sorted({host for result in results for host in result.contacted})
    if others:
        warnings.append(
            f"the system contacted more than the model's address: {first_places(others)}"
        )
    warnings += [f"{result.example}: {text}" for result in results for text in result.warnings]
    return warnings
