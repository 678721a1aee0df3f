"""HiGHS, an open MILP solver."""

from importlib import import_module
from typing import Any

import numpy as np

from bench.model import Model


class Highs:
    """HiGHS through highspy, its matrix passed row-wise."""

    def __init__(self, model: Model, seconds: float) -> None:
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
            ("output_flag", False), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0),
            ("time_limit", float(seconds)),
        ):  # fmt: skip
            self.highs.setOptionValue(option, value)
        self.highs.passModel(lp)

    def solve(self) -> None:
        self.highs.run()

    def answer(self) -> tuple[list[float], bool]:
        status = self.highs.getModelStatus()
        x = list(self.highs.getSolution().col_value[: self.size])
        return x, status == self.highspy.HighsModelStatus.kOptimal
