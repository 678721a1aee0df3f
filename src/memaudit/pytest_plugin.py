"""Memory stores in a test suite: a minimum score, and nothing wrong with them.

    def test_memory(memaudit_score, memaudit_lint):
        memaudit_score("package.json", "store.json", budget=500).at_least(0.6)
        memaudit_lint("MEMORY.md").has_no("secrets", "duplicates=3")

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
    from memaudit.kernel.io.store_file import ExportedStore
    from memaudit.kernel.package.package import Package
    from memaudit.kernel.score.result import ScoreResult
    from memaudit.linting.findings import LintReport


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
        from memaudit.judges.gate import gate_text, passes
        from memaudit.kernel.errors import MemAuditError

        row = self.result.rows[0]
        try:
            if passes(row, minimum, allow_estimates):
                return
            problem = gate_text(self.result, row, minimum)
        except MemAuditError as error:
            problem = f"memaudit_score: {error}"
        pytest.fail(problem, pytrace=False)  # behind the except: pytest would show both errors


@dataclass(frozen=True, slots=True)
class TestedStore:
    """What `memaudit lint` finds in a store."""

    __test__ = False

    report: "LintReport"

    def has_no(self, *rules: str) -> None:
        """Fail the test, with one line, if a rule or severity has findings, or more than RULE=N."""
        __tracebackhide__ = True
        from memaudit.kernel.errors import MemAuditError
        from memaudit.linting.findings import failing

        problem = ""
        try:
            if broken := failing(self.report, rules):
                problem = f"{self.report.store}: {'; '.join(broken)}"
                names = {rule.partition("=")[0] for rule in rules}
                for one in self.report.findings:
                    if {one.rule, one.severity} & names:
                        problem += f"; {', '.join(one.memories[:3])}: {one.message}"
                        break
        except MemAuditError as error:
            problem = f"memaudit_lint: {error}"
        if problem:  # behind the except: pytest would show both errors
            pytest.fail(problem, pytrace=False)


class LintStore(Protocol):
    """What the fixture is: a function from a store to what was found in it."""

    def __call__(
        self,
        store: "ExportedStore | Path | str | Sequence[str]",
        package: "Package | Path | str | None" = None,
        judge: str | None = None,
        *,
        before: "ExportedStore | Path | str | None" = None,
        limits: str | None = None,
    ) -> TestedStore: ...


@pytest.fixture(scope="session")
def memaudit_lint() -> LintStore:
    """Check a store: `memaudit_lint(store).has_no("secrets")`."""
    return lint_store


def lint_store(
    store: "ExportedStore | Path | str | Sequence[str]",
    package: "Package | Path | str | None" = None,
    judge: str | None = None,
    *,
    before: "ExportedStore | Path | str | None" = None,
    limits: str | None = None,
) -> TestedStore:
    """What `memaudit lint` finds. A mistake fails the test."""
    __tracebackhide__ = True
    from memaudit import api
    from memaudit.judges.defaults import DEFAULT_JUDGE
    from memaudit.kernel.errors import MemAuditError

    problem, report = "", None
    try:
        report = api.lint(
            _store(store), package, judge=judge or DEFAULT_JUDGE, before=before, limits=limits
        )
    except (MemAuditError, ValueError) as error:
        problem = str(error)
    if report is None:
        pytest.fail(f"memaudit_lint: {problem}", pytrace=False)
    return TestedStore(report)


class ScoreStore(Protocol):
    """What the fixture is: a function from a package, a store and a budget to a score."""

    def __call__(
        self,
        package: "Package | Path | str",
        store: "ExportedStore | Path | str | Sequence[str]",
        budget: Fraction | float | str,
        judge: str | None = None,
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
    judge: str | None = None,
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
    from memaudit import api
    from memaudit.judges.score_plan import ScorePlan
    from memaudit.kernel.errors import MemAuditError

    problem, result = "", None
    try:
        tested = _store(store)
        stores = [tested, *map(_store, against)]
        sources = [] if salience is None else [f"{tested.name}={salience}"]
        sources += [] if query_salience is None else [f"query:{tested.name}={query_salience}"]
        plan = ScorePlan.of(
            budgets=[budget],
            judge=judge,
            label_memories=None if label_memories is None else Path(label_memories),
            policy=policy,
            salience=tuple(sources),
            cost_rule=cost_rule,
            group_cap=group_cap,
            seconds=seconds,
        )
        result = plan.score(api.as_package(package), stores, plan.scoring(stores))
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


def _store(store: "ExportedStore | Path | str | Sequence[str]") -> "ExportedStore":
    from memaudit import api

    if isinstance(store, Sequence) and not isinstance(store, str):
        return api.texts(store, "store under test")
    return api.as_store(store)
