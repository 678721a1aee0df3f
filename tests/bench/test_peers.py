"""Peers and packages solve the same problem; nothing that happens to a peer ends the benchmark."""

import os
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from bench import launch, peers
from bench.instance import Draft, Instance, as_package
from bench.model import OVER_LIMIT, TIME_LIMIT, Model, TooLarge, clean, evaluate, feasible
from bench.peers import NOT_INSTALLED, PEERS, missing, solve_with
from memaudit.kernel.solvers.form import integer_form
from memaudit.kernel.solvers.packed import Packed
from memaudit.kernel.solvers.protocol import Limits
from memaudit.kernel.solvers.reference import BruteForce


@pytest.mark.parametrize("peer", PEERS)
def test_peer_proves_the_optimum(peer: str) -> None:
    if reason := missing(peer):
        pytest.skip(f"{peer} {reason}")
    problems = [mini(3).packed, mini(5).packed]
    outcome = launch.run_solver(peer, problems, 20.0)
    assert [result.note for result in outcome.results] == ["", ""]
    assert [result.proven for result in outcome.results] == [True, True]
    assert [result.value for result in outcome.results] == [brute(packed) for packed in problems]
    assert outcome.peak_bytes > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_peers_get_the_threads_of_the_plan(threads: int) -> None:
    model = clean(mini(3).packed)
    highs = peers.Highs(model, 1.0, threads)
    assert highs.highs.getOptionValue("threads")[1] == threads
    if not missing("gurobi"):
        assert peers.Gurobi(model, 1.0, threads).model.Params.Threads == threads


def test_problem_without_useful_candidates_is_worth_nothing() -> None:
    result = PEERS["highs"](Draft(2, [0], [[(1, {0: 2})]]).packed(5), 1.0, 1)
    assert result.proven
    assert result.value == 0


def test_missing_peer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.MODULES, "scip", "no_such_module")
    outcome = launch.run_solver("scip", [mini(1).packed], 1.0)
    assert outcome.missing == NOT_INSTALLED
    assert outcome.results == []


class _Fake:
    """A peer that answers what it is told to."""

    def __init__(self, x: list[float], proven: bool) -> None:
        self.x, self.proven = x, proven

    def solve(self) -> None:
        pass

    def answer(self) -> tuple[list[float], bool]:
        return self.x, self.proven


def _fake(x: list[float], proven: bool) -> Callable[[Model, float, int], _Fake]:
    return lambda _model, _seconds, _threads: _Fake(x, proven)


PAIR = Draft(2, [1], [[(1, {0: 1}), (2, {0: 2})]]).packed(5)


def test_answers_of_peers_are_not_believed() -> None:
    """An infeasible store proves nothing, an unproven one keeps its exact value, and a problem that
    is over the licence is no failure."""

    def too_large(_model: Model, _seconds: float, _threads: int) -> _Fake:
        raise TooLarge

    infeasible = solve_with(_fake([1.0, 1.0], True), PAIR, 1.0, 1)
    assert (infeasible.proven, infeasible.note) == (False, "gave an infeasible store")
    unproven = solve_with(_fake([1.0, 1e-9], False), PAIR, 1.0, 1)
    assert (unproven.value, unproven.chosen, unproven.note) == (1, (0,), TIME_LIMIT)
    assert solve_with(too_large, PAIR, 1.0, 1).note == OVER_LIMIT


def test_crash_counts_as_unsolved_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    # The stand-in worker answers problem by problem and dies on the one with budget 13.
    module = os.path.join(tmp_path, "dying_worker.py")
    with open(module, "w", encoding="utf-8") as file:
        file.write(
            "import os, pickle, sys\n"
            "from bench.model import PeerResult\n"
            "job = pickle.load(sys.stdin.buffer)\n"
            "for packed in job.problems:\n"
            "    if packed.budget == 13:\n"
            "        os.abort()\n"
            "    pickle.dump(PeerResult(1, True, 0.0, 0.0, ()), sys.stdout.buffer)\n"
            "    sys.stdout.flush()\n"
            "from bench.worker import Done\n"
            "pickle.dump(Done(7), sys.stdout.buffer)\n"
        )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(launch, "WORKER", "dying_worker")
    problems = [mini(1).at("", budget).packed for budget in (1, 13, 2)]
    outcome = launch.run_solver("highs", problems, 1.0)
    assert [result.proven for result in outcome.results] == [True, False, True]
    assert outcome.results[1].note == "crashed (signal SIGABRT)"
    assert outcome.peak_bytes == 7
    always = launch.run_solver("highs", [mini(1).at("", 13).packed] * 5, 1.0)
    assert len(always.results) == 5
    assert always.results[4].note == "not tried after: crashed (signal SIGABRT)"


@pytest.mark.parametrize("seed", range(8))
def test_package_has_the_optimum_of_the_arrays(seed: int) -> None:
    instance = mini(seed)
    package = as_package(instance)
    form = integer_form(package).at(Fraction(instance.packed.budget), 1)
    optimum = BruteForce().solve(form, Limits())
    assert Fraction(optimum.value, form.value_scale) == Fraction(brute(instance.packed), 10)


DRAFT = Draft(
    4,
    [3, 0, 2],
    [[(2, {0: 3, 1: 4}), (5, {0: 4, 2: 4})], [(1, {1: 4}), (9, {2: 4})], [(3, {0: 2, 2: 1})]],
)
"""Two units of weight 3 and 2 and one without weight; coverage in quarters."""


def test_cleaning_drops_what_cannot_matter() -> None:
    model = clean(DRAFT.packed(8))
    # Candidate 2 covers only the unweighted unit, candidate 3 costs more than the budget.
    assert model.candidates == [0, 1, 4]
    assert model.cost == [2, 5, 3]
    assert model.weight == [3, 2]
    assert model.top == [4, 4]
    assert model.rows == [[(0, 3)], [(0, 4), (1, 4)], [(0, 2), (1, 1)]]
    assert model.groups == [[0, 1], [2]]
    assert model.crowded == [[0, 1]]
    assert model.full == [12, 8]
    assert model.shares == [[(0, 0.75), (1, 1.0), (2, 0.5)], [(1, 1.0), (2, 0.25)]]


def mini(seed: int) -> Instance:
    """Like family A with four groups of one to three candidates; one unit has no weight."""
    random = Random(seed)
    draft = Draft(10, [0, *(random.randint(1, 5) for _ in range(4))])
    for _ in range(4):
        group = []
        for _ in range(random.randint(1, 3)):
            units = random.sample(range(5), random.randint(0, 3))
            levels = {unit: random.choice((3, 5, 6, 8, 10)) for unit in units}
            group.append((random.randint(0, 6), levels))
        draft.groups.append(group)
    return Instance(f"mini {seed}", draft.packed(random.randint(0, 12)))


def brute(packed: Packed) -> int:
    """The best value over all stores, one candidate or none per group."""
    groups: list[list[int | None]] = [[None] for _ in range(int(packed.group.max()) + 1)]
    for candidate, group in enumerate(packed.group.tolist()):
        groups[group].append(candidate)
    stores = (
        tuple(candidate for candidate in choice if candidate is not None)
        for choice in product(*groups)
    )
    return max(evaluate(packed, store) for store in stores if feasible(packed, store))


def test_value_and_feasibility() -> None:
    """Unit 0 gets 3 + 2 quarters, capped at 4: 3 * 4 = 12. Unit 2 gets 1: 2 * 1 = 2."""
    packed = DRAFT.packed(8)
    assert (evaluate(packed, (0, 4)), evaluate(packed, ())) == (14, 0)
    assert feasible(packed, (0, 4))
    assert not feasible(packed, (0, 1))  # two of a group
    assert not feasible(packed, (3,))  # over budget
    assert not feasible(packed, (4, 4))
