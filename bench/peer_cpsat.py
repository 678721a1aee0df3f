"""CP-SAT, an open constraint solver."""

from importlib import import_module
from typing import Any

from bench.model import Model


class CpSat:
    """CP-SAT of OR-Tools; it works in integers throughout."""

    def __init__(self, model: Model, seconds: float) -> None:
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
        # Measured: its defaults on two cores leave out the full linear relaxation and time out on
        # small conversations; one worker with it beat a portfolio of eight on most problems.
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
