"""The solvers we compare with, all at gap 0, absolute and relative.

The model is the same for all: y[r] <= 1 and y[r] <= sum of shares * x, maximise the sum of
full[r] * y[r]. CP-SAT takes whole levels in place of shares. In one noisy comparison of the two,
shares made SCIP faster on A and C and slower on B, and HiGHS faster on C and slower on A and B.
Everybody gets the same number of threads. SCIP has only one. CP-SAT uses one as well: with two
workers it was never faster on six problems and left four of them open after 15 s, which one worker
solved in less than half a second.
"""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from bench.model import (
    OVER_LIMIT,
    TIME_LIMIT,
    Model,
    Peer,
    PeerResult,
    TooLarge,
    clean,
    evaluate,
    feasible,
)
from memaudit.kernel.errors import install_line
from memaudit.kernel.solvers.packed import Packed
from memaudit.kernel.solvers.solve import usual_threads

THREADS = usual_threads()
"""What every solver gets by default: all cores, up to eight."""

NOT_INSTALLED = f"not installed: {install_line('bench')}"


def solve_with(
    peer: Callable[[Model, float, int], Peer], packed: Packed, seconds: float, threads: int
) -> PeerResult:
    """Clean, build, solve; then value the store exactly, outside the clock."""
    start = perf_counter()
    model = clean(packed)
    if not model.candidates:
        return PeerResult(0, True, perf_counter() - start, 0.0, ())
    try:
        built_peer = peer(model, seconds, threads)
        built = perf_counter()
        built_peer.solve()
    except TooLarge:
        return PeerResult(0, False, 0.0, 0.0, (), OVER_LIMIT)
    end = perf_counter()
    x, proven = built_peer.answer()
    chosen = tuple(
        candidate for candidate, kept in zip(model.candidates, x, strict=False) if kept > 0.5
    )
    note = "" if proven else TIME_LIMIT
    if not feasible(packed, chosen):
        chosen, proven, note = (), False, "gave an infeasible store"
    return PeerResult(evaluate(packed, chosen), proven, built - start, end - built, chosen, note)


class Highs:
    """HiGHS through highspy, its matrix passed row-wise."""

    def __init__(self, model: Model, seconds: float, threads: int) -> None:
        self.highspy: Any = import_module("highspy")
        self.size = len(model.candidates)
        rows: list[list[tuple[int, float]]] = [list(enumerate(model.cost))]
        rows += [[(candidate, 1.0) for candidate in group] for group in model.crowded]
        upper = [model.budget] + [model.group_cap] * len(model.crowded) + [0] * len(model.weight)
        for unit, column in enumerate(model.shares):
            rows.append([(x, -share) for x, share in column] + [(self.size + unit, 1.0)])
        lp = self.highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.size + len(model.weight), len(rows)
        lp.col_cost_ = np.array([0] * self.size + [-full for full in model.full], float)
        lp.col_lower_ = np.zeros(lp.num_col_)
        lp.col_upper_ = np.ones(lp.num_col_)
        lp.row_lower_ = np.full(len(rows), -self.highspy.kHighsInf)
        lp.row_upper_ = np.array(upper, float)
        matrix = lp.a_matrix_
        matrix.format_ = self.highspy.MatrixFormat.kRowwise
        matrix.start_ = np.cumsum([0] + [len(row) for row in rows], dtype=np.int32)
        matrix.index_ = np.array([index for row in rows for index, _ in row], np.int32)
        matrix.value_ = np.array([value for row in rows for _, value in row], float)
        kind = self.highspy.HighsVarType
        lp.integrality_ = [kind.kInteger] * self.size + [kind.kContinuous] * len(model.weight)
        self.highs = self.highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 0.0),
            ("time_limit", float(seconds)),
            ("threads", threads),
        ):
            self.highs.setOptionValue(option, value)
        self.highs.passModel(lp)

    def solve(self) -> None:
        self.highs.run()

    def answer(self) -> tuple[list[float], bool]:
        status = self.highs.getModelStatus()
        x = list(self.highs.getSolution().col_value[: self.size])
        return x, status == self.highspy.HighsModelStatus.kOptimal


class Scip:
    """SCIP through PySCIPOpt."""

    def __init__(self, model: Model, seconds: float, _threads: int) -> None:
        scip: Any = import_module("pyscipopt")
        total = scip.quicksum
        self.model = scip.Model()
        self.model.hideOutput()
        self.model.setParams({"limits/time": seconds, "limits/gap": 0.0, "limits/absgap": 0.0})
        self.x = [self.model.addVar(vtype="B") for _ in model.candidates]
        y = [self.model.addVar(lb=0, ub=1) for _ in model.full]
        spent = total(cost * x for cost, x in zip(model.cost, self.x, strict=True))
        self.model.addCons(spent <= model.budget)
        for group in model.crowded:
            self.model.addCons(total(self.x[i] for i in group) <= model.group_cap)
        for unit, column in enumerate(model.shares):
            self.model.addCons(y[unit] <= total(share * self.x[i] for i, share in column))
        value = total(full * covered for full, covered in zip(model.full, y, strict=True))
        self.model.setObjective(value, "maximize")

    def solve(self) -> None:
        self.model.optimize()

    def answer(self) -> tuple[list[float], bool]:
        if not self.model.getNSols():
            return [], False
        return [self.model.getVal(x) for x in self.x], self.model.getStatus() == "optimal"


class CpSat:
    """CP-SAT of OR-Tools; it works in integers throughout."""

    def __init__(self, model: Model, seconds: float, _threads: int) -> None:
        self.sat: Any = import_module("ortools.sat.python.cp_model")
        total = self.sat.LinearExpr.weighted_sum
        self.model = self.sat.CpModel()
        self.x = [self.model.new_bool_var("") for _ in model.candidates]
        y = [self.model.new_int_var(0, top, "") for top in model.top]
        self.model.add(total(self.x, model.cost) <= model.budget)
        for group in model.crowded:
            kept = [self.x[i] for i in group]
            if model.group_cap == 1:
                self.model.add_at_most_one(kept)
            else:
                self.model.add(sum(kept) <= model.group_cap)
        for unit, column in enumerate(model.columns):
            levels = [level for _, level in column]
            self.model.add(y[unit] <= total([self.x[i] for i, _ in column], levels))
        self.model.maximize(total(y, model.weight))
        self.solver = self.sat.CpSolver()
        # Its defaults on two cores leave out the full linear relaxation and time out on small
        # conversations.
        self.solver.parameters.num_workers = 1
        self.solver.parameters.linearization_level = 2
        self.solver.parameters.max_time_in_seconds = seconds
        self.solver.parameters.relative_gap_limit = 0.0
        self.solver.parameters.absolute_gap_limit = 0.0

    def solve(self) -> None:
        self.status = self.solver.solve(self.model)

    def answer(self) -> tuple[list[float], bool]:
        if self.status not in (self.sat.OPTIMAL, self.sat.FEASIBLE):
            return [], False
        return [self.solver.value(x) for x in self.x], self.status == self.sat.OPTIMAL


@cache
def _gurobi_environment() -> Any:
    environment = import_module("gurobipy").Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    return environment


class Gurobi:
    """Gurobi under the size-limited licence that comes with the wheel."""

    def __init__(self, model: Model, seconds: float, threads: int) -> None:
        self.gurobi: Any = import_module("gurobipy")
        linear = self.gurobi.LinExpr
        self.model = self.gurobi.Model(env=_gurobi_environment())
        for option, value in (
            ("MIPGap", 0.0),
            ("MIPGapAbs", 0.0),
            ("TimeLimit", seconds),
            ("Threads", threads),
        ):
            self.model.setParam(option, value)
        self.x = list(self.model.addVars(len(model.candidates), vtype="B").values())
        y = list(self.model.addVars(len(model.full), ub=1).values())
        self.model.setObjective(linear(model.full, y), self.gurobi.GRB.MAXIMIZE)
        self.model.addLConstr(linear(model.cost, self.x), "<", model.budget)
        for group in model.crowded:
            kept = linear([1] * len(group), [self.x[i] for i in group])
            self.model.addLConstr(kept, "<", model.group_cap)
        for unit, column in enumerate(model.shares):
            covered = linear([share for _, share in column], [self.x[i] for i, _ in column])
            self.model.addLConstr(y[unit], "<", covered)

    def solve(self) -> None:
        try:
            self.model.optimize()
        except self.gurobi.GurobiError as error:
            if error.errno == self.gurobi.GRB.Error.SIZE_LIMIT_EXCEEDED:
                raise TooLarge from None
            raise

    def answer(self) -> tuple[list[float], bool]:
        if not self.model.SolCount:
            return [], False
        return [x.X for x in self.x], self.model.Status == self.gurobi.GRB.OPTIMAL


MODULES = {
    "highs": "highspy",
    "scip": "pyscipopt",
    "cpsat": "ortools",
    "gurobi": "gurobipy",
}
"""Which module each peer needs."""

PEERS: dict[str, Callable[[Packed, float, int], PeerResult]] = {
    "highs": partial(solve_with, Highs),
    "scip": partial(solve_with, Scip),
    "cpsat": partial(solve_with, CpSat),
    "gurobi": partial(solve_with, Gurobi),
}

ONE_THREAD = frozenset({"scip", "cpsat"})
"""The peers that use one thread, whatever they get."""


def missing(peer: str) -> str:
    """What to install for a peer, or an empty string."""
    return "" if find_spec(MODULES[peer]) else NOT_INSTALLED
