"""Four stores of every record through the same retriever and reader, into a folder.

A diagnostic, never a ratio to an optimum: a file of conversations has no finite set of candidates
with exact coverage. Coverage of a labelled turn by a raw turn is exact (it is that turn), that of a
package's other candidates follows the rules of the build.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.audits.downstream.execute import Plan, Progress, Run, Work, execute
from memaudit.audits.downstream.holdings import writer_holding
from memaudit.audits.downstream.spec import Setup, reading_of
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.downstream.memory import Holding
from memaudit.experiments.spec import absolute, is_fraction, parse_budgets
from memaudit.experiments.transfer.raw_stores import RAW_STORES, raw_holding, raw_words
from memaudit.experiments.transfer.records import Records
from memaudit.writers.protocol import Writer

NOTE = (
    "a transfer diagnostic, never a ratio to an optimum: conversations have no finite set of "
    "candidates with exact coverage"
)
EVIDENCE = (
    "evidence is whole labelled turns: a piece of one covers a part of it, which evidence recall "
    "does not count and evidence coverage does"
)
OWN_WORDS = "of the words of a record's own turns"


@dataclass(frozen=True, slots=True)
class Compared:
    """Which stores, and how much they may keep."""

    writers: Sequence[Writer]
    budget: str
    """A cost, or a share of what all turns of a record cost."""
    seed: int = 0

    def __post_init__(self) -> None:
        if len(parse_budgets(self.budget)) != 1:
            raise MemAuditError("a transfer has one budget; run it once for each")
        names = [writer.name for writer in self.writers]
        if not names:
            raise MemAuditError("there is no package-style store; give a --writer")
        if len(set(names)) < len(names):
            raise MemAuditError("a writer is given twice; give each once")

    @property
    def stores(self) -> list[str]:
        """The names of the stores: package style first."""
        return [*(writer.name for writer in self.writers), *RAW_STORES]

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the holdings of a package."""
        share = f" {OWN_WORDS}" if is_fraction(self.budget) else ""
        return {
            "note": NOTE,
            "evidence": EVIDENCE,
            "budget": f"{self.budget}{share}",
            "about_stores": {
                **{writer.name: f"package style: {writer.about}" for writer in self.writers},
                **{name: about for name, (about, _) in RAW_STORES.items()},
            },
            "peeking_writers": [writer.name for writer in self.writers if writer.peeks],
            "seed": self.seed,
        }

    def holdings(self, package: Package) -> Iterator[Holding]:
        """What every store holds for a package."""
        budget = absolute(self.budget, raw_words(package))
        for writer in self.writers:
            yield writer_holding(package, writer, budget, self.seed)
        for name in RAW_STORES:
            yield raw_holding(name, package, budget, self.seed)


def transfer(
    records: Records,
    compared: Compared,
    setup: Setup,
    folder: Path,
    progress: Progress | None = None,
) -> Run:
    """All rows of all records, or those that are missing, and the summary."""
    asked = records.asked
    keys = [
        (name, store, question)
        for name, questions in asked.items()
        for store in compared.stores
        for question in questions
    ]
    spec = {
        **compared.settings,
        "source": records.identity,
        "left_out": records.left_out,
        "stores": compared.stores,
        **reading_of(setup),
    }
    plan = Plan(spec, keys, lambda found: _left(records, compared, asked, found))
    return execute(plan, setup, folder, progress)


def _left(
    records: Records, compared: Compared, asked: dict[str, tuple[str, ...]], found: int
) -> Iterator[Work]:
    """Packages and holdings with rows to come; records that are done are not built again."""
    there: dict[str, int] = {}
    for name, questions in asked.items():
        there[name] = min(found, len(questions) * len(compared.stores))
        found -= there[name]
    missing = {
        name for name, rows in there.items() if rows < len(asked[name]) * len(compared.stores)
    }
    for package in records.packages(missing):
        rows = there[package.name]
        for holding in compared.holdings(package):
            done = min(rows, len(package.queries))
            rows -= done
            if done < len(package.queries):
                yield package, holding, done
