"""A minimum score for memory stores in a test suite: the `memaudit_score` fixture.

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
    from memaudit.scoring.result import ScoreResult


class StoreWarning(UserWarning):
    """A score that does not see the whole store, whether it passes or not."""


@dataclass(frozen=True, slots=True)
class TestedScore:
    """The score of a store at a budget, as `memaudit score` prints it.

    `score` is None where it is undefined. `result` has everything else. `notes` say what the score
    does not see: rows that were not read, cells nobody decided.
    """

    __test__ = False

    store: str
    score: float | None
    kept_by: str
    is_estimate: bool
    certified: bool
    notes: tuple[str, ...]
    result: "ScoreResult"

    def at_least(self, minimum: float, allow_estimates: bool = False) -> None:
        """Fail the test, with one line, if the score is below the minimum, or is an estimate."""
        __tracebackhide__ = True
        from memaudit.core.errors import MemAuditError
        from memaudit.scoring.gate import gate_text, passes

        row = self.result.rows[0]
        try:
            if passes(row, minimum, allow_estimates):
                return
            problem = f"{gate_text(self.result, row)} (minimum {minimum:g})"
        except MemAuditError as error:
            problem = f"memaudit_score: {error}"
        pytest.fail(problem, pytrace=False)  # behind the except: pytest would show both errors


class ScoreStore(Protocol):
    """What the fixture is: a function from a package, a store and a budget to a score."""

    def __call__(
        self,
        package: "Package | Path | str",
        store: "ExportedStore | Path | str | Sequence[str]",
        budget: Fraction | float | str,
        judge: str = "lexical",
        *,
        against: "Sequence[ExportedStore | Path | str]" = (),
        label_memories: Path | str | None = None,
        cost_rule: str | None = None,
        policy: str | None = None,
        salience: Path | str | None = None,
        query_salience: Path | str | None = None,
        group_cap: int | None = None,
        seconds: float | None = None,
    ) -> TestedScore: ...


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
    against: "Sequence[ExportedStore | Path | str]" = (),
    label_memories: Path | str | None = None,
    cost_rule: str | None = None,
    policy: str | None = None,
    salience: Path | str | None = None,
    query_salience: Path | str | None = None,
    group_cap: int | None = None,
    seconds: float | None = None,
) -> TestedScore:
    """The score that `memaudit gate` compares with its minimum.

    A store is the path of an imported one, an ExportedStore, or texts in the order they were
    written; `against` are other stores of the common union. A mistake fails the test, and what the
    score does not see is a StoreWarning.
    """
    __tracebackhide__ = True
    from memaudit.core.budgets import asked_budget
    from memaudit.core.errors import MemAuditError
    from memaudit.scoring.judged_store import read_salience
    from memaudit.scoring.judges import named_judge, refuse_shared_ids
    from memaudit.scoring.package_scores import Scoring, score_package
    from memaudit.scoring.pruning import named_policy
    from memaudit.solvers.protocol import checked_seconds

    problem, result = "", None
    try:
        scored = _package(package)
        if cost_rule is not None:
            scored = scored.recost(cost_rule)
        stores = [_store(store), *map(_store, against)]
        refuse_shared_ids([judge], _path(label_memories), stores)
        by = named_judge(judge, _path(label_memories))
        scoring = Scoring(
            (asked_budget(budget),), {one.name: by for one in stores},
            read_salience(_path(salience), _path(query_salience)), group_cap,
            checked_seconds(seconds), policy=named_policy(policy),
        )  # fmt: skip
        result = score_package(scored, stores, scoring)
    except (MemAuditError, ValueError) as error:
        problem = str(error)
    if result is None:  # behind the except: pytest would show both errors
        pytest.fail(f"memaudit_score: {problem}", pytrace=False)
    row, notes = result.rows[0], tuple(result.stores[0].caveats.lines)
    for note in notes:
        warnings.warn(f"memaudit_score: {row.store}: {note}", StoreWarning, stacklevel=2)
    return TestedScore(
        row.store, row.score, row.kept_by, row.is_estimate, row.optimum.certified, notes, result
    )


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
