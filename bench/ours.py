"""Our own solver under the peers' conditions: same problems, same limits, same exact check."""

from collections.abc import Sequence
from time import perf_counter

from bench.model import TIME_LIMIT, PeerResult, evaluate, feasible
from memaudit.solvers.fast import solve_batch, solve_packed
from memaudit.solvers.packed import Packed
from memaudit.solvers.protocol import Limits

Answer = tuple[int, tuple[int, ...], bool, int]
"""Value, chosen candidates, whether it is proven optimal, upper bound."""


def solve_one(packed: Packed, seconds: float) -> PeerResult:
    """One problem on its own."""
    start = perf_counter()
    answer = solve_packed(packed, Limits(seconds=seconds))
    return checked(packed, answer, perf_counter() - start)


def solve_many(batch: Sequence[Packed], seconds: float) -> list[PeerResult]:
    """A whole batch in one call; each problem's time is its equal part of the batch's."""
    start = perf_counter()
    answers = solve_batch(list(batch), Limits(seconds=seconds * len(batch)))
    each = (perf_counter() - start) / len(batch)
    return [checked(packed, answer, each) for packed, answer in zip(batch, answers, strict=True)]


def checked(packed: Packed, answer: Answer, seconds: float) -> PeerResult:
    """The answer with its store valued again; a store that does not hold proves nothing."""
    claimed, chosen, closed, bound = answer
    chosen = tuple(int(candidate) for candidate in chosen)
    value = evaluate(packed, chosen)
    note = "" if closed else TIME_LIMIT
    if not feasible(packed, chosen):
        value, chosen, note = 0, (), "gave an infeasible store"
    elif value != claimed:
        note = f"claimed {claimed} for a store worth {value}"
    elif closed and bound != value:
        note = f"closed with the bound {bound} above {value}"
    return PeerResult(value, not note, 0.0, seconds, chosen, note)
