"""The compiled kernels on disk: compiled once per machine, by one process while the others wait.

Numba caches what it compiles beside the source (or in NUMBA_CACHE_DIR). It compiles a kernel again
when the kernel's own file changes, but not when a kernel that it calls does. So a key of all kernel
sources is stored with the cache, and a change in any of them drops all of it. Modules without
kernels do not matter.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

import numba
import numpy as np

from memaudit.kernel.parent_watch import end_with_parent

LINE = "memaudit: compiling the solver for this machine; this is done once and then kept on disk\n"

PARTS = {"small": ("small",), "large": ("bound", "hull", "rest")}
"""What can be needed without the other, and the processes that compile each at the same time."""

KEY_FILE, LOCK, DONE = "kernels.key", "kernels.lock", ".compiled"

_ready: set[str] = set()
"""The parts that this process knows to be on disk, or compiles itself."""


def ensure_compiled(*parts: str) -> None:
    """Compile parts that are not on disk yet, with a line on stderr that explains the wait."""
    if _ready.issuperset(parts):
        return
    from memaudit.kernel.solvers.compiled.types import CACHE

    for part in parts:
        done = CACHE / f"{part}{DONE}"
        if not done.exists():
            with _locked(CACHE):
                # Whoever held the lock may have compiled it meanwhile.
                if not done.exists():
                    sys.stderr.write(LINE)
                    sys.stderr.flush()
                    if _compile_apart(PARTS[part]):
                        done.touch()
        _ready.add(part)


def _compile_apart(pieces: tuple[str, ...]) -> bool:
    """Compile in other processes: an interrupt inside the compiler would leave half a kernel."""
    # The same copy of the program, however this process came to import it.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    script = f"import sys; from {__name__} import compile_for; compile_for(*sys.argv[1:])"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, piece, str(os.getpid())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for piece in pieces
    ]
    try:
        codes = [process.wait() for process in processes]
        return not any(codes)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()


def compile_for(piece: str, parent: str) -> None:
    """Compile for a process that waits for it."""
    end_with_parent(int(parent))
    compile_piece(piece)


def compile_piece(piece: str) -> None:
    """Call kernels with the types they will meet, so that numba compiles and stores them."""
    _ready.update(PARTS)
    from memaudit.kernel.solvers.compiled.blocks import choose_layout
    from memaudit.kernel.solvers.compiled.frontiers import component_frontier
    from memaudit.kernel.solvers.compiled.hull_solve import search_at_once
    from memaudit.kernel.solvers.compiled.primal import drop_waste, improve, shake
    from memaudit.kernel.solvers.compiled.problem import prepare
    from memaudit.kernel.solvers.compiled.stage import Stage, Trace
    from memaudit.kernel.solvers.compiled.types import seal
    from memaudit.kernel.solvers.fast import solve_batch, solve_packed
    from memaudit.kernel.solvers.packed import SCALE, Packed
    from memaudit.kernel.solvers.protocol import Limits

    # Two linked groups.
    packed = Packed(
        cost=np.array([1, 2, 1], np.int64),
        group=np.array([0, 0, 1], np.int64),
        row_start=np.array([0, 1, 3, 5], np.int64),
        unit=np.array([0, 0, 1, 0, 1], np.int64),
        level=np.array([1, 2, 1, 1, 1], np.int64),
        table_start=np.array([0, 3, 6], np.int64),
        table=np.array([0, 1, 2] * 2, np.int64),
        budget=2,
        group_cap=1,
    )
    if piece == "small":
        solve_packed(packed, Limits())
        solve_batch([packed], Limits())
        return
    state = prepare(packed, SCALE, np.zeros(2, np.int64))
    core = state.core
    if piece == "bound":
        plan = choose_layout(core, dense=True)
        stage = Stage(state, plan, plan.break_even(core, 1), Trace(np.zeros(3, np.int64)))
        stage.bound(1, 0, 1, np.array([-1.0, 1.0]))
    elif piece == "hull":
        search_at_once(state)
    else:
        levels = np.zeros((2, len(core.top)), np.int64)
        store = np.zeros(len(core.cost), np.bool_)
        improve(seal(core), store, state.budget, 1, *levels)
        shake(seal(core), store, state.budget, 1, *levels)
        drop_waste(seal(core), store, *levels)
        component_frontier(seal(core), seal(choose_layout(core).layout), state.budget)


def drop_stale(folder: Path) -> None:
    """Forget the kernels of a cache folder that were compiled from other sources."""
    key_file = folder / KEY_FILE
    with suppress(OSError):
        if key_file.read_text() == sources_key():
            return
    with suppress(OSError):
        for path in (*folder.glob("*.nbi"), *folder.glob(f"*{DONE}")):
            path.unlink(missing_ok=True)
        fresh = key_file.with_name(f"{KEY_FILE}.{os.getpid()}")
        fresh.write_text(sources_key())
        fresh.replace(key_file)


@cache
def sources_key() -> str:
    """A hash of every source with a kernel and of the versions that compile it."""
    key = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    for path in kernel_sources():
        key.update(path.name.encode() + hashlib.sha256(path.read_bytes()).digest())
    return key.hexdigest()


def kernel_sources() -> list[Path]:
    """The modules of this package that hold kernels, and small.py, which two of them compile."""
    own = Path(__file__)
    modules = [path for path in own.parent.glob("*.py") if path != own]
    kernels = [path for path in modules if b"njit(" in path.read_bytes()]
    return sorted([*kernels, own.parent.with_name("small.py")])


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process compiles; where a file system has no locks, do not wait."""
    with (folder / LOCK).open("ab") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    import_module("memaudit.kernel.solvers.compiled.kernel_cache").ensure_compiled(*PARTS)
