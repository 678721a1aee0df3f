"""What a score of a store does not see. Every output that shows the score has to say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from memaudit.kernel.io.score_file import StoreRow
from memaudit.kernel.io.store_file import (
    MISSING_MEMORIES,
    ExportedStore,
    ExportWarning,
    HarmlessSkip,
    export_warning,
    store_digest,
)
from memaudit.kernel.score.judge import Pair
from memaudit.kernel.words.text import counted


class Caveat(Enum):
    """One thing that a score does not see, and the line that says so."""

    PARTLY_READ = "PARTLY READ: {rows} of the export {are} not in the store"
    COVERS_NOTHING = "COVERS NOTHING of this package: was it written for the same conversation?"
    INCOMPLETE = "INCOMPLETE: {warning}"
    UNDECIDED = "{cells} got no answer and {count} as not covered"
    LEFT_OUT = "left out, {what}: {number:,}"
    WITHOUT_SALIENCE = "no {policy} row: {memories} without a score in the file"
    MIXED_USERS = (
        "holds memories of {number:,} users ({names}): recency mixes them; import one with "
        "--namespace"
    )


NAMED_USERS, LONGEST_USER = 3, 40
"""Users that a caveat names, and the characters of each."""

MISSING_ROWS = (Caveat.PARTLY_READ, Caveat.INCOMPLETE)
"""The store lacks, or may lack, memories of its system."""


@dataclass(frozen=True, slots=True)
class Caveats:
    """Everything the score of one store does not see; all empty where it sees the whole store."""

    unread_rows: int = 0
    incomplete: tuple[str, ...] = ()
    """Warnings which say that memories are missing."""
    undecided: tuple[Pair, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    without_salience: Mapping[str, int] = field(default_factory=dict)
    """Per policy, the memories that a given file of scores does not have."""
    covers_nothing: bool = False
    """The store has memories, and none of them covers a unit of the package."""
    mixed_users: tuple[str, ...] = ()
    """The namespaces of the memories, if there are several and recency orders them as one."""

    @property
    def lines(self) -> list[str]:
        """In words, one line per caveat."""
        return [text for _, text in caveat_texts(self, len(self.undecided))]


NO_CAVEATS = Caveats()


def caveat_texts(caveats: Caveats, undecided: int) -> list[tuple[Caveat, str]]:
    """Every caveat that applies, with its line; a score file counts `undecided` cells only."""
    texts: list[tuple[Caveat, str]] = []

    def add(caveat: Caveat, **details: Any) -> None:
        texts.append((caveat, caveat.value.format(**details)))

    if caveats.unread_rows:
        are = "is" if caveats.unread_rows == 1 else "are"
        add(Caveat.PARTLY_READ, rows=counted(caveats.unread_rows, "row"), are=are)
    if caveats.covers_nothing:
        add(Caveat.COVERS_NOTHING)
    for warning in caveats.incomplete:
        add(Caveat.INCOMPLETE, warning=warning)
    # The score counts them as 0, which nobody decided.
    if undecided:
        count = "counts" if undecided == 1 else "count"
        add(Caveat.UNDECIDED, cells=counted(undecided, "cell"), count=count)
    for what, number in caveats.left_out.items():
        add(Caveat.LEFT_OUT, what=what, number=number)
    for policy, number in caveats.without_salience.items():
        add(Caveat.WITHOUT_SALIENCE, policy=policy, memories=counted(number, "memory"))
    if users := caveats.mixed_users:
        names = [name[:LONGEST_USER] for name in users[:NAMED_USERS]]
        names += ["..."] if len(users) > NAMED_USERS else []
        add(Caveat.MIXED_USERS, number=len(users), names=", ".join(names))
    return texts


def row_caveats(row: StoreRow) -> list[tuple[Caveat, str]]:
    """The caveats of a store in a score file.

    Files of earlier versions do not count unread rows. For them the warning that the export was
    partly read stands.
    """
    signs = MISSING_MEMORIES if row.unread_rows else {*MISSING_MEMORIES, ExportWarning.PARTLY_READ}
    caveats = Caveats(
        unread_rows=row.unread_rows,
        incomplete=tuple(text for text in row.warnings if export_warning(text) in signs),
        left_out=row.left_out,
        without_salience=row.without_salience,
        mixed_users=row.mixed_users,
    )
    return caveat_texts(caveats, row.undecided_cells)


def is_incomplete(row: StoreRow) -> bool:
    """Whether rows of the export are missing, or may be."""
    return any(caveat in MISSING_ROWS for caveat, _ in row_caveats(row))


def caveat_lines(stores: Sequence[tuple[str, Caveats]]) -> list[str]:
    """The lines of several stores, each with its store's name."""
    return [f"{name}: {line}" for name, caveats in stores for line in caveats.lines]


def unread_rows(store: ExportedStore) -> int:
    """Rows of the export that were lost; repeated, empty and unwanted ones are not."""
    # By the reason, not the sum: a repeated or an empty row leaves nothing out.
    harmless = set(HarmlessSkip)
    return sum(number for reason, number in store.count.skipped.items() if reason not in harmless)


def store_data(store: ExportedStore, caveats: Caveats) -> dict[str, Any]:
    """A store and its caveats as plain data, beside what the import said."""
    return {
        "name": store.name,
        "digest": store_digest(store),
        "count": store.count.model_dump(),
        "warnings": list(store.warnings),
        "unread_rows": caveats.unread_rows,
        "undecided_cells": len(caveats.undecided),
        "left_out": dict(caveats.left_out),
        "without_salience": dict(caveats.without_salience),
        "mixed_users": list(caveats.mixed_users),
    }
