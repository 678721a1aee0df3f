"""The judge's requests: every pair once, in an order that says nothing."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from memaudit.natural.passes.coverage import (
    MOST_LETTERS,
    MOST_MEMORIES,
    MOST_PAIRS,
    MOST_UNITS,
    chunks,
    rank,
    shuffled,
)

texts = st.text("abc ", min_size=1, max_size=6)
pairs = st.sets(st.tuples(texts, texts), max_size=120)


@given(pairs, st.sampled_from([1, MOST_MEMORIES]))
def test_every_pair_is_asked_once(wanted: set[tuple[str, str]], most: int) -> None:
    """Within the limits, under numbers from 1."""
    found = list(chunks(wanted, most))
    asked = [one.pair(numbers) for one in found for numbers in one.pairs]
    assert sorted(asked) == sorted(wanted)
    for one in found:
        assert len(one.memories) <= most
        assert len(one.pairs) <= MOST_PAIRS
        assert len(one.units) <= MOST_UNITS
        assert list(one.memories) == sorted(one.memories, key=rank)
        assert list(one.units) == sorted(one.units, key=rank)


@given(st.lists(st.tuples(texts, texts), unique=True, max_size=60), st.randoms())
def test_the_callers_order_does_not_matter(wanted: list[tuple[str, str]], random: object) -> None:
    """Neither position nor author can be read from the order."""
    mixed = list(wanted)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert list(chunks(wanted)) == list(chunks(mixed))


def test_a_whole_matrix_fills_its_requests() -> None:
    """30 memories and 20 units: 96 pairs are 12 memories by 8 units, or 24 by the last 4."""
    memories, units = [f"m{i}" for i in range(30)], [f"u{i}" for i in range(20)]
    found = list(chunks(product(memories, units)))
    assert [(len(one.memories), len(one.units)) for one in found] == [
        (12, 8), (12, 8), (6, 8), (12, 8), (12, 8), (6, 8), (24, 4), (6, 4),
    ]  # fmt: skip
    assert sum(len(one.pairs) for one in found) == 600


def test_long_memories_go_alone() -> None:
    """Two that are too long together make two requests; none is cut."""
    long = [letter * (MOST_LETTERS - 10) for letter in "ab"]
    found = list(chunks(product(long, ["u"])))
    assert [one.memories for one in found] == [(one,) for one in shuffled(long)]


def test_order_is_by_hash() -> None:
    """Known hashes of three letters; equal texts are one."""
    # a: ca978112..., b: 3e23e816..., c: 2e7d2c03...
    assert shuffled(["a", "b", "c", "a"]) == ["c", "b", "a"]
