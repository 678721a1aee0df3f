"""The stores of one package: those of runs, those of systems, and their scores."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import Exact
from memaudit.kernel.io.score_file import ScoreFile
from memaudit.kernel.io.store_file import ExportedStore, Times, store_digest
from memaudit.kernel.package.budgets import OWN
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.store_match import examples_of, written_from
from memaudit.lab.explorer.library.entries import LibraryEntry
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.library.packages import IndexedPackage, rows_with
from memaudit.lab.explorer.library.records import ScoreLine
from memaudit.lab.explorer.views.store_comparison import ComparableStore, StoreItem
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.page_charts import Member, members_by_name


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    seed: int
    budget: Exact
    writer: str
    peeks: bool
    value: float | None
    optimum: float
    ratio: float | None
    store: tuple[str, ...]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RunStore:
    """A row of a run: writer, budget and store."""

    run: LibraryEntry
    member: Member
    seed: int
    budget: Fraction
    ratio: float | None
    value: float | None
    store: tuple[str, ...]
    failed: str


def run_stores(runs: Iterable[LibraryEntry], indexed: IndexedPackage) -> list[RunStore]:
    """The rows about a package in some runs, by run, budget and writer."""
    return [store for run in runs for store in _of_run(run, indexed)]


def _of_run(run: LibraryEntry, indexed: IndexedPackage) -> Iterator[RunStore]:
    try:
        rows = [_Row.model_validate(row) for row in rows_with(run.path, indexed.digest)]
    except (ValidationError, MemAuditError):  # the run's own page says what is wrong with it
        return
    members: Mapping[str, Member] = members_by_name(
        {row.writer: row.peeks for row in rows}, WRITERS
    )
    seen: set[tuple[Fraction, str]] = set()
    for row in rows:
        if (row.budget, row.writer) in seen:
            continue  # a distribution without draws: the same package under many seeds
        seen.add((row.budget, row.writer))
        yield RunStore(
            run,
            members[row.writer],
            row.seed,
            row.budget,
            row.ratio,
            row.value,
            tuple(id for id in row.store if id in indexed.candidate_at),
            row.failed,
        )


@dataclass(frozen=True)
class ScoredStore:
    """A store that scores may belong to."""

    store: ExportedStore

    @cached_property
    def digests(self) -> frozenset[str]:
        """Its digest, and those it has if it is scored with another rule for times."""
        ways = (self.store.model_copy(update={"times": times}) for times in get_args(Times))
        return frozenset(map(store_digest, ways))

    def has(self, line: ScoreLine) -> bool:
        """Whether the score belongs to this store. Old score files have no digest: then the name
        decides, and the packages that the store names, if it names any."""
        if line.score.store != self.store.name:
            return False
        if line.store_digest:
            return line.store_digest in self.digests
        return not (named := examples_of(self.store)) or line.file.package in named


ScoreInFile = tuple[LibraryEntry, ScoreLine]
"""A score and the file it is in."""


@dataclass(frozen=True, slots=True)
class SystemStore:
    """A store that was written for a package, with its scores there and the files they are in."""

    entry: LibraryEntry
    store: ExportedStore
    scores: tuple[ScoreInFile, ...]

    def scored(self, indexed: IndexedPackage, budget: Fraction) -> tuple[ScoreInFile, ...]:
        """The scores at a budget, those that are labelled first."""
        own = [pair for pair in self.scores if pair[1].score.budget == budget]
        return tuple(sorted(own, key=lambda pair: not is_labelled(pair[1], indexed)))

    def labelled_cells(self, indexed: IndexedPackage) -> Mapping[str, dict[str, Fraction]] | None:
        """By memory, the units it covers as labelled. None if no score file has them."""
        for _, line in self.scores:
            cells = line.file.cells.get(self.store.name)
            if cells is not None and is_labelled(line, indexed):
                covered: dict[str, dict[str, Fraction]] = {}
                for cell in cells:
                    if cell.unit in indexed.unit_at:
                        covered.setdefault(cell.id, {})[cell.unit] = cell.value
                return covered
        return None


def is_labelled(line: ScoreLine, indexed: IndexedPackage) -> bool:
    """Whether a score is of exactly this package, by a judge that is no estimate."""
    return line.file.digest == indexed.digest and not line.file.coverage_is_an_estimate


def system_store(indexed: IndexedPackage, system: SystemStore) -> ComparableStore:
    """What a system wrote for this package. Coverage is as labelled if a score file has the cells,
    and is estimated from shared words if not."""
    store = system.store
    try:
        # Words cost nothing and need no model; labelled cells, where a file has them, replace them.
        judged = judge_store(indexed.package, store, LexicalJudge())
    except MemAuditError as error:
        return ComparableStore(store.name, (), str(error), True)
    labelled = system.labelled_cells(indexed)
    items = tuple(
        StoreItem(
            memory.id,
            memory.text,
            "memory",
            memory.cost,
            {unit: cell.value for unit, cell in memory.coverage.items()}
            if labelled is None
            else labelled.get(memory.id, {}),
        )
        for memory in judged.memories
    )
    return ComparableStore(store.name, items, "", labelled is None, tuple(judged.caveats.lines))


def scored_budgets(library: Library, indexed: IndexedPackage) -> set[Fraction]:
    """The budgets at which stores were scored on exactly this package, but for their own costs."""
    return {
        line.score.budget
        for _, line in _lines(library, indexed)
        if line.file.digest == indexed.digest and line.score.asked != OWN
    }


def system_stores(library: Library, indexed: IndexedPackage) -> list[SystemStore]:
    """Stores that name the package themselves, or that a score file compares with it. A score that
    matches no store of its name may belong to an earlier state of any of them, so all of them are
    listed."""
    lines = list(_lines(library, indexed))
    known = [
        SystemStore(entry, store, tuple(line for line in lines if scored.has(line[1])))
        for entry, store in _exported(library)
        for scored in [ScoredStore(store)]
    ]
    matched = {system.store.name for system in known if system.scores}
    unmatched = {line.score.store for _, line in lines} - matched
    return [system for system in known if _belongs(system, indexed.package, unmatched)]


def _belongs(system: SystemStore, package: Package, unmatched: set[str]) -> bool:
    if examples_of(system.store):
        return bool(written_from(system.store, package))
    return bool(system.scores) or system.store.name in unmatched


def scored_in(library: Library, line: ScoreLine) -> LibraryEntry | None:
    """The store of a score, if the library has it."""
    named = _exported(library, line.score.store)
    return next((entry for entry, store in named if ScoredStore(store).has(line)), None)


def _exported(library: Library, name: str = "") -> Iterator[tuple[LibraryEntry, ExportedStore]]:
    """Every store that can be read, or every one of a name."""
    for entry in library.of("store"):
        if name in ("", entry.name):
            try:
                yield entry, library.store(entry)
            except MemAuditError:  # listed as unreadable
                continue


def _lines(library: Library, indexed: IndexedPackage) -> Iterator[tuple[LibraryEntry, ScoreLine]]:
    """The scores about a package."""
    name = indexed.package.name
    for entry in library.of("scores"):
        if entry.count("packages") == 1 and entry.text("package") != name:
            continue  # it cannot be about this package
        try:
            scores = library.scores(entry)
        except MemAuditError:  # listed as unreadable
            continue
        about = {id(file) for file in scores.run.packages if _is_about(library, indexed, file)}
        yield from ((entry, line) for line in scores.lines if id(line.file) in about)


def _is_about(library: Library, indexed: IndexedPackage, file: ScoreFile) -> bool:
    """By digest, or by name alone if no other package of that name has the digest. Another cost
    rule changes the digest."""
    if file.digest == indexed.digest:
        return True
    others = (entry for entry in library.of("package") if entry.name == file.package)
    return file.package == indexed.package.name and all(
        entry.text("digest") != file.digest for entry in others
    )
