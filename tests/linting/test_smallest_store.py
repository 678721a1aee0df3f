"""The smallest store that loses nothing, compared with every subset."""

from fractions import Fraction
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.checker import PackageChecker
from memaudit.kernel.package.objective import value
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.linting.smallest_store import SHARES, smallest_stores
from tests.linting.stores import package

F = Fraction
UNITS = tuple((f"u{n}", "fact", f"unit {n}") for n in range(4))

memories = st.lists(
    st.tuples(
        st.integers(1, 9),
        st.dictionaries(st.sampled_from([u for u, *_ in UNITS]), st.sampled_from([F(1, 2), F(1)])),
    ),
    min_size=1,
    max_size=7,
)


def written(rows: list[tuple[int, dict[str, F]]]) -> JudgedStore:
    return JudgedStore(
        "s",
        tuple(
            WrittenMemory(
                f"m{n}",
                f"text {n}",
                F(cost),
                {unit: Cell(level, "pass:x") for unit, level in cells.items()},
            )
            for n, (cost, cells) in enumerate(rows)
        ),
    )


@settings(max_examples=60, deadline=None)
@given(memories)
def test_nothing_cheaper_keeps_as_much(rows: list[tuple[int, dict[str, F]]]) -> None:
    """For every share: the store is worth it, nothing cheaper is, and both proofs hold."""
    store = written(rows)
    found = smallest_stores(package(*UNITS, weight=1, cost_rule="declared"), store)
    alone = found.package
    ids = [one.id for one in alone.candidates]
    subsets = [chosen for size in range(len(ids) + 1) for chosen in combinations(ids, size)]
    worth = {chosen: value(alone, chosen).low for chosen in subsets}
    cost = {chosen: alone.total_cost(chosen) for chosen in subsets}
    assert found.value == max(worth.values())
    checker = PackageChecker(alone)
    for share, one in zip(SHARES, found.stores, strict=True):
        target = share * found.value
        least = min(cost[chosen] for chosen in subsets if worth[chosen] >= target)
        assert one.cost == one.at_least == least
        assert one.certified
        assert one.value >= target
        kept = tuple(f"s/{id}" for id in one.memories)
        assert (value(alone, kept).low, alone.total_cost(kept)) == (one.value, one.cost)
        for proof in one.proof:
            assert checker.verify(proof).valid
        if least:
            assert one.proof[-1].budget < least
            assert one.proof[-1].value < target


def test_a_store_that_is_worth_nothing() -> None:
    """Nothing is kept, and nothing has to be."""
    found = smallest_stores(
        package(*UNITS, weight=1, cost_rule="declared"), written([(3, {}), (2, {})])
    )
    assert (found.value, found.nothing_lost.cost, found.nothing_lost.memories) == (0, 0, ())
    assert found.nothing_lost.certified
