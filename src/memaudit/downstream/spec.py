"""What a diagnosis runs, as data: it names the run, and the same spec gives the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.downstream.answers import RULE as ANSWER_RULE
from memaudit.downstream.holding import Holding
from memaudit.downstream.question import RULE as CURRENT_RULE
from memaudit.downstream.question import SUPERSEDED_RULE as STALE_RULE
from memaudit.downstream.readers.protocol import Reader
from memaudit.downstream.retrievers import Retriever

TOOLS = ("memaudit", "bm25s", "wordllama")
"""What else could change a row, by its version."""


@dataclass(frozen=True, slots=True)
class Case:
    """A package and what every store holds for it."""

    package: Package
    holdings: tuple[Holding, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """How the stores are read: the same for all of them."""

    retriever: Retriever
    k: int
    reader: Reader

    def __post_init__(self) -> None:
        if self.k < 1:
            raise MemAuditError(f"--k {self.k} makes no sense; retrieve 1 memory or more")


def checked(cases: Sequence[Case]) -> None:
    """An error where rows could not be told apart, or there would be none."""
    names = [case.package.name for case in cases]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MemAuditError(f"two packages are called {twice!r}; diagnose them one at a time")
    for case in cases:
        stores = [holding.name for holding in case.holdings]
        if len(set(stores)) < len(stores):
            raise MemAuditError("two stores have the same name; import one with another --name")
        if not stores:
            raise MemAuditError("there is no store to diagnose; give a STORE or a --writer")
    if not any(case.package.queries for case in cases):
        raise MemAuditError("no package has a question, so there is nothing to diagnose")


def spec_of(
    cases: Sequence[Case], setup: Setup, memories_sha256: str, settings: dict[str, Any]
) -> dict[str, Any]:
    """Everything that decides the rows. `settings` is what the caller says made the holdings."""
    return {
        **settings,
        "packages": {case.package.name: digest(case.package) for case in cases},
        "stores": [holding.name for holding in cases[0].holdings],
        "memories": memories_sha256,
        **reading_of(setup),
    }


def reading_of(setup: Setup) -> dict[str, Any]:
    """What decides rows once the holdings are given."""
    return {
        "retriever": setup.retriever.name,
        "k": setup.k,
        "reader": setup.reader.name,
        "reads": setup.reader.about,
        "rules": {"answers": ANSWER_RULE, "current": CURRENT_RULE, "stale": STALE_RULE},
        "versions": {name: _version(name) for name in TOOLS},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
