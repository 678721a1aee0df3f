"""SCIP, an open MILP solver."""

from importlib import import_module
from typing import Any

from bench.model import Model


class Scip:
    """SCIP through PySCIPOpt."""

    def __init__(self, model: Model, seconds: float) -> None:
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
