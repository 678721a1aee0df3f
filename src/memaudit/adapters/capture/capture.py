"""Many packages through one system, each once, into one store."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from memaudit.adapters.capture.assemble import assemble
from memaudit.adapters.capture.drivers_on_demand import Drivers
from memaudit.adapters.capture.example import ExampleResult, Feeding, feed_example
from memaudit.adapters.capture.message import Example, as_example
from memaudit.adapters.capture.process import DriverDied
from memaudit.adapters.capture.record import Record, open_record
from memaudit.adapters.capture.settings import Settings
from memaudit.adapters.capture.systems import System
from memaudit.adapters.shape import ExportedStore
from memaudit.adapters.store_files import write_store
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.models.secret import Secret, checked_address, key_for

EXAMPLES_IN_A_ROW = 2
"""Broken one after the other, they end the run: the rest would break too."""


@dataclass(slots=True)
class Outcome:
    """The store, what was fed in this run and before, and what could not be."""

    store: ExportedStore
    results: list[ExampleResult]
    fed_now: int
    broken: dict[str, str] = field(default_factory=dict)


def capture(
    system: System, packages: Sequence[Package], settings: Settings, out: Path,
    told: Callable[[str], None] = lambda _: None,
) -> Outcome:  # fmt: skip
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
    return Outcome(store, results, len(waiting) - len(broken), broken)


@dataclass(frozen=True, slots=True)
class _Run:
    drivers: Drivers
    settings: Settings
    record: Record
    address: str
    key: Secret
    told: Callable[[str], None]

    def feed(self, waiting: Sequence[Example]) -> dict[str, str]:
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

    def _feed_one(self, one: Example) -> None:
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


def _examples(packages: Sequence[Package]) -> list[Example]:
    examples: dict[str, Example] = {}
    for package in packages:
        if package.name in examples:
            raise MemAuditError(
                f"two packages are called {package.name!r}; a store tells its examples by name"
            )
        examples[package.name] = as_example(package)
    return list(examples.values())


def _is_finished(record: Record, example: Example) -> bool:
    done = record.finished.get(example.name)
    return done is not None and done.digest == example.digest


def _refuse_unknown(settings: Settings, known: Sequence[str], system: System) -> None:
    if unknown := sorted(set(settings.options) - set(known)):
        raise MemAuditError(
            f"{system.label} has no setting {unknown[0]!r} here; known: {', '.join(known)}"
        )
