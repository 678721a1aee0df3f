"""Whether a score is of this very store: by its digest, else by what a score file says of it."""

from dataclasses import dataclass
from functools import cached_property

from memaudit.adapters.store import ExportedStore, store_digest
from memaudit.core.cost import cost_rule
from memaudit.scoring.judged_store import examples_of
from memaudit.web.explorer.library.score_sheets import Line

MEASURED = ("words", "bytes", "tokens:simple")
"""Rules that need no file and no tool: a score file may name any other."""


@dataclass(frozen=True)
class ScoredStore:
    """A store, its memories by the package they were written for."""

    store: ExportedStore

    @cached_property
    def digest(self) -> str:
        return store_digest(self.store)

    @cached_property
    def texts(self) -> dict[str | None, list[str]]:
        """What is scored: active memories, all under None where none names a package."""
        found: dict[str | None, list[str]] = {}
        for memory in self.store.active:
            found.setdefault(memory.example, []).append(memory.text)
        return found

    def has(self, line: Line) -> bool:
        """Whether the score is of this store, as far as the file says. Those without a digest name
        the store, how many memories it has and what they cost."""
        if line.score.store != self.store.name:
            return False
        if said := line.store_digest:
            return said == self.digest
        texts = self.texts.get(line.sheet.package if self.names_packages else None, [])
        if line.score.memories not in (None, len(texts)):
            return False
        rule = line.sheet.cost_rule
        if rule not in MEASURED or line.score.cost is None:
            return True
        return line.score.cost == sum(map(cost_rule(rule), texts))

    @cached_property
    def names_packages(self) -> bool:
        """Whether it says which packages it was written for."""
        return bool(examples_of(self.store))
