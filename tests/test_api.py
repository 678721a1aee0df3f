"""The public names: all there, and loaded only when used."""

import json
import subprocess
import sys

import pytest

import memaudit
from memaudit.kernel.version import VERSION

PROBE = """
import json, sys
import memaudit
dir(memaudit)
print(json.dumps(sorted(sys.modules)))
"""


def test_every_public_name_is_there() -> None:
    for name in memaudit.__all__:
        assert getattr(memaudit, name) is not None
    assert set(memaudit.__all__) == {*memaudit._HOME, *memaudit._LAB, "__version__"}
    assert dir(memaudit) == sorted(memaudit.__all__)
    assert memaudit.__version__ == VERSION


def test_importing_is_free() -> None:
    """`import memaudit` brings in no library."""
    run = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(run.stdout)
    heavy = {"pydantic", "numpy", "numba", "highspy", "typer", "rich", "matplotlib"}
    assert heavy & set(loaded) == set()
    assert [name for name in loaded if name.startswith("memaudit")] == ["memaudit"]


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="module 'memaudit' has no attribute 'optimise'"):
        memaudit.optimise  # noqa: B018


def test_the_pieces_fit(tiny: memaudit.Package) -> None:
    """Solve, verify, evaluate and trace the frontier, all from the front door."""
    best = memaudit.solve(tiny, 3)
    assert best.certificate is not None
    assert memaudit.verify(tiny, best.certificate).valid
    assert memaudit.value(tiny, best.store).low == best.value == 3
    assert memaudit.frontier(tiny, 3).values[-1] == best.value
    assert [one.value for one in memaudit.solve_all(tiny, [1, 3])] == [1, 3]
    assert best.digest == memaudit.digest(tiny)
