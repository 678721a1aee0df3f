"""The solvers we compare with, all at gap 0, absolute and relative.

The model is the same for all: y[r] <= 1 and y[r] <= sum of shares * x, maximise the sum of
full[r] * y[r]. CP-SAT takes whole levels in place of shares. One noisy comparison of the two:
with shares SCIP was faster on A and C and slower on B, HiGHS faster on C and slower on A and B;
CBC proved 16 of 18 in C within 20 s with shares and all 18 with levels.
Everybody uses its own default threads, but for CP-SAT, which is better off with one.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from time import perf_counter

from bench.model import (
    OVER_LIMIT,
    TIME_LIMIT,
    Model,
    Peer,
    PeerResult,
    TooLarge,
    clean,
    evaluate,
    feasible,
)
from bench.peer_cbc import Cbc
from bench.peer_cpsat import CpSat
from bench.peer_gurobi import Gurobi
from bench.peer_highs import Highs
from bench.peer_scip import Scip
from memaudit.solvers.packed import Packed

NOT_INSTALLED = "not installed: pip install memaudit[bench]"


def solve_with(peer: Callable[[Model, float], Peer], packed: Packed, seconds: float) -> PeerResult:
    """Clean, build, solve; then value the store exactly, outside the clock."""
    start = perf_counter()
    model = clean(packed)
    if not model.candidates:
        return PeerResult(0, True, perf_counter() - start, 0.0, ())
    try:
        built_peer = peer(model, seconds)
        built = perf_counter()
        built_peer.solve()
    except TooLarge:
        return PeerResult(0, False, 0.0, 0.0, (), OVER_LIMIT)
    end = perf_counter()
    x, proven = built_peer.answer()
    chosen = tuple(
        candidate for candidate, kept in zip(model.candidates, x, strict=False) if kept > 0.5
    )
    note = "" if proven else TIME_LIMIT
    if not feasible(packed, chosen):
        chosen, proven, note = (), False, "gave an infeasible store"
    return PeerResult(evaluate(packed, chosen), proven, built - start, end - built, chosen, note)


MODULES = {
    "highs": "highspy",
    "cbc": "pulp",
    "scip": "pyscipopt",
    "cpsat": "ortools",
    "gurobi": "gurobipy",
}
"""Which module each peer needs."""

PEERS: dict[str, Callable[[Packed, float], PeerResult]] = {
    "highs": partial(solve_with, Highs),
    "cbc": partial(solve_with, Cbc),
    "scip": partial(solve_with, Scip),
    "cpsat": partial(solve_with, CpSat),
    "gurobi": partial(solve_with, Gurobi),
}


def missing(peer: str) -> str:
    """What to install for a peer, or an empty string."""
    return "" if find_spec(MODULES[peer]) else NOT_INSTALLED
