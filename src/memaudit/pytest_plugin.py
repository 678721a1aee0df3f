"""A minimum ratio for memory stores in a test suite: the `memaudit_score` fixture.

    def test_memory(memaudit_score):
        memaudit_score("package.json", "store.json", budget=500).at_least(0.6)

pytest imports this module at every start, so it imports nothing of ours until a test asks for it.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from memaudit.adapters.store import ExportedStore
    from memaudit.core.package import Package
    from memaudit.scoring.gate import GateResult


class StoreWarning(UserWarning):
    """A score that does not see the whole store, whether it passes or not."""


@dataclass(frozen=True, slots=True)
class StoreRatio:
    """The union ratio of what a store keeps within a budget.

    `ratio` is its lower end and `highest` its upper one where the optimum is not `certified`;
    a hair apart where some h is irrational.
    `notes` say what it does not see: rows that were not read, cells nobody decided.
    """

    ratio: float
    highest: float
    store: str
    kept_by: str
    is_estimate: bool
    certified: bool
    budget: Fraction
    notes: tuple[str, ...]
    _result: "GateResult"

    def at_least(self, minimum: float, allow_estimates: bool = False) -> None:
        """Fail the test, with one line, if the ratio is below the minimum, or is an estimate."""
        __tracebackhide__ = True
        from memaudit.core.errors import MemAuditError

        problem = (
            f"{self.store!r} reaches {self._result.reaches} of the best store within "
            f"{self.budget}, the minimum is {minimum:g} ({self._result.notes})"
        )
        try:
            if self._result.passes(minimum, allow_estimates):
                return
        except MemAuditError as error:
            problem = f"memaudit_score: {error}"
        pytest.fail(problem, pytrace=False)  # behind the except: pytest would show both errors


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
        policy: str | None = None,
        salience: Path | str | None = None,
        query_salience: Path | str | None = None,
        group_cap: int | None = None,
        seconds: float | None = None,
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
    policy: str | None = None,
    salience: Path | str | None = None,
    query_salience: Path | str | None = None,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> StoreRatio:
    """The ratio that `memaudit gate` compares with its minimum.

    A store is the path of an imported one, an ExportedStore, or texts in the order they were
    written. A mistake fails the test, and what the score does not see is a StoreWarning.
    """
    __tracebackhide__ = True
    from memaudit.core.errors import MemAuditError
    from memaudit.core.exact import exact
    from memaudit.scoring.gate import gate_store
    from memaudit.scoring.judged_store import read_salience
    from memaudit.scoring.judges import named_judge
    from memaudit.solvers.protocol import checked_seconds

    problem, result, at = "", None, Fraction(0)
    try:
        at = exact(budget)
        scored = _package(package)
        if cost_rule is not None:
            scored = scored.recost(cost_rule)
        result = gate_store(
            scored, _store(store), at,
            named_judge(judge, _path(label_memories)),
            policy=policy, salience=read_salience(_path(salience), _path(query_salience)),
            group_cap=group_cap, seconds=checked_seconds(seconds),
        )  # fmt: skip
    except (MemAuditError, ValueError) as error:
        problem = str(error)
    if result is None:  # behind the except: pytest would show both errors
        pytest.fail(f"memaudit_score: {problem}", pytrace=False)
    notes = tuple(result.caveats.lines)
    for note in notes:
        warnings.warn(f"memaudit_score: {result.store}: {note}", StoreWarning, stacklevel=2)
    return StoreRatio(
        result.ratio, result.highest, result.store, result.kept_by, result.is_estimate,
        result.certified, at, notes, result,
    )  # fmt: skip


def _path(file: Path | str | None) -> Path | None:
    return None if file is None else Path(file)


def _package(package: "Package | Path | str") -> "Package":
    if not isinstance(package, str | Path):
        return package
    from memaudit.io.packages import read_package

    return read_package(package)


def _store(store: "ExportedStore | Path | str | Sequence[str]") -> "ExportedStore":
    from memaudit.adapters.store import ExportedStore, Memory, Origin, read_store
    from memaudit.core.errors import MemAuditError

    if isinstance(store, str | Path):
        return read_store(Path(store))
    if isinstance(store, ExportedStore):
        return store
    if not isinstance(store, Sequence) or not all(isinstance(text, str) for text in store):
        raise MemAuditError(
            "a store is the path of an imported one, an ExportedStore, or a list of texts"
        )
    memories = tuple(
        Memory(id=f"text-{place}", text=text) for place, text in enumerate(store, start=1)
    )
    origin = Origin(system="test", format="texts")
    return ExportedStore(name="store under test", origin=origin, memories=memories)
