"""One package through a system: fed message by message, read out at the end."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memaudit.adapters.capture.account import Account
from memaudit.adapters.capture.message import Example
from memaudit.adapters.capture.process import DriverDied, DriverProcess
from memaudit.adapters.capture.systems import System
from memaudit.adapters.importing import import_store
from memaudit.adapters.protocol import Options
from memaudit.adapters.shape import Memory
from memaudit.io.atomic import write_file
from memaudit.models.secret import Secret

FAILURES_IN_A_ROW = 3
"""More of them are no bad luck but a broken server or setting."""

KNOWN_BETTER = ("maybe truncated", "order of writing unknown")
"""How the importer begins warnings that do not apply: the driver read all, and saw the order."""


@dataclass(slots=True)
class ExampleResult:
    """What became of one package."""

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


@dataclass(frozen=True, slots=True)
class Feeding:
    """Where and how examples are fed."""

    driver: DriverProcess
    wire_settings: dict[str, Any]
    """With the key in it: sent to the driver, never written."""
    key: Secret
    patience: float
    view: str | None


def feed_example(feeding: Feeding, example: Example, folder: Path, export: Path) -> ExampleResult:
    """Feed every message in order into a fresh store in `folder`; keep the export."""
    driver = feeding.driver
    opened = driver.ask(
        "open", feeding.patience, settings=feeding.wire_settings, folder=str(folder)
    )
    account, failures = Account(), _Failures(feeding.key)
    for one in example.messages:
        reply = driver.ask("feed", feeding.patience, message=asdict(one.message))
        account.note(one.experience, reply["changes"])
        failures.note(one.experience, reply["problem"])
    read = driver.ask("read", feeding.patience)
    driver.ask("close", feeding.patience)
    rows = account.exports(read["rows"])
    files = _write_export(driver.system, rows, export)
    store = import_store(files, driver.system.format, Options(name=example.name, view=feeding.view))
    return ExampleResult(
        example=example.name, digest=example.digest, fed=len(example.messages),
        empty=example.empty, failures=failures.found, changes=account.counts, rows=len(rows),
        memories=account.settle(store.memories, example.name),
        skipped=store.count.skipped, configuration=opened["configuration"],
        warnings=[text for text in store.warnings if not text.startswith(KNOWN_BETTER)],
        contacted=read["contacted"],
    )  # fmt: skip


def _write_export(system: System, rows: list[dict[str, Any]], stem: Path) -> list[Path]:
    files = []
    for end, document in system.layout(system.list_key, rows).items():
        files.append(stem.with_name(stem.name + end))
        write_file(files[-1], json.dumps(document, indent=1, ensure_ascii=True))
    return files


class _Failures:
    """Messages the system could not digest; too many in a row end the example."""

    def __init__(self, key: Secret) -> None:
        self.found: list[dict[str, str]] = []
        self._key, self._in_a_row = key, 0

    def note(self, experience: str, problem: str) -> None:
        if not problem:
            self._in_a_row = 0
            return
        said = " ".join(self._key.hidden_in_message(problem).split())[:300]
        self.found.append({"experience": experience, "problem": said})
        self._in_a_row += 1
        if self._in_a_row == FAILURES_IN_A_ROW:
            raise DriverDied(f"{FAILURES_IN_A_ROW} messages in a row failed: {said}")
