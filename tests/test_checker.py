"""The checker under attack: no certificate passes whose value is below the true optimum."""

from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from memaudit.kernel import checker
from memaudit.kernel.checker import Q, _Checker, _Fails, _Layout, _Node, _Problem, verify
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Certificate, Layout
from memaudit.kernel.package.package import Coverage, EvidenceUnit, Package
from memaudit.kernel.package.response import Log1p
from memaudit.kernel.solvers.compiled.problem import prepare
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.packed import pack
from memaudit.kernel.solvers.solve import solve
from tests.forgeries import EDITS, instructions, priced, with_store
from tests.kernel.solvers.random_forms import random_package, random_package_with_parts, with_parts
from tests.kernel.solvers.test_hull import random_package as two_levels
from tests.proofs import (
    Cell,
    certificate,
    faint,
    package,
    prove,
    random_layout,
    random_mu,
    random_prices,
    stores,
    worth_of,
)

F = Fraction

# By hand. Candidate 0 is a (group 0), 1 is b (group 1), 2 is c (group 2); unit 0 is x, 1 is y. All
# cost 2 and all weights are 1, so values are 0, 1 and 2. Two are worth 2: {a}, and {b, c}.
PAIR = package(
    "a:e0:2 b:e1:2 c:e2:2",
    {"x": 1, "y": 1},
    [("a", "x", 1), ("a", "y", 1), ("b", "x", 1), ("c", "y", 1)],
)
WHOLE: Layout = (((0, 1), (0, 1, 2)),)
APART: Layout = (((0,), (~0, 1)), ((1,), (2, ~0)))


@pytest.mark.parametrize(
    ("budget", "proof"),
    [
        (2, (2, 1024, 0)),  # mu 1: 2 for the budget, nobody earns more than they pay
        (2, (4, 0, 1, 0, 0)),  # at mu 0 the bound is 4, without a only 2: keep a
        (2, (2, 1024, 4, 2, 1, 2, 0, 0)),  # ban b and c, which would lose 1 each
        (2, (1, 0, 1, 1, 7, 0, 0)),  # a and b together break the budget
        (2, (1, 0, 0, 0)),  # with a nothing else fits; without it b and c are worth 2
        (4, (5, 0)),  # at prices 0 each block has one unit to win
        (4, (3, 4, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0, 0)),  # the same, price by price
        (4, (6, 0, 0)),  # one block with everything inside: the exact optimum
        (4, (6, 1, 3, 2, 0, 0, 0, 0, 1, 0, 0)),  # b inside x, c inside y, a free in both
        (4, (5, 6, 1, 0)),  # the default price survives a layout
    ],
)
def test_words_that_prove(budget: int, proof: tuple[int, ...]) -> None:
    """Every word of the language, in a proof that two is all there is."""
    verdict = verify(PAIR, certificate(PAIR, budget, 2, "a", *proof, layouts=(WHOLE, APART)))
    assert verdict.valid, verdict.reason
    assert (verdict.low, verdict.high) == (2, 2)


WEAK = "the bound does not exclude a better store"


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        ((0,), WEAK),  # a earns 2, b and c 1 each: 4
        ((2, 512, 0), WEAK),  # 2 for the budget and 1 for a: 3, the target itself
        ((3, 2, 0, 0, 0, 0, 1, 0, 0), WEAK),  # a costs nothing but b and c still earn 2
        ((5, 3, 2, 0, 0, 1024, 0, 1, 1024, 0), WEAK),  # a earns 2, b and c are free
        ((6, 1, 0), WEAK),
        ((4, 0, 1, 1, 0), "keeping candidate 1 is not justified"),  # 4 - 1 = 3
        ((4, 1, 0, 0, 0), "banning candidate 0 is not justified"),
        ((4, 0, 1, 9, 0), "keeping candidate 9 is not justified"),
        ((4, 0, 2, 0, 0, 0), "a candidate is fixed twice"),
        ((2, 4096, 4, 1, 0, 1, 0, 0), "not justified"),
        ((1, 0, 4, 0, 1, 0, 0, 0), "keeping candidate 0 is not justified"),
        ((1, 0, 1, 0, 0, 0, 0), "branch on candidate 0, which is not open"),
        ((1, 3, 0, 0), "branch on candidate 3, which is not open"),
        ((1, -1, 0, 0), "branch on candidate -1, which is not open"),
        ((7,), "what is kept breaks no constraint"),
        ((1, 0, 7, 0), "what is kept breaks no constraint"),
        ((2, -1, 0), "-1 where a number of at least 0 is expected"),
        ((3, -1, 0), "-1 where"),
        ((4, -1, 0, 0), "-1 where"),
        ((6, -1, 0), "-1 where"),
        ((3, 1, 0, 0, -5, 0), "-5 where"),
        ((6, 9, 0), "a layout that does not exist"),
        ((6, 10**30, 0), "a layout that does not"),
        ((9,), "unknown word 9"),
        ((2, 0, 8, 0), "unknown word 8"),
        ((-1,), "unknown word -1"),
        ((), "ends too early"),
        ((1, 0, 0), "ends too early"),
        ((2,), "ends too early"),
        ((3, 10**30, 0, 0, 0), "ends too early"),
        ((4, 10**30, 0), "ends too early"),
        ((5, 0, 0), "continues after its last leaf"),
        ((2, True, 0), "other than whole numbers"),
        ((2, float("nan"), 0), "other than whole numbers"),
    ],
)
def test_words_that_do_not(proof: tuple[int, ...], reason: str) -> None:
    """The same claim at budget 4, not proven."""
    verdict = verify(PAIR, certificate(PAIR, 4, 2, "a", *proof, layouts=(WHOLE, APART)))
    assert not verdict.valid
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ((((0,), ()), ((0,), ())), "unit 0 of block 1 is unknown or in two blocks"),
        ((((2,), ()),), "unit 2 of block 0 is unknown"),
        ((((-1,), ()),), "unit -1 of block 0 is unknown"),
        ((((0,), (1,)), ((1,), (1,))), "group 1 cannot be inside block 1"),
        ((((0,), (0,)),), "group 0 is not inside block 0"),  # a covers y too
        ((((1,), (1,)),), "group 1 is not inside block 0"),
        ((((0,), (0, 1)), ((1,), (2,))), "group 0 is not inside block 0"),
    ],
)
def test_layouts_that_are_refused(layout: Layout, reason: str) -> None:
    """Blocks that overlap, and groups that are not inside their block."""
    verdict = verify(PAIR, certificate(PAIR, 4, 2, "a", 6, 0, 5, 0, layouts=(layout,)))
    assert not verdict.valid
    assert reason in verdict.reason


def test_groups_are_inside_blocks_only_at_cap_1() -> None:
    """Two of a group would be two layers of the block; the checker does not do that."""
    inside = certificate(PAIR, 4, 2, "a", 6, 0, 0, layouts=(WHOLE,), cap=2)
    assert "cannot be inside" in verify(PAIR, inside).reason
    named: Layout = (((0, 1), (~0, ~1, ~2)),)
    assert verify(PAIR, replace(inside, layouts=(named,), proof=(6, 0, 5, 0))).valid


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"package": "0" * 64}, "another package"),
        ({"budget": F(-1)}, "must be at least 1"),
        ({"group_cap": 0}, "must be at least 1"),
        ({"group_cap": 1.5}, "other than whole numbers"),
        ({"scale": 0}, "the scale of this package is 1"),
        ({"scale": 2}, "the scale of this package is 1"),
        ({"value": F(3)}, "the store is worth 2, not 3"),
        ({"value": F(1)}, "the store is worth 2, not 1"),
        ({"value": F(10**5000)}, "not a number of more than 1000 digits"),
        ({"store": ("a", "a")}, "kept twice"),
        ({"store": ("z",)}, "unknown candidate 'z'"),
        ({"store": ("a", "b", "c")}, "exceeds the budget"),
        ({"store": ()}, "the store is worth 0, not 2"),
    ],
)
def test_claims_that_are_refused(change: dict[str, Any], reason: str) -> None:
    """What stands around the proof."""
    good = certificate(PAIR, 4, 2, "a", 5, 0)
    assert verify(PAIR, good).valid
    verdict = verify(PAIR, replace(good, **change))
    assert not verdict.valid
    assert reason in verdict.reason


def test_a_coarse_scale_proves_nothing() -> None:
    """Four quarters of a unit of weight 2 are worth 2; in whole numbers 1, 1, 2, 2 bend upwards."""
    quarters = package("a:e0:1 b:e1:1 c:e2:1 d:e3:1", {"x": 2}, [(id, "x", "1/4") for id in "abcd"])
    proof = (1, 0, 0, 1, 1, 0, 1, 2, 0, 1, 3, 0, 0)
    for scale in range(1, 9):
        claim = certificate(quarters, 4, 1, "ab", *proof, scale=scale)
        assert not verify(quarters, claim).valid
    assert verify(quarters, certificate(quarters, 4, 2, "abcd", 5, 0, scale=4)).valid


def test_rounding_that_bends_upwards() -> None:
    """Of 1, 2, 3 times z the third gain exceeds the second, by rounding alone.

    d is worth a grid step less than all three. A proof that it is best takes, after a, the second
    gain for the third.
    """
    z = F("1.01e-10")
    h = [Log1p().at(times * z).high for times in range(4)]
    scale = Log1p().grain(F(1, z.denominator))
    assert h[1] + 2 * (h[2] - h[1]) < h[3]
    tiny = package("a:e0:1 b:e1:1 c:e2:1 d:e3:3", {"x": 1}, [(id, "x", z) for id in "abc"], Log1p())
    other = EvidenceUnit(id="y", kind="fact", weight=h[3] - F(1, scale))
    tiny = tiny.replace(
        units=(*tiny.units, other),
        coverage=(*tiny.coverage, Coverage(candidate="d", unit="y", value=F(1))),
    )
    proof = (1, 3, 0, 1, 0, 0, 0)
    assert WEAK in verify(tiny, certificate(tiny, 3, other.weight, "d", *proof, scale=scale)).reason
    best = solve(tiny, budget=3)
    assert best.certified
    assert set(best.store) == {"a", "b", "c"}


@pytest.mark.parametrize("order", [(0, 0, 1), (0, ~0, 1), (~0, ~0, ~1), (0, 1)])
def test_a_group_named_twice_counts_once(order: tuple[int, ...]) -> None:
    """Forcing a in costs mu * 2 - 16 once; twice would ban a, which alone is worth 8."""
    pair = package("a:e0:2 b:e1:2", {"x": 8}, [("a", "x", 1), ("b", "x", "1/2")])
    layouts: tuple[Layout, ...] = ((((0,), order),),)
    for mu in range(0, 30_000, 512):
        proof = (6, 0, 5, 2, mu, 4, 1, 0, 0, 2, 0, 0)
        claim = certificate(pair, 2, 4, "b", *proof, layouts=layouts, scale=2)
        assert verify(pair, claim).reason == "banning candidate 0 is not justified"


def test_a_cap_beyond_all_candidates() -> None:
    """It costs no memory, and means that everything may be kept."""
    for proof, valid in (((5, 0), True), ((2, 1024, 0), False), ((4, 0, 1, 1, 0), False)):
        assert verify(PAIR, certificate(PAIR, 4, 2, "a", *proof, cap=10**12)).valid == valid


def test_nothing_to_store() -> None:
    """No candidates, no units, no budget: the empty store is best, and one leaf says so."""
    nothing = Package(name="nothing", experiences=(), candidates=(), units=())
    assert verify(nothing, certificate(nothing, 0, 0, "", 0)).valid
    assert verify(PAIR, certificate(PAIR, 0, 0, "", 0)).valid
    assert not verify(PAIR, certificate(PAIR, 2, 0, "", 0)).valid


def test_equal_candidates_of_a_group() -> None:
    """Of three equal ones the first stays in the proof, whichever the store keeps."""
    same = package("a:e0:1 b:e0:1 c:e0:1", {"x": 1}, [(id, "x", 1) for id in "abc"])
    for id in "abc":
        assert verify(same, certificate(same, 1, 1, id, 0)).valid
    assert not verify(same, certificate(same, 1, 1, "c", 1, 2, 0, 0)).valid
    assert not verify(same, certificate(same, 1, 0, "", 1, 0, 7, 0)).valid


def test_numbers_too_long_to_print() -> None:
    """A hundred weights without common denominators: refused in words, not with a traceback."""
    names = [f"u{i}" for i in range(100)]
    many = package(
        "a:e0:1",
        {name: F(1, 10**55 + i) for i, name in enumerate(names)},
        [("a", name, 1) for name in names],
    )
    good = solve(many, 1, solver="reference").certificate
    assert good is not None
    assert verify(many, good).valid
    for forged in (replace(good, value=F(1)), replace(good, scale=1)):
        assert "a number of more than 1000 digits" in verify(many, forged).reason


# Work.


def wide(count: int) -> Package:
    """A candidate per unit, and a last one that covers all units: 2**count states in one block."""
    names = [chr(97 + i) for i in range(count)]
    cells: list[Cell] = [(name, name, "1/2") for name in names]
    cells += [("z", name, "1/2") for name in names]
    words = [f"{name}:e{place:02}:1" for place, name in enumerate([*names, "z"])]
    return package(" ".join(words), dict.fromkeys(names, 1), cells)


@pytest.mark.parametrize("word", [(0,), (4, 0, 0, 0)])
def test_a_block_that_explodes(word: tuple[int, ...]) -> None:
    """Two to the twenty-fifth states are refused before they are there."""
    large = wide(25)
    layout: Layout = ((tuple(range(25)), ()),)
    claim = certificate(large, 26, 0, "", 6, 0, 5, *word, layouts=(layout,), scale=2)
    verdict = verify(large, claim)
    assert verdict.reason == "a block asks for too much work"


@pytest.mark.parametrize(
    "proof",
    [
        (4, 0, 0) * 9999,
        (3, 0) * 99_999,
        (2, 0) * 99_999,
        (6, 0) * 99_999,
        (3, 3000, *range(9000), *((3, 1, 0, 0, 0) * 9999)),
        (1, 0, 1, 1, 1, 2, *((3, 0) * 99_999)),
    ],
    ids=["fixes", "prices", "multipliers", "layouts", "many prices", "deep"],
)
def test_long_proofs_are_paid_for(monkeypatch: pytest.MonkeyPatch, proof: Any) -> None:
    """Every word costs what it copies or looks at."""
    monkeypatch.setattr(checker, "MOST_STEPS", 100_000)
    claim = certificate(PAIR, 4, 2, "a", *proof, layouts=(WHOLE,))
    assert verify(PAIR, claim).reason == "the proof asks for too much work"


def test_nodes_that_wait_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes left for later hold their prices; all of them together are limited."""
    monkeypatch.setattr(checker, "MOST_PENDING", 1000)
    prices = (3, 100, *(word for i in range(100) for word in (0, i, 0)))
    deep = tuple(word for u in range(25) for word in (*prices, 1, u))
    large = wide(25)
    claim = certificate(large, 26, 0, "", *deep, scale=2)
    assert verify(large, claim).reason == "the proof asks for too much memory"


# Random attacks.


def drawn(seed: int) -> tuple[Package, Fraction, int, Random]:
    """A small package of any h, a budget and a cap."""
    random = Random(seed)
    found = random_package(seed, irrational=random.random() < 0.5, groups=3)
    if random.random() < 0.3:
        found = faint(found)
    total = sum((candidate.cost for candidate in found.candidates), F(0))
    budget = total * random.choice((F(0), F(1, 3), F(1, 2), F(3, 4), F(2)))
    return found, budget, random.choice((1, 1, 2, 3)), random


Stores = list[tuple[frozenset[int], int]]
"""Every feasible store with its value."""


def check_useful(problem: _Problem, everything: Stores) -> None:
    """What is left out because others can replace it is not needed for the best store."""
    best = max(value for _, value in everything)
    for across in (False, True):
        left = set(problem.useful(across=across))
        assert best == max(value for store, value in everything if store <= left)


def check_bound(
    problem: _Problem, everything: Stores, random: Random, keeps: float = 0.2
) -> tuple[int, _Node, int]:
    """Weak duality itself: at any decisions, layout and multipliers no store that the node allows
    is above its bound. How many stores were compared, the node and its bound."""
    useful = problem.useful(across=random.random() < 0.5)
    kept = {u for u in useful if random.random() < keeps}
    free = tuple(u for u in useful if u not in kept and random.random() < 0.85)
    node = _Node(free, problem.budget, _Layout(problem, random_layout(problem, random)))
    node.mu, node.free = random_mu(problem, random), random.random() < 0.3
    node.prices = {(u, b): p for u, b, p in random_prices(problem, 3, random)}
    guard = _Checker(problem, 0)
    guard.keep(node, sorted(kept))
    bound = guard.bound(node, falls=True)
    allowed = [entry for entry in everything if kept <= entry[0] <= kept.union(free)]
    for store, value in allowed:
        falls = [bound.fall_in[u] for u in store if u in bound.fall_in]
        falls += [fall for u, fall in bound.fall_out.items() if u not in store]
        assert bound.total - max(falls, default=0) >= Q * value
    return len(allowed), node, bound.total


def check_losers(
    found: Package, budget: Fraction, cap: int, everything: Stores, random: Random
) -> int:
    """The prover that takes all the checker gives proves no store that is not the best. How many
    it tried."""
    problem = _Problem(found).at(budget, cap)
    best = max(value for _, value in everything)
    losers = sorted((store for store, value in everything if value < best), key=sorted)
    losers.sort(key=lambda store: -worth_of(problem, store))
    for store in losers[:2]:
        assert prove(found, budget, cap, store, random) is None
    return len(losers[:2])


def test_no_bound_is_below_a_store() -> None:
    checked = 0
    for seed in range(1500):
        found, budget, cap, random = drawn(seed)
        problem = _Problem(found).at(budget, cap)
        everything = stores(problem)
        check_useful(problem, everything)
        assert all(value % problem.grain == 0 for _, value in everything)
        checked += sum(check_bound(problem, everything, random)[0] for _ in range(4))
    assert checked > 10_000


def test_what_other_groups_can_replace() -> None:
    """By hand. c covers half of u and costs 2: a does that for less, but beside a it still adds
    the other half. a and b together cover all of it, so nothing is lost without c."""

    def useful(*costs: tuple[str, int, str], cap: int = 1, groups: str = "") -> set[str]:
        ids = [id for id, _, _ in costs]
        owners = dict(zip(ids, groups or ids, strict=True))
        rows = " ".join(f"{id}:{owners[id]}:{cost}" for id, cost, _ in costs)
        found = package(rows, {"u": 1}, [(id, "u", value) for id, _, value in costs])
        problem = _Problem(found).at(F(10), cap)
        return {problem.ids[u] for u in problem.useful(across=True)}

    a, b, c, full = ("a", 1, "0.5"), ("b", 1, "0.5"), ("c", 2, "0.5"), ("f", 2, "1")
    assert useful(a, c) == {"a", "c"}
    assert useful(a, b, c) == {"a", "b"}
    assert useful(a, b, c, cap=3) == {"a", "b"}
    assert useful(a, b, c, groups="ggc") == {"a", "c"}  # a and b are not alone: only one is kept
    assert useful(full, ("e", 2, "1")) == {"e"}  # of equals the first
    assert useful(full, ("d", 3, "1"), ("z", 0, "0.5")) == {"f", "z"}
    assert useful(("d", 0, "0.5"), ("e", 0, "0.5"), ("f", 0, "0.5")) == {"d", "e"}


def test_the_solver_leaves_out_what_the_checker_does() -> None:
    """Across groups both look for the same candidates, though they share no code."""
    left_out = 0
    for seed in range(400):
        found, budget, cap, random = drawn(seed)
        if seed % 2:
            found = two_levels(seed, random.randrange(2, 14), random.randrange(1, 6))
        form = integer_form(found).at(budget, cap)
        packed = pack(form)
        assert packed is not None
        state = prepare(packed, Q, np.zeros(len(packed.tops), np.int64), across=True)
        problem = _Problem(found).at(budget, cap)
        assert state.names.tolist() == list(problem.useful(across=True)), seed
        left_out += len(problem.useful(across=False)) - len(state.names)
    assert left_out > 100


def stores_with_parts(problem: _Problem) -> Stores:
    """Every feasible store that keeps no candidate beside its parts."""
    found = []
    for store, value in stores(problem):
        groups = {problem.group[u] for u in store}
        if not any(problem.parts.get(group, set()) & groups for group in groups):
            found.append((store, value))
    return found


def test_no_bound_is_below_a_store_that_obeys_the_rule_of_parts() -> None:
    """The same where candidates have parts, of which only one side sells: bounds are tighter."""
    checked = tighter = 0
    for seed in range(400):
        random = Random(seed)
        found = random_package_with_parts(seed, irrational=seed % 3 == 0)
        problem = _Problem(found).at(found.total_cost(found.candidate), random.choice((1, 2)))
        loose = copy(problem)
        loose.parts, loose.whole = {}, {}
        everything = stores_with_parts(problem)
        check_useful(problem, everything)
        for _ in range(4):
            compared, node, bound = check_bound(problem, everything, random, keeps=0)
            checked += compared
            tighter += bound < _Checker(loose, 0).bound(node).total
    assert checked > 10_000
    assert tighter > 100


def test_no_false_claim_is_proven_where_candidates_have_parts() -> None:
    hopeless = 0
    for seed in range(200):
        random = Random(seed)
        found = random_package_with_parts(seed)
        budget = found.total_cost(found.candidate) / random.choice((1, 2))
        everything = stores_with_parts(_Problem(found).at(budget, 1))
        hopeless += check_losers(found, budget, 1, everything, random)
    assert hopeless > 200


# By hand. f (0) has the parts a (1) and b (2), and covers x and y as they do together, by half.
BOTH = with_parts(
    package(
        "a:e0:1 b:e1:1 f:e2:1",
        {"x": 1, "y": 1},
        [("a", "x", "1/2"), ("b", "y", "1/2"), ("f", "x", "1/2"), ("f", "y", "1/2")],
    ),
    {"f": ["a", "b"]},
)


@pytest.mark.parametrize(
    ("proof", "reason"),
    [
        ((0,), ""),  # f sells 1, or a and b sell 1 together
        ((5, 0), WEAK),  # for nothing, both units take all
        ((5, 3, 4, 0, 0, 1024, 0, 1, 1024, 1, 0, 1024, 2, 1, 1024, 0), ""),  # they sell all again
        ((5, 3, 3, 0, 0, 1024, 0, 1, 1024, 1, 0, 1024, 0), WEAK),  # y takes b for nothing
        ((1, 0, 0, 0), WEAK),  # beside f, a and b sell 1 more
        ((4, 0, 1, 0, 0), WEAK),  # the same: f may be kept, but a and b are still open
        ((1, 0, 1, 1, 7, 1, 2, 7, 0, 0), ""),
    ],
)
def test_a_whole_or_its_parts(proof: tuple[int, ...], reason: str) -> None:
    """Three fit the budget and would be worth 2; the rule allows 1."""
    verdict = verify(BOTH, certificate(BOTH, 3, 1, "f", *proof, scale=2))
    assert reason in verdict.reason
    assert verdict.valid == (not reason)


def test_true_claims_are_proven_and_false_ones_never() -> None:
    hopeless = 0
    for seed in range(500):
        found, budget, cap, random = drawn(seed)
        everything = stores(_Problem(found).at(budget, cap))
        best = max(value for _, value in everything)
        winner = random.choice([store for store, value in everything if value == best])
        proven = prove(found, budget, cap, winner, random)
        assert proven is not None
        assert verify(found, proven).valid
        hopeless += check_losers(found, budget, cap, everything, random)
    assert hopeless > 500


Case = tuple[Package, Certificate]


@cache
def corpus() -> tuple[Case, ...]:
    """Valid certificates: of both solvers and of the random prover."""
    cases: list[Case] = []
    for seed in range(120):
        found, budget, cap, random = drawn(seed)
        problem = _Problem(found).at(budget, cap)
        if seed % 3:
            solver = ("fast", "reference")[seed % 2]
            proven = solve(found, budget, cap, solver=solver).certificate
        else:
            best = max(stores(problem), key=lambda entry: entry[1])[0]
            proven = prove(found, budget, cap, best, random)
        assert proven is not None
        if (5,) in instructions(proven.proof) and not proven.layouts:
            proven = priced(proven, problem)
        assert verify(found, proven).valid
        cases.append((found, proven))
    return tuple(cases)


NEVER_VALID = ("restated value", "restated scale", "cut tape", "longer tape")


@pytest.mark.parametrize("kind", sorted(EDITS))
def test_forged_certificates(kind: str) -> None:
    """What a forgery still proves is true; every kind of forgery is found out somewhere."""
    refused = 0
    for seed, (found, good) in enumerate(corpus()):
        for attempt in range(3):
            forged = EDITS[kind](found, good, Random(1000 * seed + attempt))
            if forged is None or forged == good:
                continue
            verdict = verify(found, forged)
            if not verdict.valid:
                assert verdict.reason
                refused += 1
                continue
            assert kind not in NEVER_VALID
            problem = _Problem(found).at(forged.budget, forged.group_cap)
            best = max(value for _, value in stores(problem))
            assert forged.value * problem.scale >= best, (seed, attempt)
    assert refused >= 5


def test_certificates_of_other_packages() -> None:
    """The digest tells packages apart; restated, the proof has to hold for the other package."""
    cases = corpus()
    for (found, _), (_, good) in pairwise(cases):
        if digest(found) == good.package:
            continue
        assert verify(found, good).reason == "the certificate is for another package"
        try:
            forged = replace(with_store(found, good, list(good.store)), package=digest(found))
        except ValueError:  # a candidate that is not there
            continue
        problem = _Problem(found).at(forged.budget, forged.group_cap)
        forged = replace(forged, scale=problem.scale)
        if verify(found, forged).valid:
            best = max(value for _, value in stores(problem))
            assert forged.value * problem.scale == best


def test_an_invalid_inside_group_fails_wherever_it_matters() -> None:
    """A group is inside a block only if all it can still add is there."""
    problem = _Problem(PAIR).at(F(4), 1)
    guard = _Checker(problem, 0)
    node = _Node((0, 1, 2), 4, _Layout(problem, (((0,), (0,)),)))
    with pytest.raises(_Fails, match="not inside"):
        guard.bound(node)
    guard.keep(node, [2])  # y is full: what a can still add is inside x
    node.open = (0, 1)
    assert guard.bound(node).total == 2 * Q + Q
