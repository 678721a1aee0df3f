"""The lives of rows, also where a view takes a row apart."""

from memaudit.adapters.capture.example import Account
from memaudit.adapters.store import Memory


def test_the_lines_of_a_row_share_its_life() -> None:
    """A block written after e0 and emptied after e2, read line by line; a passage between."""
    account = Account()
    account.note("e0", [{"id": "block-1", "change": "add", "export": {"value": "a\nb"}}])
    account.note("e1", [{"id": "passage-1", "change": "add", "export": {"text": "c"}}])
    account.note("e2", [{"id": "block-1", "change": "delete"}])
    read = [Memory(id="passage-1", text="c"), Memory(id="block-1:1", text="a"),
            Memory(id="block-1:2", text="b")]  # fmt: skip
    lines = account.settle(read, "p")
    assert [(one.id, one.state, one.metadata["written_after"]) for one in lines] == [
        ("block-1:1", "deleted", ["e0"]),
        ("block-1:2", "deleted", ["e0"]),
        ("passage-1", "active", ["e1"]),
    ]
