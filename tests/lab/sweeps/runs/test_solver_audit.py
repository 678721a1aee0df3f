"""Every backend on the same rows."""

from fractions import Fraction

import pytest

from memaudit.kernel.solvers.form import Form
from memaudit.kernel.solvers.protocol import Limits, Solution
from memaudit.kernel.solvers.reference import BruteForce
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.lab.sweeps.runs.solver_audit import audit_package, audit_solvers, audit_tasks
from memaudit.workspace.engines import named_engine


def test_as_many_rows_as_asked_for() -> None:
    """Packages in turn; the last one may have fewer budgets; none without draws comes twice."""
    rows = list(audit_tasks(1200))
    assert sum(len(budgets) for _, _, budgets in rows) == 1200
    assert sum(name == "update_chain" for name, _, _ in rows) == 1
    assert len({(name, seed) for name, seed, _ in rows}) == len(rows)


def test_all_backends_agree() -> None:
    """Exactly: rationals, not floats."""
    *_, total = audit_solvers(48, named_engine("serial"))
    assert set(total) == set(SOLVERS)
    for tally in total.values():
        assert tally.rows == tally.matches == 48
        assert tally.largest == 0
        assert tally.differing == []


def test_a_wrong_backend_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that always keeps nothing."""

    def lazy(self: BruteForce, form: Form, limits: Limits, hint: object = ()) -> Solution:  # noqa: ARG001
        return Solution((), 0, 0, closed=True)

    monkeypatch.setattr(BruteForce, "solve", lazy)
    tally = audit_package(("brute",), ("base", 0, (1, 2)))["brute"]
    assert (tally.rows, tally.matches) == (2, 0)
    assert tally.largest > Fraction(2)
    assert [one.budget for one in tally.differing] == [1, 2]
