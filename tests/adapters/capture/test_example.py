"""What is fed: the visible side, nothing else."""

import pytest

from memaudit.adapters.capture.feed_package import StoreHistory, as_example
from memaudit.adapters.store import Memory
from memaudit.core.package import Package

HIDDEN = "xyzzy"


def stream(**experience: object) -> Package:
    """One experience, and a hidden side full of one word."""
    return Package.model_validate({
        "name": "p",
        "experiences": [{"id": "e", "text": "I moved.", **experience}],
        "candidates": [{"id": "c", "experience": "e", "kind": "fact", "cost": 1, "text": HIDDEN}],
        "units": [{"id": "u", "kind": "fact", "text": HIDDEN}],
        "queries": [{"id": "q", "text": HIDDEN, "answer": HIDDEN, "required": ["u"]}],
    })  # fmt: skip


@pytest.mark.parametrize(
    ("experience", "role", "content", "time"),
    [
        ({}, "user", "I moved.", None),
        ({"speaker": "assistant"}, "assistant", "I moved.", None),
        ({"speaker": "User"}, "user", "I moved.", None),
        ({"speaker": "Ann"}, "user", "Ann: I moved.", None),
        ({"timestamp": "2023-05-08T13:56:10"}, "user", "[2023-05-08T13:56:10] I moved.",
         "202305081356"),
        ({"speaker": "Ann", "timestamp": "May"}, "user", "[May] Ann: I moved.", "May"),
    ],
)  # fmt: skip
def test_message(experience: dict, role: str, content: str, time: str | None) -> None:
    (fed,) = as_example(stream(**experience)).messages
    assert (fed.message.role, fed.message.content, fed.message.time) == (role, content, time)


def test_nothing_hidden_is_fed() -> None:
    example = as_example(stream(attributes={"answer": HIDDEN}))
    assert HIDDEN not in repr(example)


def test_order_is_that_of_arrival() -> None:
    package = Package.model_validate({
        "name": "p", "candidates": [], "units": [],
        "experiences": [{"id": "late", "text": "b", "index": 7},
                        {"id": "early", "text": "a", "index": 2}],
    })  # fmt: skip
    assert [one.experience for one in as_example(package).messages] == ["early", "late"]


def test_digest_is_of_what_is_fed_alone() -> None:
    base = as_example(stream()).digest
    assert as_example(stream(attributes={"x": 1})).digest == base
    changes = ({"text": "I left."}, {"speaker": "Ann"}, {"timestamp": "2023-01-01"})
    assert len({base, *(as_example(stream(**change)).digest for change in changes)}) == 4


def test_the_lines_of_a_row_share_its_life() -> None:
    """A block written after e0 and emptied after e2, read line by line; a passage between."""
    account = StoreHistory()
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
