"""Layouts of the compiled solver, and its Lagrangian bound against every store of small cores."""

from fractions import Fraction
from itertools import chain, combinations
from random import Random

import numpy as np
import pytest

from bench.families import family
from memaudit.kernel.solvers.compiled import blocks as module
from memaudit.kernel.solvers.compiled.blocks import Plan, choose_layout
from memaudit.kernel.solvers.compiled.bound import enter, losses, workspace
from memaudit.kernel.solvers.compiled.problem import OpenProblem, prepare
from memaudit.kernel.solvers.compiled.types import Core, seal
from memaudit.kernel.solvers.form import Form, integer_form
from memaudit.kernel.solvers.packed import SCALE, Packed, pack
from tests.kernel.solvers.random_forms import random_form
from tests.kernel.solvers.test_fast import talk

Store = tuple[int, ...]


def opened(packed: Packed | None) -> OpenProblem:
    """The useful part of a problem whose values are exact."""
    assert packed is not None
    return prepare(packed, SCALE, np.zeros(len(packed.tops), np.int64))


def conversation(cross: int, budget: int = 90) -> OpenProblem:
    return opened(pack(integer_form(talk(cross)).at(Fraction(budget), 1)))


def stores(state: OpenProblem) -> list[tuple[Store, int]]:
    core = state.core
    every = range(len(core.cost))
    found = []
    for store in chain.from_iterable(combinations(every, n) for n in range(len(every) + 1)):
        members = list(store)
        kept = np.bincount(core.group[members], minlength=len(core.room))
        if core.cost[members].sum() <= state.budget and (kept <= core.room).all():
            found.append((store, worth(core, store)))
    return found


def worth(core: Core, store: Store) -> int:
    levels = np.zeros(len(core.top), np.int64)
    for u in store:
        row = slice(core.row_start[u], core.row_start[u + 1])
        np.add.at(levels, core.unit[row], core.level[row])
    return int(core.table[core.table_start[:-1] + np.minimum(levels, core.top)].sum())


def small_states(count: int) -> list[tuple[OpenProblem, Form]]:
    forms = [random_form(seed) for seed in range(count)]
    states = [(opened(pack(form)), form) for form in forms]
    return [(state, form) for state, form in states if 0 < len(state.core.cost) <= 9]


def test_conversations_are_laid_out_as_graphs() -> None:
    """Without cross-session memories everything lies inside a block; with some, most does.
    Dense packages are laid out densely."""
    apart, linked = (choose_layout(conversation(cross).core).layout for cross in (0, 6))
    assert not apart.dense
    assert apart.inside.all()
    assert apart.pair_start[-1] == 0
    assert not linked.dense
    assert linked.inside.mean() >= module.LEAST_INSIDE
    assert choose_layout(opened(family("H", [101])[0].packed).core).layout.dense
    state = opened(pack(integer_form(talk(0)).at(Fraction(90), 2)))
    assert choose_layout(state.core).layout.dense


def test_graphs_stay_within_their_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit holds; where nothing fits it, the layout is dense."""
    core = conversation(6).core
    for at_least, each in ((5000, 20), (500, 2)):
        monkeypatch.setattr(module, "EDGES_AT_LEAST", at_least)
        monkeypatch.setattr(module, "EDGES_PER_CANDIDATE", each)
        plan = choose_layout(core)
        assert len(plan.layout.edge_source) <= 2 * (at_least + each * len(core.cost))
    monkeypatch.setattr(module, "EDGES_AT_LEAST", 0)
    monkeypatch.setattr(module, "EDGES_PER_CANDIDATE", 0)
    assert choose_layout(core).layout.dense


def bounded(
    state: OpenProblem, plan: Plan, mu: int, prices: list[int]
) -> tuple[int, np.ndarray, np.ndarray, Store]:
    """The bound at these multipliers, both losses and the active candidates."""
    core, layout = state.core, plan.layout
    work = workspace(core, layout)
    status, paid = np.zeros(len(core.cost), np.int64), np.array(prices, np.int64)
    sealed = seal(core), seal(layout), seal(work)
    value = enter(*sealed, status, state.budget, paid)
    bound = losses(*sealed, status, mu, state.budget, value, paid)
    return bound, work.loss_in, work.loss_out, tuple(work.active[: work.counts[0]].tolist())


@pytest.mark.parametrize("dense", [False, True])
def test_bounds_and_losses_hold(dense: bool) -> None:
    """At any multipliers: no store above the bound, nor, forced in or out, above bound - loss."""
    random, graphs = Random(5), 0
    for state, _ in small_states(150):
        plan = choose_layout(state.core, dense=dense)
        graphs += not plan.layout.dense
        every = stores(state)
        most = SCALE * int(state.core.table.max(initial=0))
        for _ in range(4):
            prices = [
                random.choice((0, top, random.randint(0, top)))
                for top in plan.layout.pair_ceiling.tolist()
            ]
            mu = random.choice((0, random.randint(0, most), random.randint(0, 1 + most // 4)))
            bound, loss_in, loss_out, active = bounded(state, plan, mu, prices)
            assert bound >= SCALE * max(value for _, value in every)
            for u in active:
                with_u = max((value for store, value in every if u in store), default=0)
                without = max(value for store, value in every if u not in store)
                assert bound - loss_in[u] >= SCALE * with_u
                assert bound - loss_out[u] >= SCALE * without
    assert dense or graphs > 20


def test_one_block_is_solved_exactly() -> None:
    """Everything inside blocks and a budget that is free: the bound is the optimum."""
    checked = 0
    for state, form in small_states(200):
        plan = choose_layout(state.core)
        if plan.layout.dense or not plan.layout.inside.all() or form.budget < sum(form.cost):
            continue
        bound, *_ = bounded(state, plan, 0, [])
        assert bound == SCALE * max(value for _, value in stores(state))
        checked += 1
    assert checked > 5
