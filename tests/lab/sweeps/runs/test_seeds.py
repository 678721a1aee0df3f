"""Seeds as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.spec import parse_seeds, seed_ranges


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
