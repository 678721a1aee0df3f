"""What a score of a store does not see: every output that shows the score has to say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memaudit.adapters.ledger import HARMLESS
from memaudit.adapters.store import ExportedStore, store_digest
from memaudit.core.text import counted

INCOMPLETE = (
    "truncated", "maybe truncated", "incomplete", "core memory only", "archival passages only",
    "a union of search results", "rows carry a search score",
)  # fmt: skip
"""How warnings of an import or a capture begin that say the store is not all there."""

Pair = tuple[str, str]
"""The id of a memory and the id of a unit."""


@dataclass(frozen=True, slots=True)
class Account:
    """Rows that were not read, cells nobody decided, labels that fit nothing, missing salience."""

    unread_rows: int = 0
    incomplete: tuple[str, ...] = ()
    undecided: tuple[Pair, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    unrated: Mapping[str, int] = field(default_factory=dict)
    """Per sort of salience, memories that a given file of scores does not have."""
    covers_nothing: bool = False
    """There are memories, and not one of them covers a unit of the package."""

    @property
    def lines(self) -> list[str]:
        """In words, one thing a line; empty where a score sees all there is."""
        found = []
        if self.unread_rows:
            rows = counted(self.unread_rows, "row")
            verb = "is" if self.unread_rows == 1 else "are"
            found.append(f"PARTLY READ: {rows} of the export {verb} not in the store")
        if self.covers_nothing:
            found.append("COVERS NOTHING of this package: is it of the same conversation?")
        found += [f"NOT ALL THERE: {warning}" for warning in self.incomplete]
        if self.undecided:
            cells = counted(len(self.undecided), "cell")
            verb = "counts" if len(self.undecided) == 1 else "count"
            found.append(f"{cells} got no answer and {verb} as not covered")
        found += [f"left out, {what}: {number:,}" for what, number in self.left_out.items()]
        found += [
            f"no {sort} row: {counted(number, 'memory')} without a score in the file"
            for sort, number in self.unrated.items()
        ]
        return found


WHOLE = Account()
"""Of a store that is all there, and all judged."""


def unread_rows(store: ExportedStore) -> int:
    """Rows of the export that were lost; repeated, empty and unwanted ones are not."""
    return sum(number for reason, number in store.count.skipped.items() if reason not in HARMLESS)


def incomplete(store: ExportedStore) -> tuple[str, ...]:
    """The warnings that say the store is not all there."""
    return tuple(warning for warning in store.warnings if warning.startswith(INCOMPLETE))


def account_row(store: ExportedStore, account: Account) -> dict[str, Any]:
    """As plain data, beside what the import said."""
    return {
        "name": store.name,
        "digest": store_digest(store),
        "count": store.count.model_dump(),
        "warnings": list(store.warnings),
        "unread_rows": account.unread_rows,
        "undecided_cells": len(account.undecided),
        "left_out": dict(account.left_out),
        "without_salience": dict(account.unrated),
    }


def account_lines(accounts: Sequence[tuple[str, Account]]) -> list[str]:
    """The lines of several stores, each with its store's name."""
    return [f"{name}: {line}" for name, account in accounts for line in account.lines]
