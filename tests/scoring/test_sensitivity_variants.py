"""Label noise: what it changes, what it leaves, and that a seed repeats it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from memaudit.scoring.judge import Cell
from memaudit.scoring.sensitivity_variants import (
    LABELS,
    NOISE_KINDS,
    Noise,
    NoiseKind,
    mislabelled,
    noisy_cells,
)
from memaudit.scoring.written_store import WrittenStore
from tests.scoring.small_stores import CAT, DOG, PETS, F, memory

ALL = F(1)
UNITS = [f"u{n:02d}" for n in range(20)]
CELLS = {f"u{n:02d}": Cell(LABELS[n % 3], "pass:x") for n in range(9)}


@pytest.mark.parametrize("kind", NOISE_KINDS)
@pytest.mark.parametrize("repetition", range(5))
def test_exact_cells_stay(kind: NoiseKind, repetition: int) -> None:
    """Candidate a states its unit word for word, which no noise can change. At rate 0 package and
    stores come back equal."""
    none = Noise(kind, F(0), 3, repetition)
    assert mislabelled(PETS, [DOG, CAT], none) == (PETS, (DOG, CAT))
    noisy, (found,) = mislabelled(PETS, [DOG], Noise(kind, ALL, 3, repetition))
    assert noisy.coverage[0] == PETS.coverage[0]
    judged = [row.provenance for row in noisy.coverage[1:]]
    judged += [cell.provenance for cell in found.memories[0].coverage.values()]
    assert set(judged) == {f"noise:{kind}"}
    pointed = {"u00": Cell(F(1), "exact:statement")}
    assert (
        noisy_cells("text", pointed, UNITS, [F(0)], Noise(kind, ALL, 3, repetition), {}) == pointed
    )


def test_flip() -> None:
    """At rate 1 every label, a 0 too, becomes one of the two others; both occur."""
    seen = set()
    for repetition in range(10):
        found = noisy_cells("text", CELLS, UNITS, [], Noise("flip", ALL, 0, repetition), {})
        assert found.keys() == CELLS.keys()
        for unit, cell in found.items():
            assert cell.value in LABELS
            assert cell.value != CELLS[unit].value
            assert cell.provenance == "noise:flip"
            seen.add((CELLS[unit].value, cell.value))
    assert len(seen) == 6


def test_resample_draws_from_all_labels() -> None:
    """PETS and DOG hold the labels 1 and 1/2: nothing else is drawn, and both are."""
    half = WrittenStore("half", (memory("m", 2, "a dog", dog="1/2"),))
    seen = set()
    for repetition in range(20):
        noisy, (found,) = mislabelled(PETS, [half], Noise("resample", ALL, 0, repetition))
        seen |= {found.memories[0].coverage["dog"].value, noisy.coverage[1].value}
    assert seen == {F(1), F(1, 2)}


def test_move() -> None:
    """At rate 1 no label stays, all land on units without one, and a 0 has nowhere to go."""
    found = noisy_cells("text", CELLS, UNITS, [], Noise("move", ALL), {})
    stayed = {unit for unit in found if unit in CELLS}
    assert stayed == {unit for unit, cell in CELLS.items() if not cell.value}
    moved = [cell.value for unit, cell in found.items() if unit not in CELLS]
    assert 1 <= len(moved) <= 6
    assert set(moved) <= {F(1, 2), F(1)}
    crowded = {unit: Cell(F(1), "pass:x") for unit in UNITS}
    assert noisy_cells("text", crowded, UNITS, [], Noise("move", ALL), {}) == crowded


def test_repeatable_and_different() -> None:
    """A seed and a repetition give the same again; another of either gives another."""
    many = {unit: Cell(F(1), "pass:x") for unit in UNITS}

    def hit(seed: int, repetition: int) -> frozenset[str]:
        noise = Noise("flip", F(1, 2), seed, repetition)
        return frozenset(
            u for u, c in noisy_cells("t", many, UNITS, [], noise, {}).items() if c.value < 1
        )

    assert hit(1, 0) == hit(1, 0)
    assert len({hit(1, 0), hit(1, 1), hit(2, 0)}) == 3


def test_rate_is_a_share_and_grows() -> None:
    """Of 4,000 labels a tenth is struck, give or take, and again at every higher rate."""
    labels = [(f"text {n}", f"u{n}") for n in range(4000)]

    def hit(rate: Fraction) -> set[tuple[str, str]]:
        return {at for at in labels if Noise("flip", rate).draw(*at)[0]}

    tenth, third = hit(F(1, 10)), hit(F(1, 3))
    assert 320 < len(tenth) < 480
    assert tenth < third
    assert hit(F(0)) == set()
    assert hit(F(1)) == set(labels)


def test_equal_texts_are_mislabelled_alike() -> None:
    """As by one blind judge, whatever the store is called."""
    other = replace(DOG, name="other")
    for repetition in range(10):
        _, (one, two) = mislabelled(PETS, [DOG, other], Noise("flip", F(1, 2), 0, repetition))
        assert one.memories[0].coverage == two.memories[0].coverage


@pytest.mark.parametrize("kind", NOISE_KINDS)
def test_parts_are_kept_or_lost_and_never_without_their_core(kind: NoiseKind) -> None:
    """A flipped part is the other of 0 and 1. A lost core takes its part with it."""
    cells = {"a#what": Cell(F(1), "pass:x"), "a#when": Cell(F(1), "pass:x")}
    core_of = {"a#what": "a#what", "a#when": "a#what"}
    seen = set()
    for repetition in range(40):
        noise = Noise(kind, F(1, 2), 0, repetition)
        found = noisy_cells("text", cells, ["b", *cells], [F(1, 2), F(1)], noise, core_of)
        seen.add(tuple(found[unit].value if unit in found else F(0) for unit in cells))
    assert seen <= {(0, 0), (1, 0), (1, 1)}
    assert len(seen) == 3
