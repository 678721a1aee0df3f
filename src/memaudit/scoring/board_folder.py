"""The folder of a board: stores of systems, run by run, and labels of everything they wrote.

    FOLDER/board.json                    packages, budgets, files of labels
    FOLDER/coverage.jsonl, ...           labels of the memories of all systems, and the passes
    FOLDER/SYSTEM/CONVERSATION.json      a store, or an export that can be imported
    FOLDER/SYSTEM/CONVERSATION.run2.json a second run on the same conversation
    FOLDER/SYSTEM/row.json               optional: a name, notes, whether labels are blind
    FOLDER/SYSTEM/coverage.jsonl, ...    optional: labels of this system's memories alone

Every conversation is scored once per pass of labels, with all runs of all systems in one common
union, so that they share every denominator.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from memaudit.adapters.registry import StoreArgument, open_store
from memaudit.adapters.store import ExportedStore
from memaudit.core.budgets import asked_budgets
from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.formats.board_file import BoardPlan, SystemNotes
from memaudit.formats.file_model import validated
from memaudit.io.files import content_digest, decode, read_bytes
from memaudit.natural.label_passes import label_passes, with_pass
from memaudit.natural.named_packages import NATURAL, SHIPPED, labelled_packages
from memaudit.scoring.label_judges import LabelJudge
from memaudit.scoring.package_scores import Unscored, score_written
from memaudit.scoring.result import ScoreResult, Scoring

PLAN, ROW = "board.json", "row.json"
SECOND_RUN = re.compile(r"(?P<conversation>.+)\.run(?P<number>[1-9][0-9]*)")
LARGEST_PLAN = 1 << 20


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a system on one conversation."""

    system: str
    conversation: str
    number: int
    store: ExportedStore


@dataclass(frozen=True, slots=True)
class BoardSystem:
    """A system: its runs, what `row.json` says, and where labels of its own are."""

    name: str
    folder: Path
    notes: SystemNotes
    runs: tuple[Run, ...]
    own_labels: bool


@dataclass(frozen=True, slots=True)
class ScoredConversation:
    """One conversation under every pass. The first result is by the adjudicated labels."""

    conversation: str
    results: Mapping[str, ScoreResult]
    not_scored: tuple[Unscored, ...]


@dataclass(frozen=True, slots=True)
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

    def stores(self, conversation: str) -> tuple[ExportedStore, ...]:
        """What every run of every system wrote about a conversation, as it was labelled."""
        return tuple(self._store(run) for run in self.runs if run.conversation == conversation)

    def first_runs(self, conversation: str) -> tuple[ExportedStore, ...]:
        """What every system wrote about a conversation the first time, as it was labelled."""
        return tuple(
            self._store(run)
            for run in self.runs
            if run.conversation == conversation and run.number == 1
        )

    def _store(self, run: Run) -> ExportedStore:
        return run.store.model_copy(update={"name": run_name(run), "times": self.plan.times})

    @property
    def digest_parts(self) -> dict[str, object]:
        """Everything that decides the numbers."""
        places = [self.folder, *(one.folder for one in self.systems if one.own_labels)]
        return {
            "budgets": self.plan.budgets,
            "times": self.plan.times,
            "packages": {package.name: digest(package) for package in self.packages},
            "stores": [
                [run.system, run.conversation, run.number, run.store.digest] for run in self.runs
            ],
            "blind": {one.name: one.notes.blind for one in self.systems},
            "labels": [
                content_digest(place / name)
                for place in places
                for name in (self.plan.memories, *self.passes)
                if (place / name).is_file()
            ],
        }

    def scored(self, watch: Callable[[int, int], None] | None = None) -> list[ScoredConversation]:
        """Score every conversation under every pass of labels."""
        judges = {name: self._judge(name) for name in self.passes}
        done = []
        for package in self.packages:
            done.append(self._scored(package, judges))
            if watch is not None:
                watch(len(done), len(self.packages))
        return done

    def _judge(self, name: str) -> LabelJudge:
        """The labels of one pass; a system with a single file of labels has the same in each."""
        own = [system.folder for system in self.systems if system.own_labels]
        files = [self.folder / name] if (self.folder / name).is_file() else []
        files += [at / name if (at / name).is_file() else at / self.plan.labels for at in own]
        texts = [file.with_name(self.plan.memories) for file in files]
        if not files:
            raise MemAuditError(f"{self.folder / name}: no labels; label the memories first")
        return LabelJudge(files, texts)

    def _scored(self, package: Package, judges: Mapping[str, LabelJudge]) -> ScoredConversation:
        stores = self.stores(package.name)
        results: dict[str, ScoreResult] = {}
        missing: list[Unscored] = []
        for name, judge in judges.items():
            scoring = Scoring(
                budgets=asked_budgets(",".join(self.plan.budgets)),
                judges={store.name: judge for store in stores},
                draws=0,
            )
            labelled = _labelled_by(package, Path(name).stem)
            for result in score_written(labelled, stores, [one.name for one in stores], scoring):
                if isinstance(result, ScoreResult):
                    results[name] = result
                elif name == self.plan.labels:
                    missing.append(result)
        return ScoredConversation(package.name, results, tuple(missing))


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
    plan = validated(BoardPlan, read_object(folder / PLAN), str(folder / PLAN))
    systems = [
        _system(at.name, at, plan)
        for at in sorted(folder.iterdir())
        if at.is_dir() and at != folder / plan.packages and any(at.glob("*.json"))
    ]
    systems += [_system(name, at, plan) for name, at in added]
    names = [system.name for system in systems]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(f"two systems are called {twice[0]!r}; add one under another name")
    if not systems:
        raise MemAuditError(
            f"{folder}: no folder with stores; put a system's stores into "
            "FOLDER/SYSTEM/CONVERSATION.json"
        )
    source = plan.packages if plan.packages in SHIPPED else str(folder / plan.packages)
    conversations = {run.conversation for system in systems for run in system.runs}
    packages = [one for one in labelled_packages([source]) if one.name in conversations]
    if unknown := sorted(conversations - {package.name for package in packages}):
        raise MemAuditError(
            f"no package is called {unknown[0]!r}; a store's file has the name of its conversation"
        )
    return BoardFolder(folder, plan, tuple(systems), tuple(packages))


def _system(name: str, folder: Path, plan: BoardPlan) -> BoardSystem:
    if not folder.is_dir():
        raise MemAuditError(f"{folder}: not a folder; give the folder with the system's stores")
    row = folder / ROW
    notes = validated(SystemNotes, read_object(row), str(row)) if row.is_file() else SystemNotes()
    name = notes.name or name
    runs = []
    for path in sorted(folder.glob("*.json")):
        if path.name == ROW:
            continue
        second = SECOND_RUN.fullmatch(path.stem)
        conversation = second["conversation"] if second else path.stem
        number = int(second["number"]) if second else 1
        runs.append(Run(name, conversation, number, open_store(StoreArgument((path,)))))
    if not runs:
        raise MemAuditError(f"{folder}: no store; name each one CONVERSATION.json")
    own = (folder / plan.labels).is_file()
    if own and not (folder / plan.memories).is_file():
        raise MemAuditError(f"{folder / plan.memories}: missing; it says what the labels are about")
    return BoardSystem(name, folder, notes, tuple(runs), own)


def read_object(path: Path, most: int = LARGEST_PLAN) -> object:
    """The JSON of a file of ours."""
    try:
        return json.loads(decode(read_bytes(path, most), path.name))
    except (ValueError, RecursionError) as error:
        raise MemAuditError(f"{path}: not JSON: {error}") from None


def _labelled_by(package: Package, name: str) -> Package:
    """The package with the cells of a pass, where it has that pass."""
    passes = label_passes(package)
    known = passes is not None and any(one.name == name for one in passes.passes)
    return with_pass(package, name) if known else package
