"""From exported stores to judged ones."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import LexicalJudge
from memaudit.judges.salience import named_salience
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import Memory, Origin
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.priced_store import FAILED_SALIENCE
from tests.cli.running import write_rows
from tests.kernel.score.small_stores import exported, fish_package

PACKAGE = fish_package("lunch")


def test_only_the_memories_of_the_package() -> None:
    """A store of many examples is scored example by example."""
    mine = Memory(id="a", text="Ann eats fish now", example="lunch")
    other = Memory(id="b", text="Bo has a dog", example="dinner")
    found = judge_store(PACKAGE, exported(mine, other), LexicalJudge())
    assert [memory.id for memory in found.memories] == ["a"]
    with pytest.raises(MemAuditError, match="was not written for the package 'lunch'"):
        judge_store(PACKAGE, exported(other), LexicalJudge())
    for listed in (["dinner", "lunch"], {"dinner": 1, "lunch": 0}):
        origin = Origin(system="x", format="plain", configuration={"examples": listed})
        empty = judge_store(PACKAGE, exported(other, origin=origin), LexicalJudge())
        assert empty.memories == ()


def test_order_and_state() -> None:
    """By time where all have one; what is not active is not scored."""
    late = Memory(id="late", text="x", created_at="2025-02-01")
    early = Memory(id="early", text="x y", created_at="2025-01-01")
    gone = Memory(id="gone", text="x", state="deleted", created_at="2025-01-02")
    found = judge_store(PACKAGE, exported(late, early, gone), LexicalJudge())
    assert [(memory.id, memory.cost) for memory in found.memories] == [("early", 2), ("late", 1)]


def test_packages_that_are_not_scored(tmp_path: Path) -> None:
    """Ambiguous and rejected ones, those whose costs cannot be measured, and stores without any
    label: among many stores one must know which, and what to do if it covers nothing."""
    out = PACKAGE.replace(attributes={"scoring_pool": False, "status": "ambiguous"})
    with pytest.raises(MemAuditError, match="out of the scoring pool"):
        judge_store(out, exported(), LexicalJudge())
    with pytest.raises(MemAuditError, match="--cost-rule"):
        judge_store(PACKAGE.replace(cost_rule="declared"), exported(), LexicalJudge())
    label = {"memory_id": "other", "unit_id": "u", "coverage": 1}
    labels = write_rows(tmp_path / "ann.jsonl", label)
    with pytest.raises(MemAuditError, match=r"^store 's': ann\.jsonl: no label .* a label of 0"):
        judge_store(PACKAGE, exported(Memory(id="a", text="x")), LabelJudge(labels))


RATED = exported(
    Memory(id="a", text="Ann eats fish now", salience=0.9),
    Memory(id="b", text="Bo has a dog", salience=0.1),
)


def test_salience_of_a_file_is_not_mixed_with_the_systems_own(tmp_path: Path) -> None:
    """A memory the file does not name has none, and is counted; without a file its own counts."""
    own = judge_store(PACKAGE, RATED, LexicalJudge())
    assert [one.salience for one in own.memories] == [Fraction(9, 10), Fraction(1, 10)]
    path = tmp_path / "calls.jsonl"
    write_rows(
        path,
        {"instance_id": "lunch", "scores": {"a": {"salience": 5}}},
        {"instance_id": "tea", "error": "timeout"},
    )
    given = judge_store(PACKAGE, RATED, LexicalJudge(), named_salience([str(path)], [RATED.name]))
    assert [one.salience for one in given.memories] == [5, None]
    assert given.caveats.without_salience == {"salience": 1}
    assert given.caveats.left_out == {FAILED_SALIENCE: 1}
    assert [one.query_salience for one in given.memories] == [None, None]
    aware = judge_store(
        PACKAGE, RATED, LexicalJudge(), named_salience([f"query:{path}"], [RATED.name])
    )
    assert [one.salience for one in aware.memories] == [Fraction(9, 10), Fraction(1, 10)]
    assert [one.query_salience for one in aware.memories] == [5, None]
    assert aware.caveats.without_salience == {"query_salience": 1}
    write_rows(path, {"instance_id": "dinner", "scores": {"a": {"salience": 5}}})
    with pytest.raises(NotJudged, match="has no salience of 'lunch'"):
        judge_store(PACKAGE, RATED, LexicalJudge(), named_salience([str(path)], [RATED.name]))
