"""The stores of one package: what runs kept, what systems wrote, and which scores are of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.adapters.store import ExportedStore, store_digest
from memaudit.core.cost import cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Exact
from memaudit.report.writer_groups import Member, cast
from memaudit.scoring.judged_store import examples_of
from memaudit.web.explorer.library.entries import Found
from memaudit.web.explorer.library.library import Library
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.library.run_packages import rows_with
from memaudit.web.explorer.library.score_file import Line, Sheet


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
    """One row: who kept what at which budget."""

    run: Found
    member: Member
    seed: int
    budget: Fraction
    ratio: float | None
    value: float | None
    store: tuple[str, ...]
    failed: str


def run_stores(runs: Iterable[Found], opened: Opened) -> list[RunStore]:
    """The rows about a package in some runs, by run, budget and writer."""
    return [one for run in runs for one in _of_run(run, opened)]


def _of_run(run: Found, opened: Opened) -> Iterator[RunStore]:
    try:
        rows = [_Row.model_validate(row) for row in rows_with(run.path, opened.digest)]
    except (ValidationError, MemAuditError):  # the run's own page says what is wrong with it
        return
    members: Mapping[str, Member] = cast({row.writer: row.peeks for row in rows})
    seen: set[tuple[Fraction, str]] = set()
    for row in rows:
        if (row.budget, row.writer) in seen:
            continue  # a distribution without draws: the same package under many seeds
        seen.add((row.budget, row.writer))
        yield RunStore(
            run, members[row.writer], row.seed, row.budget, row.ratio, row.value,
            tuple(id for id in row.store if id in opened.candidate_at), row.failed,
        )  # fmt: skip


MEASURED = ("words", "bytes", "tokens:simple")
"""Rules that need no file and no tool: a score file may name any other."""


@dataclass(frozen=True)
class ScoredStore:
    """A store, its memories by the package they were written for."""

    store: ExportedStore

    @cached_property
    def digest(self) -> str:
        return store_digest(self.store)

    @cached_property
    def texts(self) -> dict[str | None, list[str]]:
        """What is scored: active memories, all under None where none names a package."""
        found: dict[str | None, list[str]] = {}
        for memory in self.store.active:
            found.setdefault(memory.example, []).append(memory.text)
        return found

    def has(self, line: Line) -> bool:
        """Whether the score is of this store, as far as the file says. Those without a digest name
        the store, how many memories it has and what they cost."""
        if line.score.store != self.store.name:
            return False
        if said := line.store_digest:
            return said == self.digest
        texts = self.texts.get(line.sheet.package if self.names_packages else None, [])
        if line.score.memories not in (None, len(texts)):
            return False
        rule = line.sheet.cost_rule
        if rule not in MEASURED or line.score.cost is None:
            return True
        return line.score.cost == sum(map(cost_rule(rule), texts))

    @cached_property
    def names_packages(self) -> bool:
        """Whether it says which packages it was written for."""
        return bool(examples_of(self.store))


@dataclass(frozen=True, slots=True)
class System:
    """A store that was written for a package, with its scores there and the files they are in."""

    found: Found
    store: ExportedStore
    scores: tuple[tuple[Found, Line], ...]


def systems_of(library: Library, opened: Opened) -> list[tuple[Found, ExportedStore]]:
    """Stores that name the package themselves, or that a score file holds against it."""
    return [(one.found, one.store) for one in systems(library, opened)]


def systems(library: Library, opened: Opened) -> list[System]:
    """The same with their scores. A score that is of none of the stores with its name may be of an
    earlier state of any of them: then they are all here."""
    lines = list(_lines(library, opened))
    known = [
        System(found, store, tuple(line for line in lines if scored.has(line[1])))
        for found, store in _exported(library)
        for scored in [ScoredStore(store)]
    ]
    settled = {one.store.name for one in known if one.scores}
    unsettled = {line.score.store for _, line in lines} - settled
    return [one for one in known if _belongs(one, opened.package.name, unsettled)]


def _belongs(one: System, package: str, unsettled: set[str]) -> bool:
    named = examples_of(one.store)
    if named:
        return package in named
    return bool(one.scores) or one.store.name in unsettled


def scored_in(library: Library, line: Line) -> Found | None:
    """The store that a score is of, where the library holds it."""
    named = _exported(library, line.score.store)
    return next((found for found, store in named if ScoredStore(store).has(line)), None)


def _exported(library: Library, name: str = "") -> Iterator[tuple[Found, ExportedStore]]:
    """Every store that can be read, or every one of a name."""
    for found in library.now("store"):
        if name in ("", found.name):
            try:
                yield found, library.store(found)
            except MemAuditError:  # listed as unreadable
                continue


def _lines(library: Library, opened: Opened) -> Iterator[tuple[Found, Line]]:
    """The scores about a package."""
    name = opened.package.name
    for found in library.now("scores"):
        if found.count("packages") == 1 and found.text("package") != name:
            continue  # not opened for nothing
        try:
            sheets = library.score_sheets(found)
        except MemAuditError:  # listed as unreadable
            continue
        about = {id(sheet) for sheet in sheets.sheets if _is_about(library, opened, sheet)}
        yield from ((found, line) for line in sheets.lines if id(line.sheet) in about)


def _is_about(library: Library, opened: Opened, sheet: Sheet) -> bool:
    """By digest; by name alone where no other package of the name has the digest, since costs by
    another rule change it."""
    if sheet.digest == opened.digest:
        return True
    others = (one for one in library.of("package") if one.name == sheet.package)
    return sheet.package == opened.package.name and all(
        one.text("digest") != sheet.digest for one in others
    )
