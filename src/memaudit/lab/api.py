"""What the laboratory adds to `import memaudit as ma`, by the entry points `memaudit.api`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memaudit.api import (
    AnyPackage,
    AnyStore,
    PathLike,
    SummaryResult,
    as_judge,
    as_package,
    as_stores,
)
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.kernel.exact import exact
from memaudit.kernel.package.budgets import split_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge
from memaudit.lab.downstream.answer_readers import named_reader
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.retrievers import named_retriever
from memaudit.lab.downstream.run import diagnose as run_diagnosis
from memaudit.lab.downstream.store_cases import StoreChoice, make_cases
from memaudit.lab.downstream.store_cases import named_policy as write_time_policy
from memaudit.lab.sweeps.runs.spec import RunSpec, named_suite, parse_seeds
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run as run_spec
from memaudit.workspace.engines import named_engine


def diagnose(
    package: AnyPackage | Sequence[AnyPackage],
    store: AnyStore | Sequence[AnyStore],
    budget: Any,
    out: PathLike,
    judge: str | Judge = DEFAULT_JUDGE,
    *,
    retriever: str = "bm25",
    k: int = 5,
    reader: str = "extractive",
    policy: str | None = None,
    cost_rule: str | None = None,
) -> SummaryResult:
    """Follow every question from writing through retrieval to the answer.

    Each question has one outcome; losses of writing, retrieval and reading add up. Rows go to the
    folder `out`, where the same call resumes. Models are asked by `memaudit diagnose`.
    """
    given = [package] if isinstance(package, Package | str | Path) else package
    packages = [as_package(item) for item in given]
    if cost_rule is not None:
        packages = [item.recost(cost_rule) for item in packages]
    choice = StoreChoice(
        budget=exact(budget),
        stores=as_stores(store),
        judge=as_judge(judge),
        writers=[],
        policy=write_time_policy(policy) if policy else None,
        seed=0,
    )
    made = make_cases(packages, choice)
    folder = Path(out)
    setup = ReadingSetup(named_retriever(retriever), k, named_reader(reader))
    finished = run_diagnosis(made.cases, setup, folder, made.settings)
    names = ("store", "questions", *finished.stores[0].shares)
    rows = [
        (store.store, store.questions, *map(float, store.shares.values()))
        for store in finished.stores
    ]
    return SummaryResult(folder, finished.summary, (names, rows))


def run(
    out: PathLike,
    suite: str = "controlled",
    *,
    distributions: Sequence[str] = (),
    seeds: str | int | None = None,
    budgets: str | None = None,
    writers: Sequence[str] = (),
    engine: str = "processes",
    jobs: int | None = None,
    address: str | None = None,
    seconds: float | None = None,
) -> SummaryResult:
    """Score writers on generated packages against certified optima, and rank them.

    Rows go to the folder `out`, where the same call resumes.
    """
    usual = named_suite(suite)
    spec = RunSpec(
        distributions=tuple(distributions) or usual.distributions,
        seeds=parse_seeds(usual.seeds if seeds is None else str(seeds)),
        budgets=split_budgets(usual.budgets if budgets is None else budgets),
        writers=tuple(writers) or usual.writers,
        seconds=seconds,
    )
    run_spec(spec, Path(out), named_engine(engine, jobs, address))
    summary = summarise(Path(out))
    names = ("writer", "n", "mean_ratio", "ci_low", "ci_high")
    rows = [tuple(row[name] for name in names) for row in summary["ranking"]]
    return SummaryResult(Path(out), summary, (names, rows))
