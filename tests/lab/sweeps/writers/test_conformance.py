"""What holds for every writer in the registry. A new writer is included automatically."""

import json
import os
import subprocess
import sys
from fractions import Fraction
from threading import Event
from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.package.objective import violations
from memaudit.kernel.package.package import EvidenceUnit, Experience, Package
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.lab.sweeps.writers.protocol import OracleView, Store, View, visible
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.kernel.solvers.random_forms import random_package_with_parts
from tests.lab.sweeps.writers.running import everything, real_packages, run
from tests.strategies import packages, renamed

F = Fraction
NAMES = sorted(WRITERS)
SHARES = (F(0), F(1, 10), F(1, 3), F(1, 2), F(1), F(2))
EXAMPLES = settings(max_examples=20, deadline=None)

every_writer = pytest.mark.parametrize("name", NAMES)


def check_store(name: str, package: Package, store: Store, budget: Fraction) -> None:
    assert violations(package, store, budget, package.group_cap) == [], name
    order = [candidate.id for candidate in visible(package).candidates]
    assert list(store) == [id for id in order if id in set(store)], name


@every_writer
def test_describes_itself(name: str) -> None:
    """Name, label and one line; a stand-in for a family of systems says so."""
    writer = WRITERS[name]
    assert writer.name == name
    assert writer.label
    assert writer.about
    assert "\n" not in writer.about
    assert ("proxy" in writer.label) == name.endswith("_style")


@every_writer
def test_takes_the_view_of_its_sort(name: str) -> None:
    """Only a writer that says it peeks is handed the hidden side."""
    writer = WRITERS[name]
    hints = get_type_hints(type(writer).write)
    assert hints["view"] is (OracleView if writer.peeks else View)
    assert hints["return"] == tuple[str, ...]


@EXAMPLES
@given(package=packages(), share=st.sampled_from(SHARES), cap=st.integers(1, 2))
def test_feasible_on_any_package(package: Package, share: Fraction, cap: int) -> None:
    package = package.replace(group_cap=cap)
    budget = everything(package) * share
    for name in sorted(WRITERS):
        check_store(name, package, run(WRITERS[name], package, budget), budget)


@every_writer
def test_feasible_on_real_packages(name: str) -> None:
    """Also where ids sort against the stream: the store follows the stream."""
    writer = WRITERS[name]
    for package in real_packages():
        last = len(package.experiences)
        backwards = package.replace(
            experiences=tuple(
                e.model_copy(update={"index": last - e.index}) for e in package.experiences
            )
        )
        for share in SHARES:
            budget = everything(package) * share
            check_store(name, package, run(writer, package, budget), budget)
            check_store(name, backwards, run(writer, backwards, budget), budget)


@every_writer
def test_candidates_with_parts_are_never_written(name: str) -> None:
    """A writer is offered the parts; only optima, which no rule of thumb decides, keep a whole."""
    writer = WRITERS[name]
    for seed in range(40):
        package = random_package_with_parts(seed)
        budget = everything(package) / 2
        store = run(writer, package, budget)
        assert violations(package, store, budget, 1) == []
        assert "opt" in name or not any(package.candidate[id].parts for id in store)


@every_writer
def test_nothing_to_keep(name: str) -> None:
    """No stream, no candidates, or no budget: an empty store and no error."""
    writer = WRITERS[name]
    unit = EvidenceUnit(id="u", kind="fact", weight=F(1))
    silent = Package(name="silent", experiences=(), candidates=(), units=(unit,))
    bare = silent.replace(experiences=(Experience(id="e", text="Hello."),))
    for package in (silent, bare):
        for budget in (F(0), F(10)):
            assert run(writer, package, budget) == ()
    assert run(writer, real_packages()[0], F(0)) == ()


@EXAMPLES
@given(package=packages(), share=st.sampled_from(SHARES), seed=st.integers(0, 5))
def test_same_store_twice(package: Package, share: Fraction, seed: int) -> None:
    budget = everything(package) * share
    first = {name: run(WRITERS[name], package, budget, seed) for name in sorted(WRITERS)}
    for name in sorted(WRITERS):
        run(WRITERS[name], real_packages()[1], F(8))
        assert run(WRITERS[name], package, budget, seed) == first[name], name


FRESH = """
import json, sys
from fractions import Fraction
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.lab.sweeps.writers.running import real_packages, run
package, names = real_packages()[0], sys.argv[1:]
print(json.dumps({n: [run(WRITERS[n], package, Fraction(b), 3) for b in (13, 40)] for n in names}))
"""


def test_same_store_in_a_fresh_process() -> None:
    names = sorted(WRITERS)
    done = subprocess.run(
        [sys.executable, "-c", FRESH, *names],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )
    package = real_packages()[0]
    here = {n: [list(run(WRITERS[n], package, F(b), 3)) for b in (13, 40)] for n in names}
    assert json.loads(done.stdout) == here


@EXAMPLES
@given(package=packages())
def test_a_budget_beyond_everything_changes_nothing(package: Package) -> None:
    enough = everything(package)
    for name in sorted(WRITERS):
        stores = {run(WRITERS[name], package, enough + more) for more in (F(0), F(1, 3), F(1000))}
        assert len(stores) == 1, name


@EXAMPLES
@given(package=packages(), seed=st.integers(0, 3))
def test_a_monotone_writer_never_spends_less_of_more(package: Package, seed: int) -> None:
    budgets = [everything(package) * F(step, 12) for step in range(14)]
    for name in sorted(WRITERS):
        if WRITERS[name].monotone:
            stores = [run(WRITERS[name], package, budget, seed) for budget in budgets]
            spent = [package.total_cost(store) for store in stores]
            assert spent == sorted(spent), name


@EXAMPLES
@given(package=packages(), share=st.sampled_from(SHARES))
def test_names_carry_no_information(package: Package, share: Fraction) -> None:
    """What sorted first still does, so ties are broken alike."""
    other = renamed(package, lambda id: f"x-{id}").replace(name="another")
    budget = everything(package) * share
    for name in sorted(WRITERS):
        store = run(WRITERS[name], package, budget)
        assert run(WRITERS[name], other, budget) == tuple(f"x-{id}" for id in store), name


def test_ctrl_c_during_a_solve_ends_the_run(tiny: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that went on would write rows without a ratio. Only who has set STOP gets a bound."""

    class Interrupted:
        name = "interrupted"

        def accepts(self, form: Form) -> str:  # noqa: ARG002
            return ""

        def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:  # noqa: ARG002
            limits.interrupted = True
            return Solution((), 0, None, False)

    view = OracleView(tiny)
    view.solver.backend = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        view.optimum(Fraction(3))
    stop = Event()
    stop.set()
    monkeypatch.setattr("memaudit.kernel.solvers.solve.STOP", stop)
    assert view.optimum(Fraction(3)).note == "stopped early"
