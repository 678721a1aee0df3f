"""Compiling the kernels once per machine, on two cores, with a line that says why.

Numba keeps what it compiles on disk. The first large solve after an installation compiles one
half of the kernels here and the other half in a second process; later ones load them.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from memaudit.solvers.compiled.ascend import ascend
from memaudit.solvers.compiled.bound import (
    dense_losses,
    enter,
    evaluate,
    graph_losses,
    group_losses,
    losses,
    workspace,
)  # fmt: skip
from memaudit.solvers.compiled.layout import choose_layout
from memaudit.solvers.compiled.primal import fill, improve
from memaudit.solvers.compiled.root import Open, Trace, prepare
from memaudit.solvers.compiled.search import UNSET, overfull, put_fixes, put_prices, search
from memaudit.solvers.compiled.types import seal
from memaudit.solvers.packed import SCALE, Packed

LINE = "memaudit: compiling the solver for this machine; this is done once and then kept on disk\n"


def ensure_compiled() -> None:
    """Compile whatever is missing; returns at once when everything is on disk already."""
    if _on_disk():
        return
    sys.stderr.write(LINE)
    sys.stderr.flush()
    other = subprocess.Popen(
        [sys.executable, "-m", "memaudit.solvers.compiled.warm"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        _compile_bound()
        other.wait()
        _compile_search()
    finally:
        if other.poll() is None:
            other.kill()


def _on_disk() -> bool:
    """Whether the last kernel to be compiled is in numba's cache."""
    folder = Path(search.stats.cache_path or ".")
    return any(folder.glob("search.search-*.nbi"))


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
    state = _tiny()
    plan = choose_layout(state.core, dense=True)
    sealed = seal(state.core), seal(plan.layout), seal(workspace(state.core, plan.layout))
    prices = plan.break_even(state.core, 1)
    status, stop = np.zeros(len(state.core.cost), np.int64), np.zeros(1, np.int64)
    value = enter(*sealed, status, state.budget, prices)
    evaluate(*sealed, status, 1, state.budget, value, prices)
    ascend(
        *sealed, status, 1, state.budget, value, prices, 0, 2, np.array([-1.0, 1.0]),
        np.zeros(len(prices)), prices.copy(), stop,
    )  # fmt: skip
    losses(*sealed, status, 1, state.budget, value, prices)


def _compile_stores() -> None:
    state = _tiny()
    sealed = seal(state.core)
    chosen = np.zeros(len(state.core.cost), np.bool_)
    covered, amount = np.zeros((2, len(state.core.top)), np.int64)
    improve(sealed, chosen, state.budget, 1, covered, amount)
    fill(sealed, chosen, state.budget, covered, amount)
    overfull(sealed, np.zeros(len(state.core.cost), np.int64))
    plan = choose_layout(state.core)
    work = seal(workspace(state.core, plan.layout))
    trace = Trace(np.zeros(3, np.int64))
    names = trace.put_layout(plan, state)
    prices = plan.break_even(state.core, 1)
    known = np.full(len(prices), UNSET, np.int64)
    put_prices(sealed, seal(plan.layout), work, 1, prices, known, state.names, names, trace.tape, 0)
    status = np.zeros(len(state.core.cost), np.int64)
    trail = np.zeros(len(status) + 1, np.int64)
    put_fixes(sealed, work, status, 0, 0, state.names, trace.tape, 0, trail, 0)


def _compile_search() -> None:
    state = _tiny()
    plan = choose_layout(state.core)
    trace = Trace(np.zeros(3, np.int64))
    names = trace.put_layout(plan, state)
    prices = plan.break_even(state.core, 1)
    search(
        seal(state.core), seal(plan.layout), seal(workspace(state.core, plan.layout)),
        state.budget, 0, np.zeros(len(state.core.cost), np.bool_), 2, 100, 1, prices,
        np.full(len(prices), UNSET, np.int64), state.names, names, trace.tape, trace.used,
        np.zeros(1, np.int64),
    )  # fmt: skip


def _compile_losses() -> None:
    state = _tiny()
    plan = choose_layout(state.core, dense=True)
    sealed = seal(state.core), seal(plan.layout), seal(workspace(state.core, plan.layout))
    prices = plan.break_even(state.core, 1)
    dense_losses(*sealed, prices)
    group_losses(*sealed, 1)
    plan = choose_layout(state.core)
    sealed = seal(state.core), seal(plan.layout), seal(workspace(state.core, plan.layout))
    graph_losses(*sealed, np.zeros(len(state.core.cost), np.int64))


if __name__ == "__main__":
    _compile_losses()
    _compile_stores()
