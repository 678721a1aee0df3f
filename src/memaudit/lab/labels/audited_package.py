"""A package as it is audited: memories of exported stores beside its candidates, and other labels.

Labels name candidates of the package, or memories of a store as `STORE/ID` or by an id that only
one store has. A memory with exactly the words of a candidate is labelled like that candidate, as a
blind reader would label it, unless labels name the memory itself. If candidates with the same words
were labelled differently, the memory keeps its judge's value; such cells are counted.

Stores are fixed once, the same under every label set. Writers see the package as it is; references
that look at its hidden side see its own labels. An exported store is kept whole if it fits the
budget; otherwise the newest memories that fit are kept.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.building.label_passes import CellKey
from memaudit.kernel.errors import MemAuditError, MissingTool
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.labels import coverage_row
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge, cores
from memaudit.kernel.score.judged_store import judge_store
from memaudit.kernel.score.package_scores import refuse_incomparable
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import keep_within
from memaudit.kernel.score.score import Basis
from memaudit.kernel.score.store_match import examples_of, written_from
from memaudit.kernel.score.unions import Union, union_of
from memaudit.lab.sweeps.writers.protocol import WriterRunner
from memaudit.lab.sweeps.writers.registry import WRITERS, named_writer

CellLabels = Mapping[CellKey, Fraction]
"""The coverage value of each cell; other cells keep theirs."""

NOT_COVERED = Fraction(0)
PROVENANCE = "labels:"
"""The provenance of changed rows begins so; the name of the label set follows."""


def own_values(package: Package) -> dict[CellKey, Fraction]:
    """The package's own labels; a missing cell is not covered."""
    return {(row.candidate, row.unit): row.value for row in package.coverage}


def changes(own: CellLabels, labels: CellLabels) -> dict[CellKey, Fraction]:
    """The labels that differ from the package's own, in order of cells."""
    return {at: labels[at] for at in sorted(labels) if labels[at] != own.get(at, NOT_COVERED)}


def relabelled(package: Package, changed: CellLabels, by: str) -> Package:
    """The package with some cells changed; the same object if there are none.

    No candidate keeps a part whose core it lost.
    """
    if not changed:
        return package
    # Changed cells get a provenance of their own: grounds tell an audit from the build.
    rows = [row for row in package.coverage if (row.candidate, row.unit) not in changed]
    rows += [
        coverage_row(candidate, unit, value, f"{PROVENANCE}{by}", "")
        for (candidate, unit), value in sorted(changed.items())
        if value
    ]
    if core_of := cores(package.units):
        candidates = {candidate for candidate, _ in changed}
        # The rule of units with parts: a part counts only where its core is kept in full. A label
        # set that takes the core away takes the parts away too.
        kept = {(row.candidate, row.unit) for row in rows if row.value == 1}
        rows = [
            row
            for row in rows
            if row.candidate not in candidates
            or row.unit not in core_of
            or {(row.candidate, row.unit), (row.candidate, core_of[row.unit])} <= kept
        ]
    return package.replace(coverage=tuple(rows))


@dataclass(frozen=True, slots=True)
class SpreadLabels:
    """Labels, including those of memories with the same words, and how many cells contradict."""

    labels: dict[CellKey, Fraction]
    contradicting: int


@dataclass(frozen=True, slots=True)
class AuditedPackage:
    """`package` is what writers see, `union` what stores are measured against.

    Without exported stores both are the same. With them every store, including a writer's, has the
    optimum of the common union as its denominator, so that ratios can be compared. `named` is the
    candidate id of a memory by its id, `twins` the memories with the words of a candidate.
    """

    package: Package
    stores: tuple[JudgedStore, ...]
    union: Union
    named: Mapping[str, str]
    twins: Mapping[str, tuple[str, ...]]

    @property
    def scored(self) -> Package:
        """What stores are measured against."""
        return self.union.package

    @property
    def name(self) -> str:
        """The package's name."""
        return self.package.name

    @property
    def basis(self) -> Basis:
        """The basis of the denominators."""
        return "common union" if self.stores else "package"

    def cell(self, name: str, unit: str) -> CellKey:
        """The cell of a candidate or memory, and of a unit, that a label names."""
        if unit not in self.package.weights:
            raise MemAuditError(
                f"labels name the unit {unit!r}, which {self.name!r} does not have; give the "
                "packages the labels were made for"
            )
        candidate = self.named.get(name, self.union.stands_for.get(name, name))
        if candidate not in self.scored.candidate:
            raise MemAuditError(
                f"labels name {name!r}, which is neither a candidate of {self.name!r} nor a memory "
                "of a store given with --store; give the packages the labels were made for"
            )
        return candidate, unit

    def spread(self, labels: CellLabels) -> SpreadLabels:
        """The labels, and those of memories with the same words."""
        values: dict[CellKey, set[Fraction]] = defaultdict(set)
        for (candidate, unit), value in labels.items():
            # A label that names the memory itself wins over the one of its twin.
            for memory in self.twins.get(candidate, ()):
                if (memory, unit) not in labels:
                    values[memory, unit].add(value)
        # One value means that all twins say the same; min takes it out of its set.
        agreed = {at: min(given) for at, given in values.items() if len(given) == 1}
        return SpreadLabels({**labels, **agreed}, len(values) - len(agreed))


def audited_package(package: Package, stores: Sequence[JudgedStore] = ()) -> AuditedPackage:
    """A package with the stores that were written for it."""
    union = union_of(package, stores) if stores else Union(package, {}, {})
    by_words: dict[str, list[str]] = defaultdict(list)
    for candidate in package.candidates if stores else ():
        by_words[_words(candidate.text)].append(candidate.id)
    twins: dict[str, list[str]] = defaultdict(list)
    ids = Counter(memory.id for store in stores for memory in store.memories)
    named: dict[str, str] = {}
    for store in stores:
        for memory in store.memories:
            own = store.candidate_id(memory)
            # The union keeps one of several equal texts; labels reach it under the name of any.
            own = union.stands_for.get(own, own)
            # An id that two stores use, or a candidate has, needs the store in front: STORE/ID.
            if ids[memory.id] == 1 and memory.id not in package.candidate:
                named[memory.id] = own
            for candidate_id in by_words.get(_words(memory.text), ()):
                if candidate_id != own:
                    twins[candidate_id].append(own)
    return AuditedPackage(
        package, tuple(stores), union, named, {id: tuple(own) for id, own in twins.items()}
    )


def _words(text: str) -> str:
    return " ".join(text.split())


def check_distinct_names(packages: Iterable[AuditedPackage]) -> None:
    """Labels identify packages by name, so names must be distinct."""
    count = Counter(package.name for package in packages)
    if twice := sorted(name for name, number in count.items() if number > 1):
        raise MemAuditError(
            f"two packages are called {twice[0]!r}, and labels identify packages by name; give "
            "each once"
        )


def stores_by_package(
    packages: Sequence[Package], stores: Sequence[ExportedStore], judge: Judge
) -> Iterator[tuple[Package, list[JudgedStore]]]:
    """Every package with its stores; a store of many examples may lack some of the packages.

    A store that names no examples is about one conversation, so there must be a single package.
    """
    refuse_incomparable(stores)
    for store in stores:
        if len(packages) > 1 and not examples_of(store):
            raise MemAuditError(
                f"{store.name!r} does not say which package a memory was written for; give the "
                "one package it is about"
            )
        if not any(_is_for(store, package) for package in packages):
            raise MemAuditError(f"{store.name!r} was not written for any of these packages")
    for package in packages:
        own = [store for store in stores if _is_for(store, package)]
        yield package, [judge_store(package, store, judge) for store in own]


def _is_for(store: ExportedStore, package: Package) -> bool:
    return not examples_of(store) or bool(written_from(store, package))


DEFAULT_WRITERS = ("gvt", *(writer.name for writer in WRITERS.values() if not writer.peeks))
"""The reference and every writer that could be deployed."""

StoreKey = tuple[str, Fraction]
"""The name of a writer or store, and the budget."""


@dataclass(frozen=True, slots=True)
class FixedStores:
    """Stores by name and budget; if a writer failed, the reason instead."""

    stores: Mapping[StoreKey, tuple[str, ...]]
    failed: Mapping[StoreKey, str]


@dataclass(frozen=True, slots=True)
class StoreTask:
    """One package and the writers to run on it."""

    package: AuditedPackage
    writers: tuple[str, ...]
    budgets: tuple[Fraction, ...]
    seed: int
    seconds: float | None = None


def store_names(packages: Sequence[AuditedPackage], writers: Sequence[str]) -> tuple[str, ...]:
    """The stores that are scored: of writers, then exported ones, each name once."""
    stores = {store.name: None for audited in packages for store in audited.stores}
    if both := sorted(stores.keys() & set(writers)):
        raise MemAuditError(f"a store and a writer are called {both[0]!r}; rename the store")
    return (*dict.fromkeys(writers), *stores)


def fixed_stores(task: StoreTask) -> FixedStores:
    """What every writer and every exported store of a package keeps at every budget."""
    audited, stores, failed = task.package, {}, {}
    runner = WriterRunner(audited.package, task.seconds)
    for budget in task.budgets:
        for name in task.writers:
            try:
                written = runner.written_by(named_writer(name), budget, task.seed)
                stores[name, budget] = audited.union.candidates(written)
            # What is not installed stops the audit. A writer that fails on one package does not:
            # its store is missing and counted.
            except MissingTool:
                raise
            except MemAuditError as error:
                failed[name, budget] = str(error)
        for store in audited.stores:
            stores[store.name, budget] = audited.union.candidates(keep_within(store, budget).ids)
    return FixedStores(stores, failed)
