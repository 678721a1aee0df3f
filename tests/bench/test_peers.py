"""Peers prove the right value, and nothing that happens to one ends the benchmark."""

import os
from collections.abc import Callable

import pytest

from bench import launch, peers
from bench.instance import Draft
from bench.model import OVER_LIMIT, TIME_LIMIT, Model, TooLarge
from bench.peers import NOT_INSTALLED, PEERS, missing, solve_with
from tests.bench.tiny import brute, mini


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


def test_problem_without_useful_candidates_is_worth_nothing() -> None:
    result = PEERS["highs"](Draft(2, [0], [[(1, {0: 2})]]).packed(5), 1.0)
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


def _fake(x: list[float], proven: bool) -> Callable[[Model, float], _Fake]:
    return lambda _model, _seconds: _Fake(x, proven)


PAIR = Draft(2, [1], [[(1, {0: 1}), (2, {0: 2})]]).packed(5)


def test_infeasible_store_proves_nothing() -> None:
    result = solve_with(_fake([1.0, 1.0], True), PAIR, 1.0)
    assert not result.proven
    assert result.note == "gave an infeasible store"


def test_unproven_store_keeps_its_exact_value() -> None:
    result = solve_with(_fake([1.0, 1e-9], False), PAIR, 1.0)
    assert (result.value, result.chosen, result.note) == (1, (0,), TIME_LIMIT)


def test_model_over_the_licence_is_no_failure() -> None:
    def too_large(_model: Model, _seconds: float) -> _Fake:
        raise TooLarge

    assert solve_with(too_large, PAIR, 1.0).note == OVER_LIMIT


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
