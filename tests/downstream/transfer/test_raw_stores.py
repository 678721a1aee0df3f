"""What the three raw stores keep, by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.package import Package
from memaudit.downstream.transfer import RAW_STORES, raw_holding, raw_words

COSTS = (3, 5, 2, 9, 4)


def turns(costs: tuple[int, ...] = COSTS) -> Package:
    """A turn of each cost, with a summary that no raw store keeps."""
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": f"e{at}", "index": at} for at in range(len(costs))],
            "candidates": [
                {"id": f"e{at}/{kind}", "experience": f"e{at}", "kind": kind, "cost": cost,
                 "text": f"{kind} {at}"}
                for at, cost in enumerate(costs)
                for kind in ("raw", "summary")
            ],
            "units": [{"id": "u", "kind": "fact"}],
            "coverage": [{"candidate": "e1/raw", "unit": "u", "value": 1},
                         {"candidate": "e1/summary", "unit": "u", "value": 1}],
        }
    )  # fmt: skip


def kept(name: str, budget: int, seed: int = 0, costs: tuple[int, ...] = COSTS) -> list[str]:
    """Numbers of the turns that a store keeps."""
    found = raw_holding(name, turns(costs), Fraction(budget), seed)
    assert [memory.id for memory in found.written] == [f"e{at}/raw" for at in range(len(costs))]
    return [memory.id.removeprefix("e").removesuffix("/raw") for memory in found.kept]


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (23, "01234"),
        (15, "234"),  # 3 + 5 + 2 fit; 9 pushes 3 and 5 out to 11; 4 is the last of 15
        (13, "34"),
        (9, "4"),  # 9 pushes all out, 4 pushes 9 out
        (8, "24"),  # 9 is too long to be let in: 3 + 5 -> 5 + 2 -> 2 + 4
        (0, ""),
    ],
)
def test_first_in_first_out(budget: int, expected: str) -> None:
    """A new turn pushes out the oldest."""
    assert "".join(kept("fifo", budget)) == expected


def test_everything() -> None:
    """The full store knows no budget; it costs 23, and holds what its turns cover."""
    assert kept("full_raw", 0) == list("01234")
    assert raw_words(turns()) == 23
    found = raw_holding("full_raw", turns(), Fraction(0), 0)
    assert [dict(memory.covers) for memory in found.written] == [{}, {"u": 1}, {}, {}, {}]


@given(st.integers(0, 30), st.integers(0, 5), st.lists(st.integers(1, 9), min_size=2, max_size=9))
def test_budgets_hold_and_are_used(budget: int, seed: int, costs: list[int]) -> None:
    """Whatever is left out of the sample would not fit any more; the queue is the newest turns."""
    many = tuple(costs)
    for name in ("raw_replay", "fifo"):
        inside = [int(at) for at in kept(name, budget, seed, many)]
        spent = sum(many[at] for at in inside)
        assert spent <= budget
        if name == "raw_replay":
            assert all(spent + many[at] > budget for at in set(range(len(many))) - set(inside))
        elif inside:
            short = [at for at, cost in enumerate(many) if cost <= budget]
            assert inside == short[short.index(inside[0]) :]


def test_the_sample_depends_on_the_seed() -> None:
    """Same seed, same sample; other seeds give others."""
    samples = {tuple(kept("raw_replay", 8, seed)) for seed in range(20)}
    assert kept("raw_replay", 8, 3) == kept("raw_replay", 8, 3)
    assert len(samples) > 2
    assert set(RAW_STORES) == {"full_raw", "raw_replay", "fifo"}
