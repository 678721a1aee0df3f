"""Each proxy on views small enough to follow by hand."""

from fractions import Fraction

import pytest

from memaudit.lab.sweeps.writers.protocol import Deployable
from memaudit.lab.sweeps.writers.proxies import Mem0Style, MemGptStyle
from tests.lab.sweeps.writers.running import Offer, view_of

Groups = list[list[Offer]]
ROME: Groups = [[("raw", "trip Rome", 4)], [("raw", "Rome hotel", 4)]]
LONELY: Groups = [[("raw", f"topic{n}", 4)] for n in range(20)]
NOTES: Groups = [[("fact", "f", 1), ("raw", "long span", 6), ("summary", "short", 3)]]

CASES: dict[str, tuple[Deployable, int, Groups, list[str]]] = {
    # MemGPT: core first, evicting into the archive; the archive forgets the oldest.
    "memgpt core takes facts and the archive what is left": (
        MemGptStyle(),
        100,
        [
            [
                ("raw", "Ann moved to Rome, now.", 5),
                ("fact", "Ann: Rome", 2),
                ("compound_update", "Ann: Rome, not Oslo", 3),
            ],
            [("summary", "small talk", 3), ("raw", "just small talk", 4)],
        ],
        ["0.2", "1.1"],
    ),
    # Budget 8, core 2: each fact of 2 pushes the last one into the archive of 6. After the fourth
    # fact 8 are spent; the fifth pushes the first one out.
    "memgpt core overflows into the archive": (
        MemGptStyle(),
        8,
        [[("fact", f"fact {n}", 2)] for n in range(5)],
        ["1.0", "2.0", "3.0", "4.0"],
    ),
    # The fact stays in core while spans of 3 push each other out.
    "memgpt core outlives the archive": (
        MemGptStyle(),
        8,
        [[("fact", "early", 2)], [("raw", "a", 3)], [("raw", "b", 3)], [("raw", "c", 3)]],
        ["0.0", "2.0", "3.0"],
    ),
    "memgpt skips what never fits": (
        MemGptStyle(),
        8,
        [[("raw", "long", 9), ("summary", "short", 4)]],
        ["0.1"],
    ),
    # Mem0: add, update, delete, ignore.
    "mem0 adds facts only": (
        Mem0Style(),
        100,
        [
            [("raw", "Ann works at Acme", 5), ("fact", "Ann works at Acme", 3)],
            [("summary", "Bob", 1), ("compound_update", "Bob, not Rob", 1)],
        ],
        ["0.1"],
    ),
    # Shared: ann, works; all: ann, works, acme, zeta. Overlap 1/2: the same topic.
    "mem0 update replaces the older version": (
        Mem0Style(),
        100,
        [
            [("fact", "Ann works at Acme", 3)],
            [("fact", "Bob plays the viola", 4)],
            [("fact", "Ann works at Zeta", 3)],
        ],
        ["1.0", "2.0"],
    ),
    "mem0 duplicate changes nothing": (
        Mem0Style(),
        100,
        [[("fact", "Ann works at Acme", 3)], [("fact", "At Acme, Ann works", 4)]],
        ["0.0"],
    ),
    # A tombstone holds for what came before, not for the fact that came with it.
    "mem0 tombstone deletes and is not kept": (
        Mem0Style(),
        100,
        [
            [("fact", "Lives in Leeds", 3)],
            [("fact", "Likes tea", 2)],
            [("fact", "New address: Bristol", 3), ("tombstone", "Leeds: no longer valid", 4)],
        ],
        ["1.0", "2.0"],
    ),
    "mem0 drops the oldest over budget": (
        Mem0Style(),
        7,
        [[("fact", text, 3)] for text in ("apples", "pears", "plums")],
        ["1.0", "2.0"],
    ),
    "mem0 takes the surest fact of a message": (
        Mem0Style(),
        9,
        [[("fact", "maybe", 1, Fraction(1, 3)), ("fact", "surely", 1, Fraction(2, 3))]],
        ["0.1"],
    ),
}


@pytest.mark.parametrize(("writer", "budget", "groups", "kept"), CASES.values(), ids=CASES)
def test_by_hand(writer: Deployable, budget: int, groups: Groups, kept: list[str]) -> None:
    assert list(writer.write(view_of(*groups), Fraction(budget), 0)) == kept
