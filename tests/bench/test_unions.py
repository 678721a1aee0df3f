"""Family R: what the generated unions have in common with real ones, and the real ones."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from bench import real_unions
from bench.families import DEFAULT_SEEDS, family
from bench.instance import Instance, as_package
from bench.model import PeerResult
from bench.peers import missing
from bench.run import Plan, run
from bench.unions import BUDGETS, LEXICAL, union
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from tests.conversations.files import real_file


def test_problems_differ_by_budget_only() -> None:
    problems = family("R", [7])
    assert [one.packed.budget for one in problems] == [*BUDGETS, *BUDGETS]
    assert [one.name for one in problems[5:7]] == [
        "R seed 7 lexical B 4000",
        "R seed 7 labelled B 250",
    ]
    assert np.array_equal(problems[0].packed.unit, problems[5].packed.unit)
    assert min(DEFAULT_SEEDS["R"]) > 900  # held out


def test_optimum_of_arrays_and_package_agree() -> None:
    drawn = Instance("small", union(3, LEXICAL, 2, 3).packed(60))
    optimum = solve(as_package(drawn), 60)
    assert optimum.certified
    result = answer_of("highs", drawn)
    assert result.proven
    assert optimum.value == Fraction(result.value, drawn.scale)


def answer_of(peer: str, instance: Instance) -> PeerResult:
    from bench.peers import PEERS

    return PEERS[peer](instance.packed, 20.0, 1)


def test_without_the_data_the_family_is_generated_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMAUDIT_DATA", str(tmp_path))
    assert real_unions.real_instances() == []
    report = run(Plan(("R",), sections=(), peers=()), lambda _text: None)
    assert report.notes == [
        f"family R is without R1, R1j, R2, R4, R5: not all files are in {tmp_path}; "
        "set MEMAUDIT_DATA"
    ]
    assert run(Plan(("R",), sections=(), seeds=(1,)), lambda _text: None).notes == []


@pytest.fixture(scope="module")
def real() -> dict[str, Package]:
    for file in (real_unions.LOCOMO, real_unions.MEM0, real_unions.CAPTURED):
        real_file(file)
    return {union.name: union.package for union in real_unions.real_unions()}


@pytest.mark.slow
def test_real_unions_have_the_sizes_of_their_data(real: dict[str, Package]) -> None:
    assert real_unions.absent() == ""
    assert list(real) == ["R1", "R1j", "R2", "R4 conv-26", "R4 conv-42", "R4 conv-49", "R5"]
    assert len(real["R5"].candidates) == 1118
    for name in ("R1", "R1j", "R2", "R5"):
        assert len(real[name].units) == 203
    covered = {name: len(package.coverage) for name, package in real.items()}
    assert covered["R2"] < covered["R1"] < covered["R1j"]


@pytest.mark.slow
def test_real_problems_are_those_of_their_packages(real: dict[str, Package]) -> None:
    """R5 where nearly everything is covered: a store below the optimum would show here."""
    problems = {one.name: one for one in real_unions.real_instances()}
    assert len(problems) == 17 + 6 + 6 + 3 * 6 + 9
    for name, value in (("R5 B 2050", Fraction(477, 2)), ("R5 B 2100", Fraction(239))):
        instance = problems[name]
        assert as_package(instance) is real["R5"]
        optimum = solve(real["R5"], instance.packed.budget, seconds=60)
        assert (optimum.certified, optimum.value) == (True, value)
        if not missing("gurobi"):
            assert Fraction(answer_of("gurobi", instance).value, instance.scale) == value
