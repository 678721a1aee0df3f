"""Backends are found by name."""

import pytest

from memaudit.core.errors import UnknownSolver
from memaudit.solvers.registry import SOLVERS, named_solver


def test_names_agree() -> None:
    """Each backend is registered under the name it reports."""
    assert all(named_solver(name).name == name for name in SOLVERS)


def test_unknown_names_are_told_the_known_ones() -> None:
    """The error lists what there is."""
    with pytest.raises(UnknownSolver, match=r"'cplex'.*brute, .*highs, .*reference"):
        named_solver("cplex")
