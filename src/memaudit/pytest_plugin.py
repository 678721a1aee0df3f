"""A bar for memory stores inside a test suite: the `memaudit_score` fixture.

    def test_memory(memaudit_score):
        memaudit_score("package.json", "store.json", budget=500).at_least(0.6)

pytest imports this module at every start, so it imports nothing of ours until a test asks for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from memaudit.adapters.shape import ExportedStore
    from memaudit.core.package import Package


@dataclass(frozen=True, slots=True)
class StoreRatio:
    """The union ratio of what a store keeps within a budget."""

    ratio: float
    store: str
    kept_by: str
    is_estimate: bool
    budget: Fraction

    def at_least(self, bar: float) -> None:
        """Fail the test, with one line, if the ratio is below the bar."""
        __tracebackhide__ = True
        if self.ratio >= bar:
            return
        note = ", coverage estimated" if self.is_estimate else ""
        pytest.fail(
            f"{self.store!r} reaches {self.ratio:.4f} of the best store within {self.budget}, "
            f"the bar is {bar:g} ({self.kept_by}{note})",
            pytrace=False,
        )


class ScoreStore(Protocol):
    """What the fixture is: a function from a package, a store and a budget to a ratio."""

    def __call__(
        self,
        package: "Package | Path | str",
        store: "ExportedStore | Path | str | Sequence[str]",
        budget: Fraction | float | str,
        judge: str = "lexical",
        *,
        label_memories: Path | str | None = None,
        cost_rule: str | None = None,
        policy: str = "recency",
    ) -> StoreRatio: ...


@pytest.fixture(scope="session")
def memaudit_score() -> ScoreStore:
    """Score a store: `memaudit_score(package, store, budget).at_least(0.6)`."""
    return score_store


def score_store(
    package: "Package | Path | str",
    store: "ExportedStore | Path | str | Sequence[str]",
    budget: Fraction | float | str,
    judge: str = "lexical",
    *,
    label_memories: Path | str | None = None,
    cost_rule: str | None = None,
    policy: str = "recency",
) -> StoreRatio:
    """The ratio `memaudit gate` compares with its bar. A store is the path of an imported one, an
    ExportedStore, or texts in the order they were written; a mistake fails the test."""
    __tracebackhide__ = True
    from memaudit.audits.gate import gated
    from memaudit.core.errors import MemAuditError
    from memaudit.core.exact import exact

    try:
        at = exact(budget)
        # The gate reads files: what is given as an object is written first, so that one function
        # decides what a ratio is.
        with TemporaryDirectory() as folder:
            found = gated(
                _package_file(package, Path(folder)), _store_file(store, Path(folder)), at, judge,
                None if label_memories is None else Path(label_memories), cost_rule, policy,
            )  # fmt: skip
    except (MemAuditError, ValueError) as error:
        pytest.fail(f"memaudit_score: {error}", pytrace=False)
    return StoreRatio(found.ratio, found.store, found.kept_by, found.is_estimate, at)


def _package_file(package: "Package | Path | str", folder: Path) -> Path:
    if isinstance(package, str | Path):
        return Path(package)
    from memaudit.io.packages import write_package

    write_package(package, folder / "package.json")
    return folder / "package.json"


def _store_file(store: "ExportedStore | Path | str | Sequence[str]", folder: Path) -> Path:
    if isinstance(store, str | Path):
        return Path(store)
    from memaudit.adapters.shape import ExportedStore, Memory, Origin
    from memaudit.adapters.store_files import write_store

    if not isinstance(store, ExportedStore):
        memories = tuple(
            Memory(id=f"text-{place}", text=text) for place, text in enumerate(store, start=1)
        )
        origin = Origin(system="test", format="texts")
        store = ExportedStore(name="store under test", origin=origin, memories=memories)
    write_store(store, folder / "store.json")
    return folder / "store.json"
