"""What a run runs."""

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.spec import RunSpec


def spec(**changes: object) -> RunSpec:
    fields = {"distributions": ("a", "b"), "seeds": (0, 1, 2), "budgets": ("2",), "writers": ("w",)}
    return RunSpec(**{**fields, **changes})  # type: ignore[arg-type]


def test_empty_and_doubled_parts_are_refused() -> None:
    """A run without writers, or with one twice, is a mistake."""
    with pytest.raises(MemAuditError, match="no writers"):
        spec(writers=())
    with pytest.raises(MemAuditError, match="seeds twice"):
        spec(seeds=(1, 1))


def test_order_of_packages() -> None:
    """Distribution by distribution, seed by seed."""
    order = [spec().package_at(i) for i in range(6)]
    assert order == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("b", 2)]


def test_digest_names_the_run() -> None:
    """Another seed is another run."""
    assert spec().digest == spec().digest
    assert spec().digest != spec(seeds=(0, 1)).digest


@pytest.mark.parametrize("seconds", [0.0, -5.0, float("nan"), float("inf")])
def test_wrong_seconds(seconds: float) -> None:
    """A limit is a number above 0."""
    with pytest.raises(MemAuditError, match="seconds"):
        spec(seconds=seconds)


def test_no_seeds() -> None:
    """An empty list is a mistake, not a default."""
    with pytest.raises(MemAuditError, match="no seeds"):
        spec(seeds=())
