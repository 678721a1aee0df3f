"""Other labels for a package's cells: what they change, and the package that results."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.natural.coverage_rules import cell
from memaudit.scoring.ratio import Basis
from memaudit.scoring.union import WrittenStore, union_package

Cell = tuple[str, str]
"""The id of a candidate and the id of a unit."""

Labels = Mapping[Cell, Fraction]
"""How much of the unit the candidate keeps, cell by cell; cells that are not there stay."""

NOT_COVERED = Fraction(0)
PROVENANCE = "labels:"
"""The provenance of changed rows begins so; the name of the label set follows."""


def own_values(package: Package) -> dict[Cell, Fraction]:
    """The package's own labels; a cell that is not there is not covered."""
    return {(row.candidate, row.unit): row.value for row in package.coverage}


def changes(own: Labels, labels: Labels) -> dict[Cell, Fraction]:
    """The labels that are not what the package says itself, in order of cells."""
    return {at: labels[at] for at in sorted(labels) if labels[at] != own.get(at, NOT_COVERED)}


def relabelled(package: Package, changed: Labels, by: str) -> Package:
    """The package with some cells changed; the very same where none are."""
    if not changed:
        return package
    rows = [row for row in package.coverage if (row.candidate, row.unit) not in changed]
    rows += [
        cell(candidate, unit, value, f"{PROVENANCE}{by}", "")
        for (candidate, unit), value in sorted(changed.items())
        if value
    ]
    return package.replace(coverage=tuple(rows))


@dataclass(frozen=True, slots=True)
class Spread:
    """Labels with those of memories that have the same words, and how many contradict."""

    labels: dict[Cell, Fraction]
    contradicting: int


@dataclass(frozen=True, slots=True)
class Case:
    """`package` is what writers decide on, `scored` what stores are measured against.

    Without exported stores both are the same; with them every store, a writer's too, has the
    optimum of the common union as its denominator, so that ratios can be compared.
    """

    package: Package
    stores: tuple[WrittenStore, ...]
    scored: Package
    named: Mapping[str, str]
    twins: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        """The package's name."""
        return self.package.name

    @property
    def basis(self) -> Basis:
        """What the denominators are taken over."""
        return "common union" if self.stores else "package"

    def candidate(self, name: str) -> str:
        """The id of the candidate, or of the memory, that a label names."""
        found = name if name in self.scored.candidate else self.named.get(name)
        if found is None:
            raise MemAuditError(
                f"labels name {name!r}, which is no candidate of {self.name!r} and no memory of a "
                "store given with --store; give the packages the labels were made for"
            )
        return found

    def cell(self, name: str, unit: str) -> Cell:
        """The cell that a label of a candidate or memory, and of a unit, is about."""
        if unit not in self.package.weights:
            raise MemAuditError(
                f"labels name the unit {unit!r}, which {self.name!r} does not have; give the "
                "packages the labels were made for"
            )
        return self.candidate(name), unit

    def spread(self, labels: Labels) -> Spread:
        """The labels, and those of memories with the same words."""
        said: dict[Cell, set[Fraction]] = defaultdict(set)
        for (candidate, unit), value in labels.items():
            for memory in self.twins.get(candidate, ()):
                if (memory, unit) not in labels:
                    said[memory, unit].add(value)
        agreed = {at: min(values) for at, values in said.items() if len(values) == 1}
        return Spread({**labels, **agreed}, len(said) - len(agreed))


def case_of(package: Package, stores: Sequence[WrittenStore] = ()) -> Case:
    """A package with the stores that were written for it."""
    scored = union_package(package, stores) if stores else package
    by_words: dict[str, list[str]] = defaultdict(list)
    for candidate in package.candidates if stores else ():
        by_words[_words(candidate.text)].append(candidate.id)
    twins: dict[str, list[str]] = defaultdict(list)
    ids = Counter(memory.id for store in stores for memory in store.memories)
    named: dict[str, str] = {}
    for store in stores:
        for memory in store.memories:
            own = store.candidate_id(memory)
            if ids[memory.id] == 1:
                named[memory.id] = own
            for candidate_id in by_words.get(_words(memory.text), ()):
                twins[candidate_id].append(own)
    return Case(
        package, tuple(stores), scored, named, {id: tuple(own) for id, own in twins.items()}
    )


def check_names(cases: Iterable[Case]) -> None:
    """Labels name packages, so every name must stand for one."""
    count = Counter(case.name for case in cases)
    if twice := sorted(name for name, number in count.items() if number > 1):
        raise MemAuditError(
            f"two packages are called {twice[0]!r}, and labels name packages; give each once"
        )


def _words(text: str) -> str:
    return " ".join(text.split())
