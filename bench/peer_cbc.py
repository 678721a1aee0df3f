"""CBC, an open MILP solver."""

from importlib import import_module
from typing import Any

from bench.model import Model


class Cbc:
    """CBC the way most people call it, through PuLP."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.pulp: Any = import_module("pulp")
        total, variable = self.pulp.LpAffineExpression, self.pulp.LpVariable
        self.x = [variable(f"x{i}", cat="Binary") for i in range(len(model.candidates))]
        y = [variable(f"y{unit}", 0, 1) for unit in range(len(model.full))]
        self.problem = self.pulp.LpProblem("store", self.pulp.LpMaximize)
        self.problem += total(list(zip(y, model.full, strict=True)))
        self.problem += total(list(zip(self.x, model.cost, strict=True))) <= model.budget
        for group in model.crowded:
            self.problem += total([(self.x[i], 1) for i in group]) <= model.group_cap
        for unit, column in enumerate(model.shares):
            covered = [(self.x[i], -share) for i, share in column]
            self.problem += total([*covered, (y[unit], 1)]) <= 0
        self.command = self.pulp.PULP_CBC_CMD(msg=False, gapRel=0, gapAbs=0, timeLimit=seconds)

    def solve(self) -> None:
        self.problem.solve(self.command)

    def answer(self) -> tuple[list[float], bool]:
        proven = self.problem.sol_status == self.pulp.LpSolutionOptimal
        return [variable.value() or 0.0 for variable in self.x], proven
