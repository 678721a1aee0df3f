"""Packages made again from distribution and seed, with their optima, checked against the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.experiments.evaluate import Subject
from memaudit.generators.registry import named_distribution
from memaudit.report.page.run import Row, Run

CLOSE = 1e-6
"""Rows round their numbers; what differs by more than this is another number."""


@dataclass(frozen=True, slots=True)
class Remade:
    """A package of the run with its rows; `subject` scores stores and solves."""

    distribution: str
    seed: int
    subject: Subject
    rows: Sequence[Row]

    @property
    def package(self) -> Package:
        return self.subject.package

    def at(self, budget: Fraction) -> list[Row]:
        """The rows at a budget, one a writer."""
        return [row for row in self.rows if exact(row["budget"]) == budget]

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT, solved and verified now; it must be what the rows say where they are certified."""
        best = self.subject.oracle.optimum(budget)
        for row in self.at(budget):
            if row["certificate"] and best.certified and abs(row["optimum"] - best.value) > CLOSE:
                raise MemAuditError(
                    f"{self.package.name!r} at budget {row['budget']}: the rows say its optimum is "
                    f"{row['optimum']}, solving it gives {float(best.value)}; run the sweep again"
                )
        return best


def remake(run: Run, wanted: Sequence[tuple[str, int]]) -> list[Remade]:
    """The packages with these distributions and seeds, in the order given."""
    rows = run.rows_of(wanted)
    return [_one(run, name, seed, rows[name, seed]) for name, seed in wanted]


def _one(run: Run, name: str, seed: int, rows: Sequence[Row]) -> Remade:
    distribution = named_distribution(name)
    package = distribution.package(seed if distribution.draws else 0)
    made = digest(package)
    version = run.manifest["versions"]["memaudit"]
    for row in rows:
        if row["digest"] != made:
            raise MemAuditError(
                f"{name}, seed {seed}: the package made now has digest {made[:12]}, the run's rows "
                f"say {row['digest'][:12]}; build the report with memaudit {version}, or run "
                "the sweep again"
            )
        if unknown := sorted(set(row["store"]) - package.candidate.keys()):
            raise MemAuditError(
                f"{name}, seed {seed}: a row's store holds {unknown[0][:60]!r}, which is no "
                "candidate of its package; run the sweep again"
            )
    return Remade(name, seed, Subject(package, run.spec.get("seconds")), rows)
