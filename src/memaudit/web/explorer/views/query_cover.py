"""The cheapest store that covers a query as far as the package's candidates can, exactly."""

from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.objective import value
from memaudit.core.package import Package, Query
from memaudit.solvers.solve import PackageSolver
from memaudit.web.explorer.library.opened import Opened

MOST_CANDIDATES = 150
SECONDS = 1.0
"""Beyond these the search could take long; the page then gives no cost."""


@dataclass(frozen=True, slots=True)
class Cover:
    """What covering a query costs at least. `whole` if all of every unit can be covered."""

    cost: Fraction
    store: tuple[str, ...]
    whole: bool


def cheapest(opened: Opened, query: Query) -> Cover | None:
    """The cheapest store that is worth as much for this query as any; None where it is not proven.

    The package with this query's units alone is solved at ever smaller budgets, until its value
    falls.
    """
    part = _only(opened, query)
    if part is None or len(part.candidates) > MOST_CANDIDATES:
        return None
    solver = PackageSolver(part)
    found = solver.solve(part.total_cost(part.candidate), seconds=SECONDS)
    best = found
    grain = Fraction(1, solver.form.cost_scale)
    while found.certified and found.value == best.value and found.cost > 0:
        best = found
        found = solver.solve(found.cost - grain, seconds=SECONDS)
    if not found.certified:
        return None
    best = found if found.value == best.value else best
    everything = sum(
        (unit.response.at(unit.response.saturates_at or Fraction(1)).low * part.weights[unit.id]
         for unit in part.units), Fraction(0),
    )  # fmt: skip
    return Cover(best.cost, best.store, value(part, best.store).low >= everything)


def _only(opened: Opened, query: Query) -> Package | None:
    """The package with nothing but what this query requires; None where no candidate helps."""
    units = tuple(
        unit.model_copy(update={"weight": Fraction(1)})
        for unit in opened.units
        if unit.id in query.required
    )
    places = sorted({
        place for unit in units for place, _ in opened.coverers[opened.unit_at[unit.id]]
    })  # fmt: skip
    if not places:
        return None
    ids = {opened.candidates[place].id for place in places}
    return opened.package.replace(
        candidates=tuple(opened.candidates[place] for place in places),
        units=units,
        queries=(),
        coverage=tuple(
            cell
            for cell in opened.package.coverage
            if cell.candidate in ids and cell.unit in query.required
        ),
    )
