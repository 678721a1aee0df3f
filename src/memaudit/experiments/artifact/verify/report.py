"""What verification found: one line a problem, and how much was looked at."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memaudit.core.errors import MemAuditError

MOST_OF_A_KIND = 10
"""A file that is wrong throughout is told of in so many lines, and a count."""


@dataclass(slots=True)
class Report:
    """Problems make it fail; notes do not."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    checked: Counter[str] = field(default_factory=Counter)
    _told: Counter[str] = field(default_factory=Counter)

    def problem(self, where: str, what: str) -> None:
        """Put down a problem."""
        self._told[where] += 1
        if self._told[where] <= MOST_OF_A_KIND:
            self.problems.append(f"{where}: {what}")
        elif self._told[where] == MOST_OF_A_KIND + 1:
            self.problems.append(f"{where}: more of the same, not listed")

    def same(self, where: str, what: str, found: object, expected: object) -> None:
        """A problem unless both are equal."""
        if found != expected:
            self.problem(where, f"{what} is {_short(found)}, computed again {_short(expected)}")

    @contextmanager
    def reading(self, where: str) -> Iterator[None]:
        """What cannot be read is a problem of the file, and no reason to stop."""
        try:
            yield
        except MemAuditError as error:
            self.problem(where, str(error))

    @property
    def verdict(self) -> str:
        """The last line."""
        looked = ", ".join(f"{number:,} {what}" for what, number in self.checked.items())
        count = len(self.problems)
        return f"{'1 problem' if count == 1 else f'{count} problems' if count else 'OK'}: {looked}"

    def to_json(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "valid": not self.problems, "problems": self.problems, "notes": self.notes,
            "checked": dict(self.checked),
        }  # fmt: skip


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
