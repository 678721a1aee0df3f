"""The families have the declared sizes, and are the same on every machine."""

import hashlib

import numpy as np
import pytest

from bench.families import C_BUDGETS, DEFAULT_SEEDS, FAMILIES, family, warm_up
from bench.instance import Instance
from memaudit.core.errors import MemAuditError

COUNTS = {"A": 40, "B": 40, "C": 18, "D": 3, "E": 6, "H": 3}

DIGESTS = {
    "A": "414056368e13", "B": "9cc76c24b033", "C": "e22b033c5310", "D": "6c5ef350a38c",
    "E": "177860ffbc50", "H": "fe970c306b52",
}  # fmt: skip


def fingerprint(instance: Instance) -> str:
    packed = instance.packed
    arrays = (
        packed.cost, packed.group, packed.row_start, packed.unit, packed.level,
        packed.table_start, packed.table, np.array([packed.budget, packed.group_cap]),
    )  # fmt: skip
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:12]


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Instance]]:
    return {name: family(name) for name in FAMILIES}


def test_default_seeds_give_the_declared_counts(drawn: dict[str, list[Instance]]) -> None:
    assert {name: len(instances) for name, instances in drawn.items()} == COUNTS
    names = [instance.name for instances in drawn.values() for instance in instances]
    assert len(set(names)) == len(names)
    assert {name.split(" B ")[0] for name in names if name.startswith("C")} == {
        "C101 cross 60", "C102 cross 0", "C103 cross 30",
    }  # fmt: skip


@pytest.mark.parametrize("name", DIGESTS)
def test_the_first_problem_of_a_family_never_changes(name: str) -> None:
    assert fingerprint(family(name, DEFAULT_SEEDS[name][:1])[0]) == DIGESTS[name]


@pytest.mark.parametrize("name", FAMILIES)
def test_arrays_hold_together(name: str, drawn: dict[str, list[Instance]]) -> None:
    for instance in drawn[name]:
        packed = instance.packed
        assert len(packed.row_start) == len(packed.cost) + 1 == len(packed.group) + 1
        assert packed.row_start[-1] == len(packed.unit) == len(packed.level)
        assert set(np.diff(packed.group).tolist()) <= {0, 1}
        assert packed.group[0] == 0
        assert packed.unit.max() < len(packed.tops)
        assert np.all(packed.level > 0)
        assert np.all(packed.level <= packed.tops[packed.unit])
        assert packed.table_start[-1] == len(packed.table)


def test_tiny_problems_and_slices(drawn: dict[str, list[Instance]]) -> None:
    for instance in drawn["A"]:
        packed = instance.packed
        sizes = np.bincount(packed.group)
        assert len(sizes) == 7
        assert set(sizes.tolist()) <= {3, 4, 5}
        tables = packed.table.reshape(10, 11)
        assert np.array_equal(tables, np.outer(tables[:, 1], np.arange(11)))  # weight * level
        assert 2 <= packed.budget <= 16
    for instance in drawn["B"]:
        packed = instance.packed
        sizes = np.bincount(packed.group)
        assert 5 <= np.count_nonzero(sizes == 1) <= 60  # a store
        assert 2 <= np.count_nonzero(sizes > 1) <= 6
        assert 1 <= np.count_nonzero(packed.table[packed.table_start[:-1] + 2]) <= 6
        assert packed.budget in (30, 60, 100)


def test_conversations_have_the_size_of_real_ones(drawn: dict[str, list[Instance]]) -> None:
    assert [instance.packed.budget for instance in drawn["C"]] == list(C_BUDGETS) * 3
    for instance in drawn["C"]:
        groups = int(instance.packed.group.max()) + 1
        assert 500 <= groups <= 750
        assert 2000 <= len(instance.packed.cost) <= 3000
        assert 350 <= len(instance.packed.tops) <= 450
    assert [instance.packed.budget for instance in drawn["D"]] == [1000, 5000, 10000]
    for instance in drawn["D"]:
        assert 18_000 <= len(instance.packed.cost) <= 23_000


@pytest.mark.parametrize("name", ["E", "H"])
def test_dense_candidates_cover_five_to_fifteen_units(
    name: str, drawn: dict[str, list[Instance]]
) -> None:
    for instance in drawn[name]:
        sizes = np.diff(instance.packed.row_start)
        assert sizes.min() >= 5
        assert sizes.max() <= 15
        assert instance.packed.level.max() <= 9


def test_other_seeds_give_other_problems(drawn: dict[str, list[Instance]]) -> None:
    first, second = family("A", [1, 2])
    assert fingerprint(first) != fingerprint(second)
    measured = {fingerprint(instance) for instances in drawn.values() for instance in instances}
    assert not measured & {fingerprint(instance) for instance in warm_up()}
    with pytest.raises(MemAuditError, match="A, B, C, D, E, H"):
        family("Z")
