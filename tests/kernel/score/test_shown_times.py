"""Times in the texts of memories: the conversation's, where a reader is shown them."""

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, Times
from memaudit.kernel.score.package_scores import refuse_incomparable
from memaudit.kernel.score.priced_store import OTHER_CLOCK, price_store
from memaudit.stores.registry import with_reader_time
from tests.proofs import package

PACKAGE = package(
    "",
    {},
    cost_rule="words",
    experiences=[
        {"id": "a", "timestamp": "2023-05-08T13:56"},
        {"id": "b", "timestamp": "2023-06-09"},
    ],
)
MEMORIES = (
    Memory(
        id="said",
        text="x",
        created_at="2023-05-08T13:56:00",
        valid_from="2023-05-08",
        valid_to="2023-06-01T00:00:00",
    ),
    Memory(id="wall", text="y", created_at="2025-01-02T03:04:05", valid_from="2025-01-02"),
    Memory(id="none", text="z"),
    Memory(id="written", text="On 2023-05-09 w", created_at="2023-05-09T00:00:00"),
)


def shown(format: str, times: Times) -> tuple[list[str], int]:
    origin = Origin(system="x", format=format)
    store = ExportedStore(name="s", origin=origin, memories=MEMORIES, times=times)
    measured = price_store(PACKAGE, with_reader_time(store))
    texts = {memory.id: memory.text for memory in measured.memories}
    assert all(memory.cost == len(memory.text.split()) for memory in measured.memories)
    left_out = measured.caveats.left_out.get(OTHER_CLOCK, 0)
    return [texts[id] for id in ("said", "wall", "none", "written")], left_out


@pytest.mark.parametrize(
    ("format", "times", "first", "left_out"),
    [
        ("amem", "shown", "2023-05-08 13:56: x", 1),
        ("amem", "none", "x", 0),
        ("graphiti", "shown", "2023-05-08 to 2023-06-01: x", 1),
        ("mem0", "shown", "x", 0),
        ("mem0", "all", "2023-05-08 13:56: x", 1),
        ("unknown", "shown", "x", 0),
    ],
)
def test_times(format: str, times: Times, first: str, left_out: int) -> None:
    """A wall clock is never shown, and a text that has its day gets no second one."""
    assert shown(format, times) == ([first, "y", "z", "On 2023-05-09 w"], left_out)


def test_a_conversation_without_times_shows_none() -> None:
    bare = PACKAGE.replace(
        experiences=tuple(
            turn.model_copy(update={"timestamp": None}) for turn in PACKAGE.experiences
        )
    )
    origin = Origin(system="x", format="amem", reader_time="created_at")
    store = ExportedStore(name="s", origin=origin, memories=MEMORIES)
    measured = price_store(bare, store)
    assert {memory.text for memory in measured.memories} >= {"x", "y"}
    assert measured.caveats.left_out == {OTHER_CLOCK: 2}


def test_one_rule_for_all_stores() -> None:
    origin = Origin(system="x", format="amem")
    stores = [
        ExportedStore(name=times, origin=origin, memories=(), times=times)
        for times in ("shown", "none")
    ]
    with pytest.raises(MemAuditError, match="'shown' was imported with --times shown and 'none'"):
        refuse_incomparable(stores)
