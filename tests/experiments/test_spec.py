"""What a run runs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.seeds import parse_seeds, seed_ranges
from memaudit.experiments.spec import RunSpec, absolute, parse_budgets


def spec(**changes: object) -> RunSpec:
    """A small run."""
    fields = {"distributions": ("a", "b"), "seeds": (0, 1, 2), "budgets": ("2",), "writers": ("w",)}
    return RunSpec(**{**fields, **changes})  # type: ignore[arg-type]


def test_seeds() -> None:
    """A number counts from 0; lists and ranges name seeds."""
    assert parse_seeds("3") == (0, 1, 2)
    assert parse_seeds("7-9,12") == (7, 8, 9, 12)
    assert parse_seeds("7,") == (7,)


@given(st.lists(st.integers(0, 60), unique=True, min_size=1))
def test_seed_ranges_read_back(seeds: list[int]) -> None:
    """What a manifest says is what ran."""
    assert parse_seeds(seed_ranges(tuple(seeds)) + ",") == tuple(seeds)


@pytest.mark.parametrize("text", ["x", "-3", "1-", "2-x", "1.5"])
def test_wrong_seeds(text: str) -> None:
    """One clear line."""
    with pytest.raises(MemAuditError, match="cannot read seeds"):
        parse_seeds(text)


def test_fractional_budgets_of_the_paper() -> None:
    """A mean total cost of about 81.45 gives B = 1, 2, 4, 8, 16."""
    mean = Fraction("81.45")
    budgets = [absolute(f, mean) for f in ("0.01", "0.02", "0.05", "0.10", "0.20")]
    assert budgets == [1, 2, 4, 8, 16]
    assert absolute("0.0001", mean) == 1
    assert absolute("1", mean) == 1
    assert absolute("2.5", None) == Fraction(5, 2)


@pytest.mark.parametrize(("text", "line"), [("1,x", "budget 'x'"), ("-1", "negative")])
def test_wrong_budgets(text: str, line: str) -> None:
    """One clear line."""
    with pytest.raises(MemAuditError, match=line):
        parse_budgets(text)


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
    with pytest.raises(MemAuditError, match="--seconds"):
        spec(seconds=seconds)


@pytest.mark.parametrize("text", ["9" * 20, "100000000000", "5-999999999999"])
def test_too_many_seeds(text: str) -> None:
    """One line, not a full memory."""
    with pytest.raises(MemAuditError, match="too many or too large"):
        parse_seeds(text)


def test_no_seeds() -> None:
    """An empty list is a mistake, not a default."""
    with pytest.raises(MemAuditError, match="no seeds"):
        spec(seeds=parse_seeds(""))
