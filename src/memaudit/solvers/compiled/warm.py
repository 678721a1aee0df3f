"""Compiling the kernels once per machine, on two cores, with a line that says why.

Numba keeps what it compiles on disk. The first large solve after an installation compiles one
half of the kernels here and the other half in a second process; later ones load them.
"""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from memaudit.solvers.compiled.ascend import visit
from memaudit.solvers.compiled.layout import choose_layout
from memaudit.solvers.compiled.primal import improve
from memaudit.solvers.compiled.problem import Open, prepare
from memaudit.solvers.compiled.stage import Stage
from memaudit.solvers.compiled.trace import Trace
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
        with interrupts_kept():
            _compile_bound()
        other.wait()
    finally:
        if other.poll() is None:
            other.kill()


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Raise at the end a Ctrl-C that fell into a callback of the compiler.

    Python cannot pass an exception on through C: it would print a traceback and drop it.
    """
    before, lost = sys.unraisablehook, threading.Event()

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            lost.set()
        else:
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
    if lost.is_set():
        raise KeyboardInterrupt


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
    """This process's half: the bound."""
    state = _tiny()
    stage = Stage(
        state,
        plan := choose_layout(state.core, dense=True),
        plan.break_even(state.core, 1),
        Trace(np.zeros(3, np.int64)),
    )
    stage.bound(1, 0, 1, np.array([-1.0, 1.0]))


def _compile_rest() -> None:
    """The other process's half: stores and layouts."""
    state = _tiny()
    chosen = np.zeros(len(state.core.cost), np.bool_)
    levels = np.zeros((2, len(state.core.top)), np.int64)
    improve(seal(state.core), chosen, state.budget, 1, *levels)
    choose_layout(state.core)


if __name__ == "__main__":
    _compile_rest()
