"""One package in full: its stream, what could be stored, what OPT and each writer kept."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.optimum import Optimum
from memaudit.core.package import Candidate, Experience, Package
from memaudit.report.page.cast import OPT, Member
from memaudit.report.page.choice import Choice
from memaudit.report.page.keeping import Keeping, compare
from memaudit.report.page.matrix import Matrix, matrix
from memaudit.report.page.packages import Remade
from memaudit.report.page.proof import Proof, prove

MOST_EXPERIENCES = 30
MOST_LETTERS = 400
"""Of longer texts the beginning is shown."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A candidate, whether OPT kept it, and how many writers did."""

    candidate: Candidate
    by_opt: bool
    keepers: int


@dataclass(frozen=True, slots=True)
class Step:
    """An experience and what could be stored for it."""

    number: int
    experience: Experience
    offers: tuple[Offer, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """Everything the page tells of the package."""

    choice: Choice
    package: Package
    optimum: Optimum
    steps: tuple[Step, ...]
    hidden_steps: int
    matrix: Matrix
    keepings: tuple[Keeping, ...]
    proof: Proof

    @property
    def total_cost(self) -> Fraction:
        return self.package.total_cost(self.package.candidate)

    @property
    def total_weight(self) -> Fraction:
        return sum(self.package.weights.values(), Fraction(0))


def tell(one: Remade, choice: Choice, order: Sequence[Member]) -> Story:
    """The story of a package at the chosen budget; writers in the order given."""
    best = one.optimum(choice.budget)
    rows = {row["writer"]: row for row in one.at(choice.budget)}
    writers = [member for member in order if member.name != OPT]
    keepers: dict[str, int] = {}
    for member in writers:
        for id in rows[member.name]["store"]:
            keepers[id] = keepers.get(id, 0) + 1
    steps = _steps(one.package, best.store, keepers)
    arrival = {c.id: n for n, c in enumerate(one.subject.view.candidates)}
    return Story(
        choice=choice,
        package=one.package,
        optimum=best,
        steps=steps,
        hidden_steps=len(one.package.experiences) - len(steps),
        matrix=matrix(one.package, best.store, keepers),
        keepings=tuple(
            compare(one, rows[member.name], member, sorted(best.store, key=arrival.__getitem__))
            for member in writers
        ),
        proof=prove(one, choice.budget),
    )


def _steps(package: Package, best: Collection[str], keepers: dict[str, int]) -> tuple[Step, ...]:
    """The stream in order; of a long one, the steps that OPT, then any writer, kept from."""
    stream = sorted(package.experiences, key=lambda experience: experience.index)
    offered: dict[str, list[Candidate]] = {experience.id: [] for experience in stream}
    for candidate in sorted(package.candidates, key=lambda candidate: candidate.id):
        offered[candidate.experience].append(candidate)
    numbers = list(range(len(stream)))
    if len(stream) > MOST_EXPERIENCES:

        def interest(number: int) -> tuple[bool, bool, int]:
            ids = [candidate.id for candidate in offered[stream[number].id]]
            return not any(id in best for id in ids), not any(id in keepers for id in ids), number

        numbers = sorted(sorted(numbers, key=interest)[:MOST_EXPERIENCES])
    return tuple(
        Step(
            number + 1,
            stream[number],
            tuple(
                Offer(candidate, candidate.id in best, keepers.get(candidate.id, 0))
                for candidate in offered[stream[number].id]
            ),
        )
        for number in numbers
    )
