"""What is false covers nothing: verdicts on texts, and what they do to coverage.

A text is false if everything that it states is outdated as it states it, contradicted or unsaid.
Whoever decides that, decides it once per text: a copy in another store, or among the package's own
candidates, is as false. A false text keeps its cells of `stale` units that a question about the
past requires, and nothing else. It stays a candidate, so no store falls out of the union, and every
order of values that holds without verdicts holds with them.

A text that is false in part keeps its cells, and is counted by itself. A dated record of what was
said is true, whatever came later. An estimate strikes no text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from memaudit.kernel.package.package import STALE, Package
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.kernel.words.text import one_line

TextVerdict = Literal["true", "in part", "false", "nothing"]
"""Whether what a text states is true; `in part` where some of it is false, `nothing` where it
states nothing, as a heading."""


@dataclass(frozen=True, slots=True)
class Truths:
    """Verdicts by package and text; a text is one line, its spaces aside."""

    source: str
    verdicts: Mapping[str, Mapping[str, TextVerdict]]

    def of(self, package: str, text: str) -> TextVerdict | None:
        """The verdict on a text; None where nobody gave one."""
        return self.verdicts.get(package, {}).get(one_line(text))

    def store(self, store: JudgedStore, package: Package) -> JudgedStore:
        """A store whose false memories cover what questions about the past require, or nothing."""
        asked = _asked_about_the_past(package)
        memories = tuple(
            replace(
                memory,
                coverage={
                    unit: cell
                    if unit in asked
                    else replace(cell, value=Fraction(0), upper=None, rationale=STRUCK)
                    for unit, cell in memory.coverage.items()
                },
            )
            if self.of(package.name, memory.text) == "false"
            else memory
            for memory in store.memories
        )
        return replace(store, memories=memories)

    def package(self, package: Package) -> Package:
        """The same of the package's own candidates."""
        false = {
            candidate.id
            for candidate in package.candidates
            if self.of(package.name, candidate.text) == "false"
        }
        if not false:
            return package
        asked = _asked_about_the_past(package)
        return package.replace(
            coverage=tuple(
                cell
                for cell in package.coverage
                if cell.candidate not in false or cell.unit in asked
            )
        )

    def falsehoods(self, store: JudgedStore, package: Package) -> "Falsehoods":
        """The false memories of a store."""
        by_verdict: dict[TextVerdict | None, list[str]] = {}
        for memory in store.memories:
            by_verdict.setdefault(self.of(package.name, memory.text), []).append(memory.id)
        return Falsehoods(
            self.source,
            tuple(by_verdict.get("false", ())),
            tuple(by_verdict.get("in part", ())),
            len(store.memories) - len(by_verdict.get(None, ())),
            len(store.memories),
        )


STRUCK = "the text is false"


@dataclass(frozen=True, slots=True)
class Falsehoods:
    """How many of a store's memories are false."""

    source: str
    """Who says so."""
    false: tuple[str, ...]
    in_part: tuple[str, ...]
    read: int
    """Memories with a verdict."""
    memories: int

    def __str__(self) -> str:
        if not self.read:
            return "not measured" if self.memories else "none"
        part = f", {len(self.in_part):,} in part" if self.in_part else ""
        unread = f", {self.memories - self.read:,} not read" if self.read < self.memories else ""
        return f"{len(self.false):,} of {self.read:,}{part}{unread}"


REPLACED = "replaced"
"""The attribute of a query about an update that names the units which its others replaced."""


def maybe_outdated(package: Package, store: JudgedStore) -> tuple[WrittenMemory, ...]:
    """Memories that cover what an update replaced, and nothing of what the update requires.

    An estimate, and a list to look at: a dated record of what was said is here too. Only packages
    that know what replaced what can tell; statements that are merely no longer true are dated
    records as often as not (of 112 such memories of real systems 19 were outdated).
    """
    updates = [
        ({*map(str, replaced)}, {*query.required})
        for query in package.queries
        if isinstance(replaced := query.attributes.get(REPLACED), list)
    ]
    return tuple(
        memory
        for memory in store.memories
        for covered in [{unit for unit, cell in memory.coverage.items() if cell.value}]
        if any(covered & old and not covered & new for old, new in updates)
    )


def _asked_about_the_past(package: Package) -> frozenset[str]:
    """Units of what was true once, where a question requires them."""
    return frozenset(
        unit.id for unit in package.units if unit.kind == STALE and package.weights[unit.id]
    )
