"""A second look at an optimum: the cells it rests on are judged again.

An optimiser seeks out the cells that are wrong, so what an optimum claims may not survive. The
cells of the optimal store, of each store's best subset and of what it keeps are judged again; with
the new labels everything is solved again, until the optima rest on cells that were looked at.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Protocol

from memaudit.building.label_passes import CellKey, label_passes, with_pass
from memaudit.kernel.package.labels import VALUES
from memaudit.kernel.package.objective import value
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import Ground, ground
from memaudit.kernel.score.judge import (
    Judge,
    MemoryText,
    NotJudged,
    ask_judge,
    for_package,
    refuse_unreadable,
)
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.score.pruning import keep_within
from memaudit.kernel.score.unions import Union, store_alone, union_of
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.labels.frame import Frame, LabelSet, by_part
from memaudit.lab.labels.frame_drawing import frame_of
from memaudit.lab.labels.relabelling import CellLabels, changes, own_values, relabelled

OPTIMUM = "optimum"
SECOND_LOOK = "second look"


class Readjudication(Protocol):
    """Gives cells of a package a second label; cells it leaves out keep their value."""

    def labels(self, package: Package, cells: Collection[CellKey]) -> CellLabels: ...


@dataclass(frozen=True, slots=True)
class JudgesAgain:
    """A judge as a second look. A file of labels leaves out texts that it does not know."""

    judge: Judge
    conversation: str = ""

    def labels(self, package: Package, cells: Collection[CellKey]) -> dict[CellKey, Fraction]:
        texts = [
            MemoryText(id, package.candidate[id].text, (), self.conversation)
            for id in dict.fromkeys(id for id, _ in cells)
        ]
        # A judge of another script would call everything none, and nothing would survive.
        refuse_unreadable(self.judge, package)
        try:
            judge = for_package(self.judge, package)
            judged = ask_judge(judge, texts, package.units, cells)
        except NotJudged:
            return {}
        # No answer is no label: the cell keeps its value and is asked about no more.
        left_out = set(judged.undecided)
        return {
            (id, unit): cell.value if (cell := judged.cells.get(id, {}).get(unit)) else Fraction(0)
            for id, unit in cells
            if id not in judged.unknown and (id, unit) not in left_out
        }


@dataclass(frozen=True, slots=True)
class FrameLabels:
    """An annotator's labels of a frame as a second look."""

    frame: Frame
    label_set: LabelSet

    def labels(self, package: Package, cells: Collection[CellKey]) -> dict[CellKey, Fraction]:  # noqa: ARG002
        wanted = set(cells)
        frame, (label_set,) = by_part(self.frame, [self.label_set])
        return {
            at: VALUES[label]
            for cell in frame.cells
            if (label := label_set.labels.get(cell.id, "cannot_tell")) in VALUES
            and (at := (cell.candidate, cell.unit)) in wanted
        }


@dataclass(frozen=True, slots=True)
class CellGroup:
    """Cells of an optimal store by what they rest on: cells times weight, claimed and surviving."""

    provenance: str
    kind: str
    cells: int
    looked_at: int
    claimed: Fraction
    surviving: Fraction

    @property
    def ground(self) -> Ground:
        return ground(self.provenance)


@dataclass(frozen=True, slots=True)
class AuditedStore:
    """A store's best subset and what it keeps: values and ratios to OPT, before and after."""

    name: str
    best: tuple[Fraction, Fraction]
    kept: tuple[Fraction, Fraction]
    best_ratio: tuple[Fraction | None, Fraction | None]
    score: tuple[Fraction | None, Fraction | None]


@dataclass(frozen=True, slots=True)
class OptimumAudit:
    """What an optimum claims, what of it survives, and the optimum under the new labels."""

    package: str
    budget: Fraction
    claimed: Optimum
    surviving: Fraction
    groups: tuple[CellGroup, ...]
    corrected: Optimum
    stores: tuple[AuditedStore, ...]
    looked_at: int
    not_looked_at: int
    """Cells of the corrected optimum that got no second label."""
    rounds: int

    @property
    def survival(self) -> Fraction | None:
        """What the claimed store is worth by the new labels, over what it claims."""
        return self.surviving / self.claimed.value if self.claimed.value else None


def audit_optimum(
    package: Package,
    stores: Sequence[JudgedStore],
    budget: Fraction,
    look: Readjudication,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> OptimumAudit:
    """Judge the cells of the optimum again, and solve again until all its cells were looked at."""
    problem = _Problem(package, stores, budget, group_cap, seconds)
    labels: dict[CellKey, Fraction] = {}
    first = best = problem.optima(labels)
    asked: set[CellKey] = set()
    rounds = 0
    # Cells that were asked about stay asked, so each round asks about new ones and the loop ends:
    # there are finitely many cells.
    while new := problem.cells(best) - asked:
        rounds += 1
        asked |= new
        # New labels lower some cells, so another store may now be best, resting on cells nobody
        # looked at.
        labels.update(look.labels(problem.union.package, sorted(new)))
        best = problem.optima(labels)
    claimed, corrected = first[OPTIMUM], best[OPTIMUM]
    return OptimumAudit(
        package.name,
        budget,
        claimed,
        value(problem.relabelled(OPTIMUM, labels), claimed.store).low,
        tuple(_groups(problem.union.package, claimed.store, labels)),
        corrected,
        tuple(
            AuditedStore(
                name,
                (first[name].value, best[name].value),
                worths := (
                    value(problem.parts[name], kept).low,
                    value(problem.relabelled(name, labels), kept).low,
                ),
                (_ratio(first[name].value, claimed), _ratio(best[name].value, corrected)),
                (_ratio(worths[0], claimed), _ratio(worths[1], corrected)),
            )
            for name, kept in problem.kept.items()
        ),
        len(labels),
        len(_cells(problem.union.package, corrected.store) - labels.keys()),
        rounds,
    )


def optimum_frame(
    package: Package, stores: Sequence[JudgedStore], budget: Fraction, group_cap: int | None = None
) -> Frame:
    """The cells that the optimum, best subsets and kept stores rest on, for people to label."""
    problem = _Problem(package, stores, budget, group_cap, None)
    named = problem.union.package.replace(name=package.name)
    return frame_of(named, problem.cells(problem.optima({})))


class _Problem:
    """The union and every store alone, whose cells are named as in the union."""

    def __init__(
        self,
        package: Package,
        stores: Sequence[JudgedStore],
        budget: Fraction,
        group_cap: int | None,
        seconds: float | None,
    ) -> None:
        self.union = union_of(package, stores) if stores else Union(package, {}, {})
        self._budget, self._group_cap, self._seconds = budget, group_cap, seconds
        alone = {store.name: store_alone(package, store) for store in stores}
        self.parts = {OPTIMUM: self.union.package} | {
            name: union.package for name, union in alone.items()
        }
        self.kept = {
            store.name: alone[store.name].candidates(keep_within(store, budget).ids)
            for store in stores
        }

    def relabelled(self, part: str, labels: CellLabels) -> Package:
        # A store alone has its own copy of a cell that the union has under another name.
        own = own_values(self.parts[part])
        given = {at: labels[named] for at in own if (named := self._named(at)) in labels}
        return relabelled(self.parts[part], changes(own, given), SECOND_LOOK)

    def optima(self, labels: CellLabels) -> dict[str, Optimum]:
        """The optimum, and each store's best subset, under some labels."""
        return {
            part: solve(
                self.relabelled(part, labels), self._budget, self._group_cap, seconds=self._seconds
            )
            for part in self.parts
        }

    def cells(self, optima: Mapping[str, Optimum]) -> set[CellKey]:
        """The cells that optima, best subsets and kept memories rest on."""
        stores = [(part, optimum.store) for part, optimum in optima.items()] + [*self.kept.items()]
        return {self._named(at) for part, store in stores for at in _cells(self.parts[part], store)}

    def _named(self, at: CellKey) -> CellKey:
        return self.union.stands_for.get(at[0], at[0]), at[1]


def _cells(package: Package, store: Collection[str]) -> set[CellKey]:
    """The cells above 0 that a store rests on; units without weight add nothing."""
    kept = set(store)
    return {
        (cell.candidate, cell.unit)
        for cell in package.coverage
        if cell.candidate in kept and cell.value and package.weights[cell.unit]
    }


def _groups(package: Package, store: Sequence[str], labels: CellLabels) -> Iterator[CellGroup]:
    rows = {(cell.candidate, cell.unit): cell for cell in package.coverage}
    by_ground: dict[tuple[str, str], list[CellKey]] = {}
    for at in sorted(_cells(package, store)):
        kind = package.candidate[at[0]].kind
        by_ground.setdefault((rows[at].provenance or "declared", kind), []).append(at)
    for (provenance, kind), cells in sorted(by_ground.items()):
        yield CellGroup(
            provenance,
            kind,
            len(cells),
            sum(at in labels for at in cells),
            sum((rows[at].value * package.weights[at[1]] for at in cells), Fraction(0)),
            sum(
                (labels.get(at, rows[at].value) * package.weights[at[1]] for at in cells),
                Fraction(0),
            ),
        )


def _ratio(numerator: Fraction, optimum: Optimum) -> Fraction | None:
    return numerator / optimum.value if optimum.certified and optimum.value else None


@dataclass(frozen=True, slots=True)
class CrossFit:
    """The store chosen under one pass, valued under another."""

    chosen: str
    valued: str
    claimed: Fraction
    worth: Fraction
    optimum: Fraction
    """The optimum under the other pass."""

    @property
    def survival(self) -> Fraction | None:
        return self.worth / self.claimed if self.claimed else None


def cross_fit(
    package: Package,
    budget: Fraction,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> list[CrossFit]:
    """Every two label passes of a package; empty where it has fewer than two."""
    labels = label_passes(package)
    names = [known.name for known in labels.passes] if labels else []
    under: Mapping[str, Package] = {name: with_pass(package, name) for name in names}
    best = {name: solve(under[name], budget, group_cap, seconds=seconds) for name in names}
    return [
        CrossFit(
            chosen,
            valued,
            best[chosen].value,
            value(under[valued], best[chosen].store).low,
            best[valued].value,
        )
        for chosen, valued in permutations(names, 2)
    ]
