"""Value at every budget, for some packages of a run: the frontier of each, and what writers reach.

The packages are generated again from distribution and seed.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.frontier import frontier
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, RunRowData
from memaudit.lab.sweeps.runs.spec import named_source
from memaudit.show.page_charts import OPT, FrontierCurve, WriterPoint

MOST_CURVES, FEWEST_CURVES = 6, 3
MOST_CANDIDATES, MOST_BUDGET = 200, 2000
"""For larger packages a curve takes long, and OPT is shown only at the run's budgets."""


def choose_packages(run: FinishedRunData) -> list[tuple[str, int]]:
    """The first package of every distribution, or more of each if there are few."""
    names = [grid.distribution for grid in run.grids][:MOST_CURVES]
    # One or two distributions would give one or two curves, which show no spread.
    each = math.ceil(FEWEST_CURVES / len(names))
    chosen = []
    for grid in run.grids[: len(names)]:
        different = run.seeds if grid.distinct > 1 else run.seeds[:1]
        chosen += [(grid.distribution, seed) for seed in different[:each]]
    return chosen


def frontier_curves(
    run: FinishedRunData, packages: Sequence[tuple[str, int]]
) -> list[FrontierCurve]:
    """The curves of the packages with these distributions and seeds, in the order given."""
    rows = run.rows_of(packages)
    return [_curve(run, name, seed, rows[name, seed]) for name, seed in packages]


def _curve(run: FinishedRunData, name: str, seed: int, rows: Sequence[RunRowData]) -> FrontierCurve:
    package = _made_again(run, name, seed, rows)
    # An eighth beyond the largest budget, so that the curve does not end at its last point.
    last = max(1, math.ceil(max(run.amounts) * Fraction(9, 8)))
    steps: tuple[tuple[int, float], ...] = ()
    if len(package.candidates) <= MOST_CANDIDATES and last <= MOST_BUDGET:
        rises = frontier(package, last).steps()
        steps = tuple((budget, float(value)) for budget, value in rises if budget < last)
    optima = {exact(row["budget"]): row["optimum"] for row in rows if row["certificate"]}
    return FrontierCurve(
        distribution=name,
        seed=seed,
        steps=steps,
        last=last,
        optima=tuple(sorted(optima.items())),
        reached=tuple(
            WriterPoint(run.members[row["writer"]], exact(row["budget"]), row["value"])
            for row in rows
            if row["writer"] != OPT
        ),
    )


def _made_again(run: FinishedRunData, name: str, seed: int, rows: Sequence[RunRowData]) -> Package:
    distribution = named_source(name)
    package = distribution.package(seed if distribution.draws else 0)
    made = digest(package)
    version = run.manifest["versions"]["memaudit"]
    # A row vouches for the package by its digest: a page about another package would be wrong
    # without a word.
    for row in rows:
        if row["digest"] != made:
            raise MemAuditError(
                f"{name}, seed {seed}: the package made now has digest {made[:12]}, the run's rows "
                f"say {row['digest'][:12]}; build the report with memaudit {version}, or run "
                "the sweep again"
            )
    return package
