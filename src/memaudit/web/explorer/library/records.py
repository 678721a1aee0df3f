"""What a library lists: things found, not opened yet, and what could not be read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

Kind = Literal["run", "package", "store", "scores", "frame", "diagnosis", "certificate"]
KINDS: tuple[Kind, ...] = get_args(Kind)

Facts = Mapping[str, int | str]
"""What the cheap look learned: counts, a digest; a fact it did not learn is not there."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something on disk. `place` is where, below the folders given; `part` names one of the several
    packages that a folder or a run holds; `stamp` changes when the file does."""

    kind: Kind
    slug: str
    name: str
    place: str
    path: Path
    part: str = ""
    bytes: int = 0
    stamp: tuple[int, ...] = ()
    facts: Facts = field(default_factory=dict)

    def count(self, fact: str) -> int | None:
        """A number that the look learned."""
        value = self.facts.get(fact)
        return value if isinstance(value, int) else None

    def text(self, fact: str) -> str:
        """A text that the look learned, or an empty one."""
        value = self.facts.get(fact, "")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that looks like ours and cannot be read, and why, in one line."""

    place: str
    reason: str
