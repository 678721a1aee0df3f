"""The families have the declared sizes, and are the same on every machine."""

import hashlib

import numpy as np
import pytest

from bench.families import C_BUDGETS, FAMILIES, family, warm_up
from bench.instance import Instance
from memaudit.kernel.errors import MemAuditError

COUNTS = {"A": 40, "B": 40, "C": 18, "D": 6, "E": 12, "H": 9, "R": 36}

DIGESTS = {
    "A": "845454970456",
    "B": "61021acbdaa7",
    "C": "a24128cb452f",
    "D": "985d4469d307",
    "E": "18e9763a1fa5",
    "H": "4854245b6766",
    "R": "76eb6f190dfe",
}
"""Of all problems of a family."""


def fingerprint(instance: Instance) -> str:
    packed = instance.packed
    arrays = (
        packed.cost,
        packed.group,
        packed.row_start,
        packed.unit,
        packed.level,
        packed.table_start,
        packed.table,
        np.array([packed.budget, packed.group_cap]),
    )
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:12]


@pytest.fixture(scope="module")
def drawn() -> dict[str, list[Instance]]:
    return {name: family(name) for name in FAMILIES}


def test_default_seeds_give_the_declared_counts(drawn: dict[str, list[Instance]]) -> None:
    assert {name: len(instances) for name, instances in drawn.items()} == COUNTS
    names = [instance.name for instances in drawn.values() for instance in instances]
    assert len(set(names)) == len(names)
    assert {name.split(" B ")[0] for name in names if name.startswith("C")} == {
        "C701 cross 60",
        "C702 cross 0",
        "C703 cross 30",
    }


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


def test_sizes_of_conversations_and_dense_problems(drawn: dict[str, list[Instance]]) -> None:
    assert [instance.packed.budget for instance in drawn["C"]] == list(C_BUDGETS) * 3
    for instance in drawn["C"]:
        groups = int(instance.packed.group.max()) + 1
        assert 500 <= groups <= 750
        assert 2000 <= len(instance.packed.cost) <= 3000
        assert 350 <= len(instance.packed.tops) <= 450
    assert [instance.packed.budget for instance in drawn["D"]] == [1000, 5000, 10000] * 2
    for instance in drawn["D"]:
        assert 18_000 <= len(instance.packed.cost) <= 23_000
    for instance in (*drawn["E"], *drawn["H"]):  # dense: every candidate covers 5 to 15 units
        assert set(np.diff(instance.packed.row_start).tolist()) <= set(range(5, 16))


def test_other_seeds_give_other_problems(drawn: dict[str, list[Instance]]) -> None:
    first, second = family("A", [1, 2])
    assert fingerprint(first) != fingerprint(second)
    measured = {fingerprint(instance) for instances in drawn.values() for instance in instances}
    assert not measured & {fingerprint(instance) for instance in warm_up()}
    with pytest.raises(MemAuditError, match="A, B, C, D, E, H, R"):
        family("Z")


@pytest.mark.parametrize("name", FAMILIES)
def test_no_problem_of_a_family_ever_changes(name: str, drawn: dict[str, list[Instance]]) -> None:
    prints = "".join(fingerprint(instance) for instance in drawn[name])
    assert hashlib.sha256(prints.encode()).hexdigest()[:12] == DIGESTS[name]
