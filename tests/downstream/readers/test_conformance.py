"""What holds for every reader in the registry; a new one is found by itself."""

from dataclasses import replace
from itertools import permutations

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.downstream.readers.protocol import Asked, State
from memaudit.downstream.readers.registry import READERS, named_reader
from tests.downstream.small import ALL, ASKED

every_reader = pytest.mark.parametrize("name", sorted(READERS))
CALLS = [
    Asked("ann", question, memories)
    for question in ASKED.values()
    for size in (0, 2, 5)
    for memories in list(permutations(ALL, size))[:20]
]


@every_reader
def test_describes_itself(name: str) -> None:
    """Name and one line."""
    found = named_reader(name)
    assert found.name == name
    assert found.about
    assert "\n" not in found.about


@every_reader
def test_replies(name: str) -> None:
    """One a question, in order, always the same; it uses only what it was given."""
    found = READERS[name]
    replies = found.read(CALLS)
    assert replies == [found.read([one])[0] for one in CALLS]
    assert found.read([]) == []
    for asked, reply in zip(CALLS, replies, strict=True):
        assert set(reply.used) <= {memory.id for memory in asked.memories}
        assert reply.state in (State.ANSWERED, State.ABSTAINED)
        assert bool(reply.answer.strip()) == (reply.state is State.ANSWERED)


@every_reader
def test_nothing_retrieved(name: str) -> None:
    """It abstains."""
    nothing = [Asked("ann", question, ()) for question in ASKED.values()]
    assert {reply.state for reply in READERS[name].read(nothing)} == {State.ABSTAINED}


@every_reader
def test_only_what_says_so_peeks(name: str) -> None:
    """Without coverage, requirements and gold answers the others say the same."""
    blind = [
        Asked(
            "x",
            replace(one.question, gold=None, abstention=False, needs={}, stale={}),
            tuple(replace(memory, covers={}) for memory in one.memories),
        )
        for one in CALLS
    ]
    found = READERS[name]
    assert (found.read(blind) == found.read(CALLS)) is not found.peeks


def test_names_that_are_none() -> None:
    """An unknown one, a model without a name or a session, and a prompt for what takes none."""
    for name in ("model:", "models"):
        with pytest.raises(MemAuditError, match="unknown reader"):
            named_reader(name)
    with pytest.raises(MemAuditError, match="no model can be asked here"):
        named_reader("model:one")
    with pytest.raises(MemAuditError, match="has no prompt"):
        named_reader("extractive", "evidence-first")
