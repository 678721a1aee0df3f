"""What verification found: one line a problem, what it could not check, how much it did."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.core.text import counted

LONGEST = 160
"""Letters of a name that a folder gives: longer ones are cut."""

MOST_OF_A_KIND = 10
"""A file that is wrong throughout is told of in so many lines, and a count."""


@dataclass(slots=True)
class Report:
    """Problems make it fail; notes do not. `unverified` files rest on another program's word."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unverified: dict[str, str] = field(default_factory=dict)
    checked: Counter[str] = field(default_factory=Counter)
    _told: Counter[str] = field(default_factory=Counter)

    def problem(self, where: str, what: str) -> None:
        """Put down a problem."""
        where = where if len(where) <= LONGEST else f"{where[:LONGEST]}..."
        file = where.partition(", ")[0]
        self._told[file] += 1
        if self._told[file] <= MOST_OF_A_KIND:
            self.problems.append(f"{where}: {what}")
        elif self._told[file] == MOST_OF_A_KIND + 1:
            self.problems.append(f"{file}: more of the same, not listed")

    def same(self, where: str, what: str, found: object, expected: object) -> None:
        """A problem unless both are equal."""
        if found != expected:
            self.differs(where, what, found, expected)

    def differs(self, where: str, what: str, found: object, expected: object) -> None:
        """The problem that something is not what comes out now."""
        self.problem(where, f"{what} is {_short(found)}, computed again {_short(expected)}")

    @contextmanager
    def reading(self, where: str) -> Iterator[None]:
        """What cannot be read is a problem of the file, and no reason to stop."""
        try:
            yield
        except MemAuditError as error:
            self.problem(where, str(error))

    @property
    def headline(self) -> str:
        """Whether it holds, in a few words."""
        if self.problems:
            return counted(len(self.problems), "problem")
        if self.unverified:
            return f"holds, with {counted(len(self.unverified), 'file')} not verified"
        return "OK"

    @property
    def verdict(self) -> str:
        """The last line."""
        looked = ", ".join(f"{number:,} {what}" for what, number in self.checked.items())
        return f"{self.headline}: {looked}"

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "valid": not self.problems, "headline": self.headline, "problems": self.problems,
            "not_verified": self.unverified, "notes": self.notes, "checked": dict(self.checked),
        }  # fmt: skip


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
