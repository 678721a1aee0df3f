"""The writer protocol: a view, a budget and a seed in, a store out; and running a writer."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal, Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.solve import PackageSolver


@dataclass(frozen=True, slots=True)
class VisibleExperience:
    """One step of the stream, as it arrived."""

    id: str
    index: int
    text: str
    session: str | None
    timestamp: str | None
    speaker: str | None


@dataclass(frozen=True, slots=True)
class VisibleCandidate:
    """One thing that could be stored, as its generator offered it."""

    id: str
    experience: str
    kind: str
    text: str
    cost: Fraction
    confidence: Fraction | None


@dataclass(frozen=True)
class View:
    """The visible part of a package. Experiences and their candidates are in order of arrival."""

    experiences: tuple[VisibleExperience, ...]
    candidates: tuple[VisibleCandidate, ...]
    group_cap: int

    @cached_property
    def groups(self) -> tuple[tuple[VisibleCandidate, ...], ...]:
        """The candidates of each experience, in order of arrival."""
        members: dict[str, list[VisibleCandidate]] = {e.id: [] for e in self.experiences}
        for candidate in self.candidates:
            members[candidate.experience].append(candidate)
        return tuple(tuple(group) for group in members.values())


def visible(package: Package) -> View:
    """The view of a package. Free attributes are left out: they may contain anything.

    A candidate with parts is left out, too: its parts are offered, and a store may not keep both.
    """
    experiences = sorted(package.experiences, key=lambda experience: experience.index)
    rank = {experience.id: place for place, experience in enumerate(experiences)}
    candidates = sorted(
        (candidate for candidate in package.candidates if not candidate.parts),
        key=lambda c: (rank[c.experience], c.id),
    )
    return View(
        experiences=tuple(
            VisibleExperience(e.id, place, e.text, e.session, e.timestamp, e.speaker)
            for place, e in enumerate(experiences)
        ),
        candidates=tuple(
            VisibleCandidate(c.id, c.experience, c.kind, c.text, c.cost, c.confidence)
            for c in candidates
        ),
        group_cap=package.group_cap,
    )


class OracleView:
    """The package with its hidden part. Forms and optima are computed once per budget."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package, self.seconds = package, seconds
        self._optima: dict[Fraction, Optimum] = {}
        self._forms: dict[Fraction, Form] = {}
        self._parts: dict[str, OracleView] = {}

    @cached_property
    def solver(self) -> PackageSolver:
        return PackageSolver(self.package)

    @property
    def form(self) -> Form:
        """The package in integers, candidates in order of arrival, then by id."""
        return self.solver.form

    def at(self, budget: Fraction) -> Form:
        """The form at a budget; a candidate with parts covers nothing, so that none is chosen."""
        if budget not in self._forms:
            form = self.form.at(budget, self.package.group_cap)
            # The candidates stay in the form, so that its ids and groups are those of the solver.
            wholes = {candidate.id for candidate in self.package.candidates if candidate.parts}
            named = zip(form.candidate_ids, form.rows, strict=True)
            rows = tuple(() if id in wholes else row for id, row in named)
            self._forms[budget] = replace(form, rows=rows) if wholes else form
        return self._forms[budget]

    def optimum(self, budget: Fraction) -> Optimum:
        if budget not in self._optima:
            self._optima[budget] = self.solver.solve(budget, seconds=self.seconds)
        return self._optima[budget]

    def best_store(self, budget: Fraction) -> tuple[str, ...]:
        """What the certified optimum keeps, in order of arrival; an error if there is none."""
        optimum = self.optimum(budget)
        if not optimum.certified:
            raise MemAuditError(
                f"no certified optimum of {self.package.name!r} at budget {budget}: {optimum.note}"
            )
        kept = set(optimum.store)
        return tuple(id for id in self.form.candidate_ids if id in kept)

    def part(self, name: str, keeps: Callable[[str], bool]) -> "OracleView":
        """The same package restricted to candidates of some kinds."""
        if name not in self._parts:
            ids = {c.id for c in self.package.candidates if keeps(c.kind)}
            # Nothing is left out: this view has its optima already.
            if len(ids) == len(self.package.candidates):
                return self
            part = self.package.only(ids).replace(name=f"{self.package.name}, {name}")
            self._parts[name] = OracleView(part, self.seconds)
        return self._parts[name]


Store = tuple[str, ...]
"""Ids of the kept candidates, in order of arrival."""


class _Described(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str:
        """For tables and figures. A proxy for a family of systems says that it is a proxy."""
        ...

    @property
    def about(self) -> str:
        """How it decides, in one line."""
        ...

    @property
    def monotone(self) -> bool:
        """Whether a larger budget never makes it spend less."""
        ...


class Deployable(_Described, Protocol):
    """A writer that could run in a product: it sees only the stream and the candidates."""

    @property
    def peeks(self) -> Literal[False]: ...

    def write(self, view: View, budget: Fraction, seed: int) -> Store: ...


class PackageOracle(_Described, Protocol):
    """A reference that sees the hidden part of the package; never a deployable system."""

    @property
    def peeks(self) -> Literal[True]: ...

    def write(self, view: OracleView, budget: Fraction, seed: int) -> Store: ...


Writer = Deployable | PackageOracle


class BudgetedStore:
    """Starts empty. `keep` and `drop` change what is left of the budget."""

    def __init__(self, view: View, budget: Fraction) -> None:
        self.view, self.left = view, budget
        self._chosen: set[str] = set()
        self._kept: dict[str, int] = {}

    def fits(self, candidate: VisibleCandidate) -> bool:
        """Whether the budget and the group cap allow this candidate."""
        return (
            candidate.cost <= self.left
            and self._kept.get(candidate.experience, 0) < self.view.group_cap
            and candidate.id not in self._chosen
        )

    def keep(self, candidate: VisibleCandidate) -> None:
        self.left -= candidate.cost
        self._kept[candidate.experience] = self._kept.get(candidate.experience, 0) + 1
        self._chosen.add(candidate.id)

    def drop(self, candidate: VisibleCandidate) -> None:
        self.left += candidate.cost
        # Dropping makes room in the group too: the cap is on what is kept, not on what was written.
        self._kept[candidate.experience] -= 1
        self._chosen.remove(candidate.id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of what is kept, in order of arrival."""
        return tuple(c.id for c in self.view.candidates if c.id in self._chosen)


class WriterRunner:
    """Runs writers on one package. What they share is computed once."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package = package
        self.oracle = OracleView(package, seconds)

    @cached_property
    def view(self) -> View:
        return visible(self.package)

    @cached_property
    def digest(self) -> str:
        return digest(self.package)

    def written_by(self, writer: Writer, budget: Fraction, seed: int) -> Store:
        """The writer's store; an infeasible one is an error that names the writer."""
        own_seed = writer_seed(seed, self.digest)
        if writer.peeks:
            store = writer.write(self.oracle, budget, own_seed)
        else:
            store = writer.write(self.view, budget, own_seed)
        if problems := violations(self.package, store, budget, self.package.group_cap):
            raise MemAuditError(f"writer {writer.name!r} broke the rules: {problems[0]}")
        return store


def writer_seed(seed: int, package_digest: str) -> int:
    """A seed that follows from the run's seed and the package's digest, and reveals neither.

    With the generator's own seed a writer could generate the package and look into it.
    """
    text = f"{seed} {package_digest}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
