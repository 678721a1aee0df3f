"""`memaudit doctor`: what it finds, and when it fails."""

from pathlib import Path

import pytest

import memaudit
from memaudit.cli import doctor
from memaudit.cli.doctor import libraries, self_test
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers import registry
from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.protocol import Limits, Proof, Solution
from memaudit.kernel.solvers.reference import Reference
from memaudit.kernel.version import VERSION
from tests.cli.running import done, printed_json, run


def test_extras_are_read_from_the_requirements() -> None:
    """What is needed and what is optional; a missing library comes with the line to type."""
    required, extras = libraries(
        [
            "numpy>=1.26",
            "pydantic<3,>=2.7",
            "no-such-library-here>=1; extra == 'dream'",
            "pytest>=8; extra == 'dream'",
            'pytest>=8; python_version >= "3.11" and extra == "real"',
        ]
    )
    assert required == ["numpy", "pydantic"]
    dream, real = extras
    assert (dream.name, dream.missing) == ("dream", ("no-such-library-here",))
    assert set(dream.found) == {"pytest"}
    assert dream.install == "in MemAudit's checkout, pip install '.[dream]'"
    assert (real.name, real.missing) == ("real", ())


class Boastful(Reference):
    """Finds the best store, and gives a proof that proves nothing."""

    name = "boastful"

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:
        found = super().solve(form, limits, hint)
        return Solution(found.chosen, found.value, found.bound, found.closed, Proof(()))


class Lazy(Reference):
    """Keeps nothing."""

    name = "lazy"

    def solve(self, form: Form, limits: Limits, hint: tuple[int, ...] = ()) -> Solution:  # noqa: ARG002
        return Solution((), 0, None, False)


def test_a_solver_that_is_wrong_fails(tiny: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worse store and a proof that does not hold are distinguished from what is right; the
    command ends with 1 and names the solver."""
    monkeypatch.setitem(registry.SOLVERS, "lazy", Lazy)
    monkeypatch.setitem(registry.SOLVERS, "boastful", Boastful)
    package = tiny.replace(budgets=(1, 3))
    good, lazy, boastful = self_test(package, ("reference", "lazy", "boastful"))
    assert (good.problem, good.budgets, good.certificates) == ("", 2, 2)
    assert "0, not " in lazy.problem
    assert "certificate refused" in boastful.problem
    for name in set(registry.SOLVERS) - {"reference"}:
        monkeypatch.delitem(registry.SOLVERS, name)
    monkeypatch.setitem(registry.SOLVERS, "lazy", Lazy)
    result = run("doctor")
    assert result.exit_code == 1
    assert "solver lazy       FAILED: budget " in result.stdout
    assert result.stdout.endswith("solver self-test FAILED\n")


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = printed_json("doctor")
    assert data["healthy"] is True
    assert [test["solver"] for test in data["self_test"]] == list(registry.SOLVERS)
    proofs = {test["solver"]: test["certificates"] for test in data["self_test"]}
    assert proofs["fast"] == proofs["reference"] == proofs["auto"] == 4
    assert data["cpus"] >= 1
    assert {"memaudit", "python", "numpy"} <= data["versions"].keys()
    assert {"models", "tiktoken"} <= {extra["name"] for extra in data["extras"]}


def test_another_project_and_a_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another project's `__init__.py` in our folder has none of our names. Without metadata of ours
    the version is that of the code, and another's metadata is not read."""
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    printed = done("doctor").stdout
    assert printed.startswith(f"memaudit     {VERSION}\n")
    assert "extras: unknown, since no-such-distribution is not installed here" in printed
    monkeypatch.setattr(memaudit, "Package", str)
    assert f"gets {memaudit.__path__[0]}, NOT this project" in done("doctor").stdout
