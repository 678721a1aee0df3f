"""Compiling the kernels once per machine, on two cores, with a line that says why.

Numba keeps what it compiles on disk. The first large solve after an installation has each half of
the kernels compiled by a process of its own; it and all later ones load them.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from memaudit.solvers.compiled.bound import visit
from memaudit.solvers.compiled.layout import choose_layout
from memaudit.solvers.compiled.primal import improve
from memaudit.solvers.compiled.problem import Open, prepare
from memaudit.solvers.compiled.stage import Stage, Trace
from memaudit.solvers.compiled.types import seal
from memaudit.solvers.packed import SCALE, Packed

LINE = "memaudit: compiling the solver for this machine; this is done once and then kept on disk\n"


def ensure_compiled() -> None:
    """Compile whatever is missing; returns at once when everything is on disk already."""
    if _on_disk():
        return
    sys.stderr.write(LINE)
    sys.stderr.flush()
    # Not in this process: an interrupt in a callback of the compiler leaves half a kernel behind.
    halves = [
        subprocess.Popen(
            [sys.executable, "-m", "memaudit.solvers.compiled.warm", half],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for half in HALVES
    ]  # fmt: skip
    try:
        for process in halves:
            process.wait()
    finally:
        for process in halves:
            if process.poll() is None:
                process.kill()


def _on_disk() -> bool:
    """Whether the largest kernel is in numba's cache."""
    return any(Path(visit.stats.cache_path or ".").glob("ascend.visit-*.nbi"))


def _tiny() -> Open:
    """A problem with two linked groups, to call the kernels with the types they will meet."""
    table = np.array([0, 1, 2] * 2, np.int64)
    packed = Packed(
        cost=np.array([1, 2, 1], np.int64), group=np.array([0, 0, 1], np.int64),
        row_start=np.array([0, 1, 3, 5], np.int64), unit=np.array([0, 0, 1, 0, 1], np.int64),
        level=np.array([1, 2, 1, 1, 1], np.int64), table_start=np.array([0, 3, 6], np.int64),
        table=table, budget=2, group_cap=1,
    )  # fmt: skip
    return prepare(packed, SCALE, np.zeros(2, np.int64))


def _compile_bound() -> None:
    """One half: the bound."""
    state = _tiny()
    stage = Stage(
        state,
        plan := choose_layout(state.core, dense=True),
        plan.break_even(state.core, 1),
        Trace(np.zeros(3, np.int64)),
    )
    stage.bound(1, 0, 1, np.array([-1.0, 1.0]))


def _compile_rest() -> None:
    """The other half: stores and layouts."""
    state = _tiny()
    chosen = np.zeros(len(state.core.cost), np.bool_)
    levels = np.zeros((2, len(state.core.top)), np.int64)
    improve(seal(state.core), chosen, state.budget, 1, *levels)
    choose_layout(state.core)


HALVES = {"bound": _compile_bound, "rest": _compile_rest}

if __name__ == "__main__":
    HALVES[sys.argv[1]]()
