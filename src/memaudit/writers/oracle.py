"""What a package-oracle reference sees: the package itself, and its certified optima."""

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property

from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Optimum
from memaudit.core.package import Package
from memaudit.solvers.form import Form
from memaudit.solvers.solve import PackageSolver


class OracleView:
    """The package with everything hidden in it. Views of it share their work between budgets."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        self.package, self.seconds = package, seconds
        self._optima: dict[Fraction, Optimum] = {}
        self._forms: dict[Fraction, Form] = {}
        self._parts: dict[str, OracleView] = {}

    @cached_property
    def solver(self) -> PackageSolver:
        """The solver of this package."""
        return PackageSolver(self.package)

    @property
    def form(self) -> Form:
        """The package in integers, candidates in order of arrival, then by id."""
        return self.solver.form

    def at(self, budget: Fraction) -> Form:
        """The form at a budget."""
        if budget not in self._forms:
            self._forms[budget] = self.form.at(budget, self.package.group_cap)
        return self._forms[budget]

    def optimum(self, budget: Fraction) -> Optimum:
        """The optimum at a budget, solved once."""
        if budget not in self._optima:
            self._optima[budget] = self.solver.solve(budget, seconds=self.seconds)
        return self._optima[budget]

    def best_store(self, budget: Fraction) -> tuple[str, ...]:
        """What the certified optimum keeps, in order of arrival; an error where there is none."""
        optimum = self.optimum(budget)
        if not optimum.certified:
            raise MemAuditError(
                f"no certified optimum of {self.package.name!r} at budget {budget}: {optimum.note}"
            )
        kept = set(optimum.store)
        return tuple(id for id in self.form.candidate_ids if id in kept)

    def part(self, name: str, keeps: Callable[[str], bool]) -> "OracleView":
        """The same package with only the candidates whose kind passes."""
        if name not in self._parts:
            kept = tuple(c for c in self.package.candidates if keeps(c.kind))
            if len(kept) == len(self.package.candidates):
                return self
            ids = {candidate.id for candidate in kept}
            self._parts[name] = OracleView(
                self.package.replace(
                    name=f"{self.package.name}, {name}",
                    candidates=kept,
                    coverage=tuple(c for c in self.package.coverage if c.candidate in ids),
                ),
                self.seconds,
            )
        return self._parts[name]
