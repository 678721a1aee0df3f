"""The fast exact solver: one search for small problems, a Lagrangian one for everything larger.

Nothing compiled is imported until a problem is too large for the small search in plain Python, so a
first small solve does not wait for a compiler.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from memaudit.kernel.solvers import small
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.packed import SCALE, Ints, Packed, clean, grain_of, pack, starts_of
from memaudit.kernel.solvers.protocol import Limits, Proof, Solution
from memaudit.kernel.solvers.reference import greedy

SMALL = 64
"""Problems with at most this many candidates start with the small search."""

PLAIN_NODES = 400
SMALL_NODES = 20_000
SHORT_PROOF = 5
"""Nodes of a proof that is not worth shortening."""
TAPE_WORDS = 4096
BATCH_WORDS = 1024

Result = tuple[int, tuple[int, ...], bool, int]
"""Value, chosen candidates, whether proven optimal, upper bound."""


class Fast:
    """Batched small search, block-Lagrangian branch and bound; every result with its proof."""

    name = "fast"

    def accepts(self, form: Form) -> str:
        if pack(form) is None:
            return "numbers or coverage levels too large for 64-bit arithmetic"
        return ""

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        solution = self.try_to_solve(form, limits, hint)
        if solution is None:
            raise ValueError(self.accepts(form))
        return solution

    def try_to_solve(
        self, form: Form, limits: Limits, hint: tuple[int, ...] = ()
    ) -> Solution | None:
        """As `solve`, or None where it does not accept the form."""
        packed = pack(form)
        if packed is None:
            return None
        slack = np.array([level.slack for level in form.levels], dtype=np.int64)
        try:
            return solve_form(packed, limits, np.array(form.group, np.int64), slack, hint)
        except KeyboardInterrupt:
            # The search has not started: the interrupt came while compiling or at the root.
            limits.interrupted = True
            # All the same a feasible store and a valid bound come back: every unit fully covered.
            store = hint or greedy(form)
            most = sum(level.value(level.top) for level in form.levels)
            return Solution(store, form.value(store), most, closed=False)


def solve_form(
    packed: Packed, limits: Limits, groups: Ints, slack: Ints, hint: tuple[int, ...] = ()
) -> Solution:
    """Solve one packed problem; `groups` are the group numbers its proof should use."""
    if len(packed.cost) <= SMALL:
        # Loading numba takes longer than 400 nodes in plain Python. Both ways give the same result,
        # so it does not matter for it who loaded numba, or when.
        compiled = "numba" in sys.modules
        solution = _small(packed, limits, slack, SMALL_NODES if compiled else PLAIN_NODES, compiled)
        if solution is None and not compiled:
            solution = _small(packed, limits, slack, SMALL_NODES, True)
        if solution is not None:
            return solution
    from memaudit.kernel.solvers.compiled.large import solve_large

    _wait_for_kernels(limits, "large")
    large = solve_large(packed, limits, groups, slack, hint)
    return Solution(
        large.chosen,
        large.value,
        large.bound,
        large.closed,
        Proof(large.tape, large.layouts, large.fineness) if large.closed else None,
        {"nodes": large.nodes, "root_bound": large.root_bound, "core": large.core_size},
    )


def _small(
    packed: Packed, limits: Limits, slack: Ints, nodes: int, compiled: bool
) -> Solution | None:
    """The small search on one problem, or None when it needs more nodes than it is given."""
    search: Any = small.small_search
    useful: Any = small.useful
    if compiled:
        from memaudit.kernel.solvers.compiled import problem

        _wait_for_kernels(limits, "small")
        search, useful = problem.small_search, problem.useful
    count = len(packed.cost)
    keep = useful(*packed.rows, packed.tops, packed.budget, packed.useful_cap)
    status = np.where(keep, 0, 2)
    store = np.zeros(count, np.bool_)
    words = TAPE_WORDS
    if limits.nodes is not None:
        nodes = min(nodes, limits.nodes)
    known, grain = -1, grain_of(packed)
    while True:
        tape = np.zeros(words, np.int64)
        scratch = [np.zeros(size, np.int64) for size in _scratch_sizes(packed)]
        value, visited, used, rest = search(
            (*packed.rows, packed.table_start, packed.table, packed.tops, slack),
            *(packed.budget, packed.group_cap, SCALE, grain, known, nodes),
            *(status.copy(), store, *scratch, tape),
        )
        # Stopped: what is left belongs to the large solver, which begins afresh.
        if rest:
            return None
        # The first run finds the best store late and writes what it visits until then. The second
        # has only the proof's nodes. A tape that was too short is written again, longer.
        if used >= 0 and (known >= 0 or visited <= SHORT_PROOF):
            break
        # Search once more, knowing the best value from the start: the proof is shorter.
        known = int(value)
        words *= 4 if used < 0 else 1
    chosen = tuple(np.nonzero(store)[0].tolist())
    proof = Proof(tuple(tape[:used].tolist()))
    return Solution(chosen, int(value), int(value), True, proof, {"nodes": int(visited)})


def _wait_for_kernels(limits: Limits, part: str) -> None:
    from memaudit.kernel.solvers.compiled.kernel_cache import ensure_compiled

    limits.wait_for(lambda: ensure_compiled(part))


def _scratch_sizes(packed: Packed) -> tuple[int, ...]:
    """Sizes of amount, kept, gain, order, branch, won and nets in `small_search`."""
    count = len(packed.cost) + 1
    return len(packed.tops) + 1, count, count, count, count, 2 * count, 2 * packed.group_cap


def solve_packed(packed: Packed, limits: Limits) -> Result:
    """Solve one packed problem without a package."""
    slack = np.zeros(len(packed.tops), np.int64)
    solution = solve_form(clean(packed), limits, packed.group, slack)
    bound = solution.value if solution.bound is None else solution.bound
    return solution.value, solution.chosen, solution.closed, bound


def solve_batch(problems: Sequence[Packed], limits: Limits) -> list[Result]:
    """Solve many small problems in one compiled call, then those that stay open one by one."""
    from memaudit.kernel.solvers.compiled.batch import batch

    _wait_for_kernels(limits, "small")
    candidate_at = starts_of([len(p.cost) for p in problems])
    unit_at = starts_of([len(p.table_start) - 1 for p in problems])
    count = len(problems)
    store = np.zeros(candidate_at[-1], np.bool_)
    value, nodes, used, rest = np.zeros((4, count), np.int64)
    tapes = np.zeros(count * BATCH_WORDS, np.int64)
    batch(
        np.concatenate([p.cost for p in problems]),
        np.concatenate([p.group for p in problems]),
        np.concatenate([p.row_start for p in problems]),
        np.concatenate([p.unit for p in problems]),
        np.concatenate([p.level for p in problems]),
        np.concatenate([p.table_start for p in problems]),
        np.concatenate([p.table for p in problems]),
        np.zeros(unit_at[-1], np.int64),
        candidate_at,
        starts_of([len(p.unit) for p in problems]),
        unit_at,
        starts_of([len(p.table) for p in problems]),
        np.array([p.budget for p in problems], np.int64),
        np.array([p.group_cap for p in problems], np.int64),
        SCALE,
        SMALL_NODES,
        BATCH_WORDS,
        store,
        value,
        nodes,
        tapes,
        used,
        rest,
    )
    results: list[Result] = []
    for i, packed in enumerate(problems):
        if rest[i]:
            results.append(solve_packed(packed, limits))
            continue
        chosen = np.nonzero(store[candidate_at[i] : candidate_at[i + 1]])[0]
        results.append((int(value[i]), tuple(chosen.tolist()), True, int(value[i])))
    return results
