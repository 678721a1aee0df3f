"""The judge's requests, and the sample that another model checks."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.natural.passes.coverage import (
    MAX_CHARACTERS,
    MAX_MEMORIES,
    MAX_PAIRS,
    MAX_UNITS,
    JudgedCell,
    JudgedCells,
    SpotCheck,
    chunks,
    rank,
    shuffled,
    spot_check_sample,
)
from memaudit.natural.passes.recipe import ModelRecipe

texts = st.text("abc ", min_size=1, max_size=6)
pairs = st.sets(st.tuples(texts, texts), max_size=120)


@given(pairs, st.sampled_from([1, MAX_MEMORIES]))
def test_every_pair_is_asked_once(wanted: set[tuple[str, str]], most: int) -> None:
    """Within the limits, under numbers from 1."""
    found = list(chunks(wanted, most))
    asked = [one.pair(numbers) for one in found for numbers in one.pairs]
    assert sorted(asked) == sorted(wanted)
    for one in found:
        assert len(one.memories) <= most
        assert len(one.pairs) <= MAX_PAIRS
        assert len(one.units) <= MAX_UNITS
        assert list(one.memories) == sorted(one.memories, key=rank)
        assert list(one.units) == sorted(one.units, key=rank)


@given(st.lists(st.tuples(texts, texts), unique=True, max_size=60), st.randoms())
def test_the_callers_order_does_not_matter(wanted: list[tuple[str, str]], random: object) -> None:
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
    long = [letter * (MAX_CHARACTERS - 10) for letter in "ab"]
    found = list(chunks(product(long, ["u"])))
    assert [one.memories for one in found] == [(one,) for one in shuffled(long)]


def test_order_is_by_hash() -> None:
    """Known hashes of three letters; equal texts are one."""
    # a: ca978112..., b: 3e23e816..., c: 2e7d2c03...
    assert shuffled(["a", "b", "c", "a"]) == ["c", "b", "a"]


FULL, PARTIAL, NONE = JudgedCell("full", ""), JudgedCell("partial", ""), JudgedCell("none", "")
CELLS: JudgedCells = {
    **{(f"m{i}", "u1"): FULL for i in range(4)},
    **{(f"m{i}", "u2"): PARTIAL for i in range(1)},
    **{(f"m{i}", "u3"): NONE for i in range(11)},
    ("m0", "u4"): None,
}


def test_a_share_of_every_label_rounded_up() -> None:
    """A fifth of 4, 1 and 11 is 1, 1 and 3; undecided cells have no label to check."""
    chosen = spot_check_sample(CELLS, Fraction(1, 5), 0, "x")
    assert Counter(unit for _, unit in chosen) == {"u1": 1, "u2": 1, "u3": 3}
    assert spot_check_sample(CELLS, Fraction(1), 0, "x") == CELLS.keys() - {("m0", "u4")}


def test_the_order_of_cells_does_not_matter_but_the_seed_does() -> None:
    turned = dict(reversed(CELLS.items()))
    assert spot_check_sample(turned, Fraction(1, 5), 0, "x") == spot_check_sample(
        CELLS, Fraction(1, 5), 0, "x"
    )
    others = [spot_check_sample(CELLS, Fraction(1, 5), seed, "x") for seed in range(5)]
    assert any(one != others[0] for one in others)


def test_agreement_by_hand() -> None:
    cells = {("a", "1"): (FULL, FULL), ("a", "2"): (NONE, NONE), ("b", "1"): (NONE, PARTIAL),
             ("b", "2"): (NONE, NONE)}  # fmt: skip
    spot = SpotCheck(cells)
    assert spot.agreement == Fraction(3, 4)
    assert spot.table == {("full", "full"): 1, ("none", "none"): 2, ("none", "partial"): 1}
    assert SpotCheck({}).agreement is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"adjudicator": "one"}, "cannot adjudicate its own work"),
        ({"spot_checker": "one"}, "which judged the cells"),
        ({"judge": "two", "spot_checker": "two"}, "which judged the cells"),
        ({"cost_rule": "declared"}, "measures its costs"),
        ({"cost_rule": "stones"}, "unknown cost rule"),
        ({"spot_share": Fraction(0)}, "share"),
        ({"model": ""}, "--model"),
        ({"frame": "week"}, "conversation or session"),
    ],
)
def test_nobody_checks_their_own_work(given: dict[str, object], message: str) -> None:
    with pytest.raises(MemAuditError, match=message):
        ModelRecipe(**{"model": "one", **given})  # type: ignore[arg-type]


def test_who_does_what() -> None:
    assert ModelRecipe("one").checker is None
    assert ModelRecipe("one", adjudicator="two").checker == "two"
    assert ModelRecipe("one", judge="two", adjudicator="two").checker is None
    assert ModelRecipe("one", adjudicator="two", spot_checker="three").checker == "three"
    assert ModelRecipe("one", judge="two").models["coverage"] == "two"
