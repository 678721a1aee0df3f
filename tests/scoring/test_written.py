"""From exported stores to written ones."""

from pathlib import Path

import pytest

from memaudit.adapters.store import ExportedStore, Memory, Origin
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.judged_store import written
from memaudit.scoring.judges.labels import Labels
from memaudit.scoring.judges.lexical import Lexical

PACKAGE = Package.model_validate(
    {
        "name": "lunch",
        "cost_rule": "words",
        "experiences": [{"id": "e"}],
        "candidates": [],
        "units": [{"id": "u", "kind": "fact", "text": "Ann eats fish now.", "weight": 1}],
    }
)
ORIGIN = Origin(system="s", format="plain")


def store(*memories: Memory, **configuration: object) -> ExportedStore:
    """A store of these."""
    origin = ORIGIN.model_copy(update={"configuration": configuration})
    return ExportedStore(name="s", origin=origin, memories=memories)


def test_only_the_memories_of_the_package() -> None:
    """A store of many examples is scored example by example."""
    mine = Memory(id="a", text="Ann eats fish now", example="lunch")
    other = Memory(id="b", text="Bo has a dog", example="dinner")
    found = written(PACKAGE, store(mine, other), Lexical())
    assert [memory.id for memory in found.memories] == ["a"]
    with pytest.raises(MemAuditError, match="was not written for the package 'lunch'"):
        written(PACKAGE, store(other), Lexical())
    for listed in (["dinner", "lunch"], {"dinner": 1, "lunch": 0}):
        empty = written(PACKAGE, store(other, examples=listed), Lexical())
        assert empty.memories == ()


def test_order_and_state() -> None:
    """By time where all have one; what is not active is not scored."""
    late = Memory(id="late", text="x", created_at="2025-02-01")
    early = Memory(id="early", text="x y", created_at="2025-01-01")
    gone = Memory(id="gone", text="x", state="deleted", created_at="2025-01-02")
    found = written(PACKAGE, store(late, early, gone), Lexical())
    assert [(memory.id, memory.cost) for memory in found.memories] == [("early", 2), ("late", 1)]


def test_packages_out_of_the_pool_are_not_scored() -> None:
    """Ambiguous and rejected ones stay in the artifact, and out of every mean."""
    out = PACKAGE.replace(attributes={"scoring_pool": False, "status": "ambiguous"})
    with pytest.raises(MemAuditError, match="out of the scoring pool"):
        written(out, store(), Lexical())


def test_declared_costs_cannot_be_measured() -> None:
    """One rule for everyone, or none."""
    with pytest.raises(MemAuditError, match="--cost-rule"):
        written(PACKAGE.replace(cost_rule="declared"), store(), Lexical())


def test_a_store_without_labels_is_named(tmp_path: Path) -> None:
    """Among many stores one must know which, and what to do if it covers nothing."""
    labels = tmp_path / "ann.jsonl"
    labels.write_text('{"memory_id": "other", "unit_id": "u", "coverage": 1}\n')
    with pytest.raises(MemAuditError, match=r"^store 's': ann\.jsonl: no label .* a label of 0"):
        written(PACKAGE, store(Memory(id="a", text="x")), Labels(labels))
