"""The families have the declared sizes, and are the same on every machine."""

import hashlib

import numpy as np
import pytest

from bench.families import FAMILIES, family, warm_up
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
