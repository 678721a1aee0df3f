"""What a score does not see, in words and numbers."""

from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.io.score_file import StoreRow
from memaudit.kernel.io.store_file import ImportCount, Memory, Origin
from memaudit.kernel.score.caveats import (
    NO_CAVEATS,
    Caveat,
    Caveats,
    caveat_lines,
    caveat_texts,
    is_incomplete,
    row_caveats,
    unread_rows,
)
from memaudit.kernel.score.judging import judge_store
from memaudit.stores.registry import import_store
from tests.kernel.score.small_stores import exported
from tests.stores.exports import EXPORTS

HOTEL = next(package for package in short_set() if package.name == "hotel-rooms")


def test_rows_that_are_lost() -> None:
    """Repeated, blank and unwanted rows leave nothing unread; others do. In score files a
    count of unread rows says more than the warning; files of earlier versions lack it."""
    skipped = {"no text": 2, "repeated row": 3, "empty text": 1, "other namespace": 9}
    skipped["API error"] = 1
    assert unread_rows(exported(count=ImportCount(read=16, kept=0, skipped=skipped))) == 3
    assert unread_rows(exported()) == 0
    partly = "partly read: 1 of 5 rows were skipped"
    cut = "truncated: holds 20 of 30 rows"
    counted = StoreRow(name="s", warnings=(partly, cut), unread_rows=1)
    assert [text for _, text in row_caveats(counted)] == [
        "PARTLY READ: 1 row of the export is not in the store",
        f"INCOMPLETE: {cut}",
    ]
    before = StoreRow(name="s", warnings=(partly,))
    assert [text for _, text in row_caveats(before)] == [f"INCOMPLETE: {partly}"]
    assert is_incomplete(counted)
    assert is_incomplete(before)
    assert not is_incomplete(StoreRow(name="s", warnings=("order of writing unknown: x",)))


@pytest.mark.parametrize(
    "export", ["letta agent file", "letta passages", "mem0 search", "mem0 older list"]
)
def test_exports_that_are_a_part_by_their_kind(export: str, tmp_path: Path) -> None:
    """Core memory without passages, passages without it, and search results are incomplete."""
    store = import_store([EXPORTS[export].write(tmp_path)])
    memories = tuple(memory.model_copy(update={"example": None}) for memory in store.memories)
    store = store.model_copy(update={"memories": memories})
    caveats = judge_store(HOTEL, store, LexicalJudge()).caveats
    assert caveats.incomplete
    assert f"INCOMPLETE: {caveats.incomplete[0]}" in caveats.lines


def test_lines() -> None:
    """One line per caveat, in the singular where there is one."""
    assert NO_CAVEATS.lines == []
    single = Caveats(
        1, ("truncated: {x}",), (("m", "u"),), {"labels of nobody": 2}, {"salience": 1}
    )
    assert single.lines == [
        "PARTLY READ: 1 row of the export is not in the store",
        "INCOMPLETE: truncated: {x}",
        "1 cell got no answer and counts as not covered",
        "left out, labels of nobody: 2",
        "no salience row: 1 memory without a score in the file",
    ]
    many = Caveats(2, undecided=(("m", "u"), ("m", "v")))
    assert caveat_lines([("a", NO_CAVEATS), ("b", many)]) == [
        "b: PARTLY READ: 2 rows of the export are not in the store",
        "b: 2 cells got no answer and count as not covered",
    ]
    every = Caveats(1, ("x",), (), {"y": 1}, {"salience": 1}, True, ("ann", "bo"))
    texts = caveat_texts(every, undecided=1)
    assert {caveat for caveat, _ in texts} == set(Caveat)
    assert len({text for _, text in texts}) == len(Caveat)


def test_a_store_of_something_else() -> None:
    """Said where memories cover no unit at all; an empty store is only empty."""
    other = exported(Memory(id="a", text="Zzz."))
    assert judge_store(HOTEL, other, LexicalJudge()).caveats.lines == [
        "COVERS NOTHING of this package: was it written for the same conversation?"
    ]
    own = exported(Memory(id="a", text="Ingrid wants hotel rooms away from the lift."))
    for store in (own, exported()):
        assert judge_store(HOTEL, store, LexicalJudge()).caveats.lines == []


def of_users(*users: str | None, **memory: object) -> list[Memory]:
    row = {"text": "Ingrid wants rooms away from the lift.", **memory}
    return [
        Memory.model_validate({**row, "id": str(at), "namespace": user})
        for at, user in enumerate(users)
    ]


def test_users_whose_memories_recency_mixes() -> None:
    """Said of several users among the memories that are scored: active, of this conversation, and
    in an order that recency knows. Blocks and folders are parts of one user's memory."""
    other = {"state": "deleted"}

    def lines(*memories: Memory, format: str = "mem0") -> list[str]:
        origin = Origin(system="s", format=format)
        store = exported(*memories).model_copy(update={"origin": origin})
        return judge_store(HOTEL, store, LexicalJudge()).caveats.lines

    said = "holds memories of {} users ({}): recency mixes them; import one with --namespace"
    assert lines(*of_users("bo", "ann", "bo", None)) == [said.format(2, "ann, bo")]
    assert lines(*of_users("d", "c", "b", "a")) == [said.format(4, "a, b, c, ...")]
    for quiet in (
        of_users("ann", "ann", None),
        of_users("ann", "bo", lines=(1, 1)),
        [*of_users("ann"), *of_users(None, "bo", **other)[1:]],
        [*of_users("ann", example=HOTEL.name), *of_users(None, "bo", example="other")[1:]],
    ):
        assert lines(*quiet) == []
    for format in ("letta", "markdown"):
        assert lines(*of_users("human", "persona"), format=format) == []
    row = StoreRow(name="s", mixed_users=("ann", "bo"))
    assert row_caveats(row) == [(Caveat.MIXED_USERS, said.format(2, "ann, bo"))]
    assert not is_incomplete(row)
