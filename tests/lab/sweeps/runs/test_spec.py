"""What a run runs, and seeds as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.spec import RunSpec, parse_seeds, seed_ranges


def spec(**changes: object) -> RunSpec:
    fields = {"distributions": ("a", "b"), "seeds": (0, 1, 2), "budgets": ("2",), "writers": ("w",)}
    return RunSpec(**{**fields, **changes})  # type: ignore[arg-type]


def test_empty_and_doubled_parts_are_refused() -> None:
    """A run without writers, or with one twice, is a mistake."""
    with pytest.raises(MemAuditError, match="no writers"):
        spec(writers=())
    with pytest.raises(MemAuditError, match="no seeds"):
        spec(seeds=())
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


def test_seeds() -> None:
    """A number counts from 0; lists and ranges name seeds."""
    assert parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("7-9,12") == (7, 8, 9, 12)
    assert parse_seeds("7,") == (7,)


@given(st.lists(st.integers(0, 60), unique=True, min_size=1))
def test_seed_ranges_read_back(seeds: list[int]) -> None:
    assert parse_seeds(seed_ranges(tuple(seeds)) + ",") == tuple(seeds)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *((text, "cannot read seeds") for text in ("x", "-3", "1-", "2-x", "1.5")),
        *((text, "too many or too large") for text in ("9" * 20, "100000000000", "5-999999999999")),
    ],
)
def test_wrong_seeds(text: str, line: str) -> None:
    with pytest.raises(MemAuditError, match=line):
        parse_seeds(text)
