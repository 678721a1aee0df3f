"""One store from the examples of a capture, with everything that did not go as it should."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import JsonValue

from memaudit.adapters.capture.driver_process import DriverDied, Drivers
from memaudit.adapters.capture.example import ExampleResult, Feeding, feed_example
from memaudit.adapters.capture.messages import CaptureExample, as_example
from memaudit.adapters.capture.record import Record, open_record
from memaudit.adapters.capture.systems import CaptureSettings, MemorySystem
from memaudit.adapters.registry import named_adapter
from memaudit.adapters.store import Count, ExportedStore, Memory, Origin, write_store
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.formats.store_warnings import StoreWarning
from memaudit.models.secret import Secret, checked_address, key_for

NAMED = 20


def assemble(
    system: MemorySystem, settings: CaptureSettings, address: str, versions: Mapping[str, str],
    results: Sequence[ExampleResult], broken: Mapping[str, str], name: str,
) -> ExportedStore:  # fmt: skip
    """The memories of every finished example, one after the other."""
    memories = _with_unique_ids(results)
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
        count=Count(
            read=sum(result.rows for result in results), kept=len(memories),
            inactive=dict(sorted(inactive.items())), skipped=dict(sorted(skipped.items())),
        ),
        warnings=tuple(_warnings(results, broken, address)),
    )  # fmt: skip


def _with_unique_ids(results: Sequence[ExampleResult]) -> tuple[Memory, ...]:
    seen: set[str] = set()
    memories = []
    for result in results:
        for memory in result.memories:
            if memory.id in seen:  # a system that numbers the memories of each store from one
                memory = memory.model_copy(update={"id": f"{result.example}/{memory.id}"})
            seen.add(memory.id)
            memories.append(memory)
    return tuple(memories)


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
        # By name: a package for which nothing was written is not one that was never fed.
        "examples": {result.example: len(result.memories) for result in results},
        "messages": sum(result.fed for result in results), "changes": dict(sorted(changes.items())),
        "failed_messages": sum(len(result.failures) for result in results),
        "telemetry_off": dict(system.quiet),
    }  # fmt: skip


def _warnings(
    results: Sequence[ExampleResult], broken: Mapping[str, str], address: str
) -> list[str]:
    found = []
    if broken:
        names = _named([f"{name} ({why})" for name, why in broken.items()])
        found.append(StoreWarning.INCOMPLETE.text(
            f"{len(broken)} packages are not in this store: {names}"))
    failures = [
        f"{result.example} {one['experience']} ({one['problem']})"
        for result in results
        for one in result.failures
    ]
    if failures:
        total = sum(result.fed for result in results)
        found.append(StoreWarning.INCOMPLETE.text(
            f"{len(failures)} of {total} messages failed: {_named(failures)}"))
    if empty := sum(result.empty for result in results):
        found.append(f"{empty} experiences without text were not fed")
    others = sorted({host for result in results for host in _others(result, address)})
    if others:
        found.append(f"the system contacted more than the model's address: {_named(others)}")
    found += [f"{result.example}: {text}" for result in results for text in result.warnings]
    return found


def _others(result: ExampleResult, address: str) -> set[str]:
    """Addresses contacted besides the model's; what its name resolved to is not told apart."""
    parts = urlsplit(address)
    own = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    numeric = {one for one in result.contacted if _is_numeric(one)}
    # Where the model has a name, every name is looked up first: numbers are only where it led.
    told = set(result.contacted) if own in numeric else set(result.contacted) - numeric
    return told - {own}


def _is_numeric(place: str) -> bool:
    host = place.rpartition(":")[0]
    return ":" in host or host.replace(".", "").isdigit()


def _named(places: Sequence[str]) -> str:
    more = f", and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(places[:NAMED]) + more


EXAMPLES_IN_A_ROW = 2
"""Broken one after the other, they end the run: the rest would break too."""


@dataclass(slots=True)
class CaptureOutcome:
    """The store, what was fed in this run and before, and what could not be."""

    store: ExportedStore
    results: list[ExampleResult]
    fed_now: int
    broken: dict[str, str] = field(default_factory=dict)


def capture(
    system: MemorySystem, packages: Sequence[Package], settings: CaptureSettings, out: Path,
    told: Callable[[str], None] = lambda _: None,
) -> CaptureOutcome:  # fmt: skip
    """Feed every package that is not finished yet; write the store of all that are."""
    examples = _examples(packages)
    address, key = checked_address(settings.base_url), key_for(settings.base_url)
    with ExitStack() as stack:
        drivers = stack.enter_context(Drivers(system, settings.python, key))
        drivers.running()  # before anything is written: is the system there, in which version?
        versions, known = drivers.hello["versions"], drivers.hello["options"]
        _refuse_unknown(settings, known, system)
        identity = {"system": system.name, "view": settings.view, "versions": versions}
        record = stack.enter_context(open_record(out, {**identity, **settings.identity()}))
        waiting = [one for one in examples if not _is_finished(record, one)]
        broken = _Run(drivers, settings, record, address, key, told).feed(waiting)
        results = [record.finished[one.name] for one in examples if _is_finished(record, one)]
    store = assemble(system, settings, address, versions, results, broken, out.stem)
    write_store(store, out)
    return CaptureOutcome(store, results, len(waiting) - len(broken), broken)


@dataclass(frozen=True, slots=True)
class _Run:
    drivers: Drivers
    settings: CaptureSettings
    record: Record
    address: str
    key: Secret
    told: Callable[[str], None]

    def feed(self, waiting: Sequence[CaptureExample]) -> dict[str, str]:
        """Feed examples in order, a new process after each that broke; why which one broke."""
        broken: dict[str, str] = {}
        in_a_row = 0
        for one in waiting:
            if in_a_row == EXAMPLES_IN_A_ROW:
                broken[one.name] = "not reached"
                continue
            try:
                self._feed_one(one)
                in_a_row = 0
            except DriverDied as error:
                broken[one.name] = self.key.hidden_in_message(str(error))
                self.drivers.drop()
                in_a_row += 1
        return broken

    def _feed_one(self, one: CaptureExample) -> None:
        wire = {
            "model": self.settings.model, "base_url": self.address,
            "embedder": self.settings.embedder, "options": self.settings.options,
            "api_key": self.key.reveal() or "none",
        }  # fmt: skip
        feeding = Feeding(
            self.drivers.running(), wire, self.key, self.settings.patience, self.settings.view
        )
        with self.record.work_folder() as folder:
            result = feed_example(feeding, one, folder, self.record.export_path(one.digest))
        self.record.keep(result)
        self.told(f"{one.name}: {result.fed} messages, {len(result.memories)} memories")


def _examples(packages: Sequence[Package]) -> list[CaptureExample]:
    examples: dict[str, CaptureExample] = {}
    for package in packages:
        if package.name in examples:
            raise MemAuditError(
                f"two packages are called {package.name!r}; a store tells its examples by name"
            )
        examples[package.name] = as_example(package)
    return list(examples.values())


def _is_finished(record: Record, example: CaptureExample) -> bool:
    done = record.finished.get(example.name)
    return done is not None and done.digest == example.digest


def _refuse_unknown(settings: CaptureSettings, known: Sequence[str], system: MemorySystem) -> None:
    if unknown := sorted(set(settings.options) - set(known)):
        raise MemAuditError(
            f"{system.label} has no setting {unknown[0]!r} here; known: {', '.join(known)}"
        )
