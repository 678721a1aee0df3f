"""The folder of a board: stores of systems, run by run, and labels of everything they wrote.

FOLDER/board.json                    packages, budgets, files of labels
FOLDER/coverage.jsonl, ...           labels of the memories of all systems, and the passes
FOLDER/SYSTEM/CONVERSATION.json      a store, or an export that can be imported
FOLDER/SYSTEM/CONVERSATION.run2.json a second run on the same conversation
FOLDER/SYSTEM/row.json               optional: notes, whether labels are blind
FOLDER/SYSTEM/coverage.jsonl, ...    optional: labels of this system's memories alone
FOLDER/SYSTEM/controls.jsonl         what their readers said about memories of the board
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources import as_file, files
from pathlib import Path

from memaudit.board.board_files import (
    CONTROLS,
    BoardPlan,
    LabelledTexts,
    SystemNotes,
    errors_in,
    has_labels,
    labelled_texts,
    labels_of_cells,
    memory_texts,
    read_truths,
)
from memaudit.building.named_packages import NATURAL, SHIPPED, labelled_packages
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.store_file import (
    MISSING_MEMORIES,
    ExportedStore,
    ExportWarning,
    export_warning,
)
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import price_store
from memaudit.kernel.score.truth import Truths
from memaudit.kernel.words.text import one_line
from memaudit.stores.registry import StoreArgument, open_store

PLAN, ROW = "board.json", "row.json"
AGAIN = re.compile(r"(?P<conversation>.+)\.run(?P<number>[2-9]|[1-9][0-9]+)")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a system on one conversation."""

    system: str
    conversation: str
    number: int
    store: ExportedStore

    @property
    def missing(self) -> tuple[str, ...]:
        """Warnings which say that memories of the system may be missing from the export."""
        incomplete = {*MISSING_MEMORIES, ExportWarning.PARTLY_READ}
        return tuple(text for text in self.store.warnings if export_warning(text) in incomplete)


@dataclass(frozen=True, slots=True)
class BoardSystem:
    """A system: its runs, what `row.json` says, and where labels of its own are."""

    name: str
    folder: Path
    notes: SystemNotes
    runs: tuple[Run, ...]
    own_labels: bool


@dataclass(frozen=True)
class BoardFolder:
    """A board that can be scored."""

    folder: Path
    plan: BoardPlan
    systems: tuple[BoardSystem, ...]
    packages: tuple[Package, ...]
    """Of the conversations that some system was run on."""

    @property
    def passes(self) -> tuple[str, ...]:
        """Files of labels: adjudicated first."""
        return (self.plan.labels, *self.plan.passes)

    @property
    def runs(self) -> Iterator[Run]:
        for system in self.systems:
            yield from system.runs

    def runs_on(self, conversation: str) -> list[Run]:
        return [run for run in self.runs if run.conversation == conversation]

    def first_runs(self, conversation: str) -> tuple[ExportedStore, ...]:
        """What every system wrote about a conversation the first time, as it was labelled."""
        return tuple(self.store(run) for run in self.runs_on(conversation) if run.number == 1)

    def store(self, run: Run) -> ExportedStore:
        """The store of a run as it was labelled, under the name that it has in unions."""
        return run.store.model_copy(update={"name": run_name(run), "times": self.plan.times})

    def labelled_once(self, system: BoardSystem) -> bool:
        """Whether a system with labels of its own lacks the blind passes."""
        return system.own_labels and not all(
            (system.folder / name).is_file() for name in self.passes
        )

    @property
    def digest_parts(self) -> dict[str, object]:
        """Everything that decides the numbers."""
        places = [
            self.folder,
            *(system.folder for system in self.systems if system.own_labels),
        ]
        return {
            "budgets": self.plan.budgets,
            "times": self.plan.times,
            "packages": {package.name: digest(package) for package in self.packages},
            "stores": [
                [run.system, run.conversation, run.number, run.store.digest] for run in self.runs
            ],
            "blind": {system.name: system.notes.blind for system in self.systems},
            "labels": [
                content_digest(place / name)
                for place in places
                for name in (self.plan.memories, *self.passes, CONTROLS, self.plan.truth)
                if name is not None and (place / name).is_file()
            ],
        }

    @cached_property
    def truths(self) -> Truths | None:
        """Which texts are false; None where the board does not say."""
        if self.plan.truth is None:
            return None
        texts = {
            package.name: {candidate.id: candidate.text for candidate in package.candidates}
            for package in self.packages
        }
        for conversation, own in memory_texts(self.folder / self.plan.memories).items():
            if conversation in texts:
                texts[conversation].update(own)
        return read_truths(self.folder / self.plan.truth, texts)

    @cached_property
    def units(self) -> dict[str, dict[str, str]]:
        """By conversation, the texts of its units by id."""
        return {
            package.name: {unit.id: unit.text for unit in package.units}
            for package in self.packages
        }

    @cached_property
    def labelled(self) -> LabelledTexts:
        """What the board's own labels are about."""
        if not has_labels(self.folder, self.plan):
            return {}
        return labelled_texts(self.folder / self.plan.memories)

    @cached_property
    def cells(self) -> Mapping[tuple[str, str], Mapping[str, Fraction]]:
        """What memories keep by the board's own labels, by conversation and memory."""
        cells: dict[tuple[str, str], dict[str, Fraction]] = {}
        path = self.folder / self.plan.labels
        with errors_in(path):
            for label in labels_of_cells(path) if path.is_file() else ():
                if label.share:
                    cells.setdefault(label.about, {})[label.row.text("unit_id")] = label.share
        return cells

    @cached_property
    def labelled_by_system(self) -> Mapping[str, LabelledTexts]:
        """By system, what its own labels are about; none of it may be labelled by the board."""
        by_system = {}
        for system in self.systems:
            path = system.folder / self.plan.memories
            by_system[system.name] = labelled_texts(path) if system.own_labels else {}
            for conversation, ids in by_system[system.name].items():
                if twice := sorted(ids.keys() & self.labelled.get(conversation, {}).keys()):
                    raise MemAuditError(
                        f"{path}: labels memories of {conversation} that the board labels, the "
                        f"first {ids[twice[0]]!r}; remove them here"
                    )
        return by_system

    def unlabelled(self, run: Run) -> list[str]:
        """The texts of a run that no label is about."""
        package = next(each for each in self.packages if each.name == run.conversation)
        measured = price_store(package, self.store(run))
        texts = [memory.text for memory in measured.memories]
        by_board = self.labelled.get(run.conversation, {})
        by_system = self.labelled_by_system[run.system].get(run.conversation, {})
        labelled = by_board.keys() | by_system.keys()
        return [text for text in texts if one_line(text) not in labelled]


def run_name(run: Run) -> str:
    """The name of a run's store within a union."""
    return run.system if run.number == 1 else f"{run.system} (run {run.number})"


@contextmanager
def shipped_board() -> Iterator[Path]:
    """The folder of the board that comes with the program, on disk while the context lasts."""
    with as_file(files("memaudit").joinpath("examples", NATURAL, "captures")) as folder:
        yield folder


def read_board(folder: Path, added: Sequence[tuple[str, Path]] = ()) -> BoardFolder:
    """The board in a folder, with the systems of other folders added."""
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: not a folder; give the folder that holds {PLAN}")
    if not (folder / PLAN).is_file():
        raise MemAuditError(
            f"{folder}: has no {PLAN}; to add a system to a board, give --add NAME={folder}"
        )
    plan = validated(BoardPlan, read_object(folder / PLAN, "write it anew"), str(folder / PLAN))
    source = plan.packages if plan.packages in SHIPPED else str(folder / plan.packages)
    packages = {package.name: package for package in labelled_packages([source])}
    systems = [
        _system(at.name, at, plan, packages)
        for at in sorted(folder.iterdir())
        if at.is_dir()
        and at != folder / plan.packages
        and not at.name.startswith(".")
        and any(at.glob("*.json"))
    ]
    # What an added system was run on beyond that would be a mean over other conversations.
    if conversations := _conversations(systems):
        packages = {name: package for name, package in packages.items() if name in conversations}
    systems += [_system(name, at, plan, packages) for name, at in added]
    names = [system.name for system in systems]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(f"two systems are called {twice[0]!r}; add one under another name")
    if not systems:
        raise MemAuditError(
            f"{folder}: no folder with stores; put a system's stores into "
            "FOLDER/SYSTEM/CONVERSATION.json"
        )
    conversations = _conversations(systems)
    used = tuple(package for name, package in packages.items() if name in conversations)
    systems.sort(key=lambda system: system.name)
    return BoardFolder(folder, plan, tuple(systems), used)


def _conversations(systems: Sequence[BoardSystem]) -> set[str]:
    return {run.conversation for system in systems for run in system.runs}


def _system(
    name: str, folder: Path, plan: BoardPlan, packages: Mapping[str, Package]
) -> BoardSystem:
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: not a folder; give the folder with the system's stores")
    row = folder / ROW
    notes = SystemNotes()
    if row.is_file():
        notes = validated(SystemNotes, read_object(row, "write it anew"), str(row))
    runs = []
    for path in sorted(folder.iterdir()):
        # An export that is not read would look as if the system had not been run on it.
        if (
            path.stem in packages
            and path.suffix != ".json"
            and not path.with_suffix(".json").exists()
        ):
            raise MemAuditError(
                f"{path}: only .json files are read as stores; run memaudit import {path.name} "
                f"--out {path.stem}.json"
            )
        if path.suffix == ".json" and path.name != ROW:
            runs.append(_run(name, path, packages))
    if not runs:
        raise MemAuditError(f"{folder}: no store; name each one CONVERSATION.json")
    first = {run.conversation for run in runs if run.number == 1}
    if again := next((run for run in runs if run.conversation not in first), None):
        raise MemAuditError(
            f"{folder}: {again.conversation} has run {again.number} but no first run; name that "
            f"{again.conversation}.json"
        )
    return BoardSystem(name, folder, notes, tuple(runs), has_labels(folder, plan))


def _run(system: str, path: Path, packages: Mapping[str, Package]) -> Run:
    again = AGAIN.fullmatch(path.stem)
    conversation = again["conversation"] if again else path.stem
    if conversation not in packages:
        raise MemAuditError(
            f"{path}: no conversation of the board is called {conversation!r}; name a store "
            "CONVERSATION.json, and that of a second run CONVERSATION.run2.json"
        )
    number = int(again["number"]) if again else 1
    with errors_in(path):
        return Run(system, conversation, number, open_store(StoreArgument((path,))))
