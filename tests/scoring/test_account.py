"""What a score does not see, in words and numbers."""

from pathlib import Path

import pytest

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import Count, ExportedStore, Memory, Origin
from memaudit.core.text import counted
from memaudit.natural.named_packages import natural_set
from memaudit.scoring.caveats import (
    WHOLE,
    Account,
    account_lines,
    account_row,
    incomplete,
    unread_rows,
)
from memaudit.scoring.judged_store import written
from memaudit.scoring.judges.registry import named_judge
from tests.adapters.exports import EXPORTS


def store(*warnings: str, **skipped: int) -> ExportedStore:
    """A store of one memory with these warnings and skipped rows."""
    reasons = {name.replace("_", " "): number for name, number in skipped.items()}
    return ExportedStore(
        name="s", origin=Origin(system="x", format="plain"), memories=(Memory(id="a", text="b"),),
        count=Count(read=1 + sum(reasons.values()), kept=1, skipped=reasons), warnings=warnings,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [(1, "cell", "1 cell"), (0, "cell", "0 cells"), (2, "memory", "2 memories"),
     (1, "memory", "1 memory"), (1000, "row", "1,000 rows")],
)  # fmt: skip
def test_counted(number: int, noun: str, words: str) -> None:
    """One thing is not several."""
    assert counted(number, noun) == words


def test_rows_that_are_lost() -> None:
    """Repeated, blank and unwanted rows leave nothing unread; others do."""
    found = store(no_text=2, repeated_row=3, empty_text=1, other_namespace=9, API_error=1)
    assert unread_rows(found) == 3
    assert unread_rows(store()) == 0


def test_stores_that_are_cut() -> None:
    """A list at its default limit, a list shorter than its total, a capture that broke."""
    cut = "maybe truncated: exactly 20 rows, the default limit"
    assert incomplete(store(cut, "order of writing unknown")) == (cut,)
    assert incomplete(store("incomplete: 2 packages are not in this store"))
    assert incomplete(store("truncated: holds 20 of 30 rows"))


@pytest.mark.parametrize(
    "export", ["letta agent file", "letta passages", "mem0 search", "mem0 older list"]
)
def test_exports_that_are_a_part_by_their_kind(export: str, tmp_path: Path) -> None:
    """Core memory without passages, passages without it, and search results: not the store."""
    assert incomplete(import_store([EXPORTS[export].write(tmp_path)]))


def test_lines() -> None:
    """One line a thing, in the singular where there is one."""
    assert WHOLE.lines == []
    one = Account(1, ("truncated: x",), (("m", "u"),), {"labels of nobody": 2}, {"salience": 1})
    assert one.lines == [
        "PARTLY READ: 1 row of the export is not in the store",
        "NOT ALL THERE: truncated: x",
        "1 cell got no answer and counts as not covered",
        "left out, labels of nobody: 2",
        "no salience row: 1 memory without a score in the file",
    ]
    many = Account(2, undecided=(("m", "u"), ("m", "v")))
    assert account_lines([("a", WHOLE), ("b", many)]) == [
        "b: PARTLY READ: 2 rows of the export are not in the store",
        "b: 2 cells got no answer and count as not covered",
    ]


def test_data() -> None:
    """Beside the counts and warnings of the import."""
    row = account_row(store("hm", no_text=2), Account(2, undecided=(("m", "u"),)))
    assert (row["name"], row["unread_rows"], row["undecided_cells"]) == ("s", 2, 1)
    assert row["count"]["skipped"] == {"no text": 2}
    assert row["warnings"] == ["hm"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Ingrid wants hotel rooms away from the lift.", []),
        ("Zzz.", ["COVERS NOTHING of this package: is it of the same conversation?"]),
        (None, []),
    ],
)
def test_a_store_of_something_else(text: str | None, lines: list[str]) -> None:
    """Said where memories cover no unit at all; an empty store is only empty."""
    memories = (Memory(id="a", text=text),) if text else ()
    made = store().model_copy(update={"memories": memories})
    hotel = next(one for one in natural_set() if one.name == "hotel-rooms")
    assert written(hotel, made, named_judge("lexical")).account.lines == lines
