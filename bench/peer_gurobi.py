"""Gurobi, a commercial MILP solver."""

from functools import cache
from importlib import import_module
from typing import Any

from bench.model import Model, TooLarge


@cache
def _gurobi_environment() -> Any:
    environment = import_module("gurobipy").Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    return environment


class Gurobi:
    """Gurobi under the size-limited licence that comes with the wheel."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.gurobi: Any = import_module("gurobipy")
        linear = self.gurobi.LinExpr
        self.model = self.gurobi.Model(env=_gurobi_environment())
        for option, value in (("MIPGap", 0.0), ("MIPGapAbs", 0.0), ("TimeLimit", seconds)):
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
