"""Results on the project's own natural set: writers, sensitivity, labels, questions and stores.

The set is not the paper's Natural-87 and is never called so. On the conversations of the board the
stores are those of the systems that were run. On the others they were written by hand in the shapes
of Mem0, Letta and A-Mem, so their numbers say nothing about these systems: they show every step of
the comparison on data that anybody can check.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from memaudit.board.board_folder import BoardFolder, read_board, shipped_board
from memaudit.board.denominators import denominator_rows, denominators_data
from memaudit.building.build_folder import file_name
from memaudit.building.named_packages import (
    PASSES,
    ShippedPlace,
    natural_set,
    natural_stores,
    store_files,
)
from memaudit.building.reliability import reliability
from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.salience import SalienceCalls
from memaudit.kernel.exact import exact, plain
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.package.labels import PASS
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.priced_store import OWN_SALIENCE, Salience, price_store
from memaudit.kernel.score.pruning import Policy
from memaudit.kernel.score.result import Scoring
from memaudit.kernel.score.score_files import entries_of
from memaudit.kernel.score.score_json import package_scores_data
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.downstream.answer_readers import Extractive
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.retrievers import Bm25
from memaudit.lab.downstream.run import diagnose
from memaudit.lab.downstream.store_cases import StoreChoice, make_cases
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.frame_drawing import judged_frame
from memaudit.lab.labels.label_sources import source_of_pass
from memaudit.lab.labels.ratio_audit import DEFAULT_WRITERS, RatioAuditSpec, audit_ratios
from memaudit.lab.labels.ratio_summary import ratio_audit_file
from memaudit.lab.reproduce.folder import NATURAL, ROWS, SUMMARY, append_rows
from memaudit.lab.studies.sensitivity import SensitivityPlan, findings, sensitivity_at
from memaudit.lab.sweeps.runs.run_files import is_run_row
from memaudit.lab.sweeps.runs.spec import ESTIMATED, PROXIES, RAW, REFERENCES, RunSpec
from memaudit.lab.sweeps.runs.summary import read_grids, summary_of
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage, certificate_hash, evaluate
from memaudit.lab.sweeps.writers.registry import named_writer
from memaudit.workspace.engines import Engine
from memaudit.workspace.journal import Key, read_journal, to_line
from memaudit.workspace.run_folder import make_own_folder

OWN_SET = "the project's own natural set"
BUDGETS = ("30", "60", "100")
"""The paper's."""


# Writers at every budget. Rows say `natural` for the distribution; a seed is a place in the set.

WRITERS = (*REFERENCES, *RAW, *ESTIMATED, *PROXIES)
RUN_KEY = ("distribution", "seed", "budget", "writer")
PACKAGES_FOLDER = "packages"


def natural_spec(packages: int) -> RunSpec:
    """What is run on the first so many packages."""
    return RunSpec((NATURAL,), tuple(range(packages)), BUDGETS, WRITERS)


def make_natural_run(folder: Path, packages: int, engine: Engine) -> None:
    """Write the packages, every writer's row at every budget, and their summary."""
    make_own_folder(folder / PACKAGES_FOLDER)
    for package in natural_set()[:packages]:
        write_package(package, folder / package_file(package))
    spec = natural_spec(packages)
    keys: list[Key] = [
        (NATURAL, seed, int(budget), writer)
        for seed in spec.seeds
        for budget in spec.budgets
        for writer in spec.writers
    ]
    lines = partial(natural_lines, spec)
    append_rows(folder / ROWS, spec.seeds, lines, RUN_KEY, keys, engine, is_run_row)
    write_file(folder / SUMMARY, natural_summary_text(spec, read_journal(folder / ROWS)))


def package_file(package: Package) -> str:
    """Where a package is in the folder of this part."""
    return f"{PACKAGES_FOLDER}/{file_name(package.name)}"


def natural_lines(spec: RunSpec, place: int) -> list[str]:
    """The rows of one package: what an engine runs."""
    subject = EvaluatedPackage(natural_set()[place])
    budgets = [(budget, Fraction(budget)) for budget in spec.budgets]
    writers = [named_writer(name) for name in spec.writers]
    return [to_line(row.to_json()) for row in evaluate(subject, NATURAL, place, budgets, writers)]


def natural_summary_text(spec: RunSpec, rows: Iterable[dict[str, Any]]) -> str:
    """Means with intervals, in the form of a run's summary."""
    # In the form of a run, so that figures and tables need no second reader.
    manifest = {"spec": spec.to_json(), "spec_digest": spec.digest}
    summary = summary_of(manifest, read_grids(manifest, rows))
    names = [package.name for package in natural_set()[: len(spec.seeds)]]
    return _json_text({**summary, "set": OWN_SET, "packages": names, **manifest})


# Optima under other constraints and costs: two candidates per experience, byte costs.

Variant = tuple[str, int]
"""A cost rule, and how many candidates of one experience may be kept."""

VARIANTS: tuple[Variant, ...] = (("words", 1), ("words", 2), ("bytes", 1))
VARIANT_KEY = ("place", "budget", "cost_rule", "group_cap")
DIGITS = 6


def make_sensitivity(folder: Path, packages: int, engine: Engine) -> None:
    """Solve every package under every variant, and write the table."""
    keys = sensitivity_keys(packages)
    append_rows(folder / ROWS, range(packages), sensitivity_lines, VARIANT_KEY, keys, engine)
    write_file(folder / SUMMARY, sensitivity_summary_text(read_journal(folder / ROWS)))


def sensitivity_keys(packages: int) -> list[Key]:
    """Which rows there are, in order."""
    return [
        (place, int(budget), *variant)
        for place in range(packages)
        for variant in VARIANTS
        for budget in BUDGETS
    ]


def sensitivity_lines(place: int) -> list[str]:
    """The rows of one package: what an engine runs."""
    return [to_line(row) for row in sensitivity_rows(natural_set()[place], place)]


def sensitivity_rows(package: Package, place: int) -> Iterator[dict[str, Any]]:
    """The optimum of every variant and budget."""
    for rule, cap in VARIANTS:
        # Recosting by the same rule would change nothing but the digest.
        recost = package if rule == package.cost_rule else package.recost(rule)
        solver = PackageSolver(recost, cap)
        for budget in BUDGETS:
            best = solver.solve(Fraction(budget))
            proof = best.certificate if best.certified else None
            yield {
                "place": place,
                "package": package.name,
                "digest": best.digest,
                "budget": plain(best.budget),
                "cost_rule": rule,
                "group_cap": cap,
                "optimum": str(best.value),
                "cost": plain(best.cost),
                "store": list(best.store),
                "certificate": None if proof is None else certificate_hash(proof),
            }


def sensitivity_summary_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Means over packages at each budget, of optima and of their ratios to the default's."""
    optima: dict[str, dict[Variant, list[Fraction]]] = {}
    uncertified = 0
    for row in rows:
        variant = row["cost_rule"], row["group_cap"]
        at_budget = optima.setdefault(str(row["budget"]), {})
        at_budget.setdefault(variant, []).append(exact(row["optimum"]))
        uncertified += row["certificate"] is None
    return _json_text(
        {
            "set": OWN_SET,
            "means": "over packages; a ratio of optima is left out where the default's is 0",
            "uncertified": uncertified,
            "budgets": {
                budget: _variant_means(by_variant) for budget, by_variant in optima.items()
            },
        }
    )


def _variant_means(optima: Mapping[Variant, Sequence[Fraction]]) -> dict[str, Any]:
    base, two, by_bytes = (optima[variant] for variant in VARIANTS)
    return {
        "packages": len(base),
        "opt": _mean(base),
        "opt_two": _mean(two),
        "two_over_one": _mean(_ratios(two, base)),
        "opt_bytes": _mean(by_bytes),
        "bytes_over_default": _mean(_ratios(by_bytes, base)),
        "zero_optimum": sum(not optimum for optimum in base),
    }


def _ratios(above: Sequence[Fraction], below: Sequence[Fraction]) -> list[Fraction]:
    return [value / base for value, base in zip(above, below, strict=True) if base]


def _mean(numbers: Sequence[Fraction]) -> float | None:
    return round(float(sum(numbers) / len(numbers)), DIGITS) if numbers else None


# The label audit: two blind passes, and what they do to ratios.

AGREEMENT, RATIOS, RELIABILITY = "agreement.json", "ratios.json", "reliability.json"
BLIND_PASSES = PASSES[1:]
LABEL_BUDGETS = tuple(map(int, BUDGETS))


def make_label_audit(folder: Path, packages: int, engine: Engine) -> None:
    """Agreement of the passes, ratios under each of them, and how the packages were made."""
    for name, text in label_texts(packages, engine).items():
        write_file(folder / name, text)


def label_texts(packages: int, engine: Engine) -> dict[str, str]:
    """The files of this part."""
    chosen = natural_set()[:packages]
    return {
        RELIABILITY: _json_text(_reliability_data(chosen)),
        AGREEMENT: _json_text(_agreement_data(chosen)),
        RATIOS: _json_text(_ratios_data(chosen, engine)),
    }


def _reliability_data(packages: tuple[Package, ...]) -> dict[str, Any]:
    construction = reliability(OWN_SET, packages)
    data = {name: value for name, value in asdict(construction).items() if name != "agreement"}
    return {**data, "exact_share": rounded(construction.exact_share)}


def _agreement_data(packages: tuple[Package, ...]) -> dict[str, Any]:
    names = [f"{PASS}{name}" for name in BLIND_PASSES]
    frame, passes = judged_frame(packages, names)
    return audit_agreement(frame, [passes[name] for name in names]).model_dump()


def _ratios_data(packages: tuple[Package, ...], engine: Engine) -> dict[str, Any]:
    sources = tuple(source_of_pass(name, packages) for name in BLIND_PASSES)
    budgets = tuple(Fraction(budget) for budget in LABEL_BUDGETS)
    spec = RatioAuditSpec(packages, sources, budgets, DEFAULT_WRITERS)
    return ratio_audit_file(audit_ratios(spec, engine.map)).model_dump()


# What became of questions: retrieval by BM25, the extractive reader.

QUESTION_BUDGET, QUESTION_DEPTH = 30, 5
QUESTION_WRITERS = ("opt", "gvt", "estimated_gvt", "recency_raw", *PROXIES)


def make_downstream(folder: Path, packages: int) -> None:
    """Follow every question from the store through retrieval to the answer."""
    writers = [named_writer(name) for name in QUESTION_WRITERS]
    made = make_cases(
        natural_set()[:packages], StoreChoice(Fraction(QUESTION_BUDGET), writers=writers)
    )
    diagnose(made.cases, ReadingSetup(Bm25(), QUESTION_DEPTH, Extractive()), folder, made.settings)


def _json_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"


DENOMINATORS, COSTS, SMALLEST = "denominators.json", "costs.json", "smallest.json"
RULES = ("words", "bytes")
POLICY: Policy = "salience"


@cache
def _judge() -> Judge:
    with store_files() as files:
        return LabelJudge(files.labels, files.memories)


@cache
def _salience() -> Salience:
    with store_files() as files:
        return Salience(
            {store.name: SalienceCalls(files.salience(store.name)) for store in natural_stores()}
        )


@cache
def _board() -> tuple[BoardFolder, Judge]:
    """The captured stores, and the adjudicated labels of what they hold."""
    with shipped_board() as folder:
        board = read_board(folder)
        return board, LabelJudge(folder / board.plan.labels, folder / board.plan.memories)


def make_stores(folder: Path, packages: int, engine: Engine) -> None:
    """Score the shipped stores on the first packages, and write what the tables need."""
    for name, text in store_texts(packages, engine).items():
        write_file(folder / name, text)


def store_texts(packages: int, engine: Engine) -> dict[str, str]:
    """The files of this part."""
    places = [ShippedPlace(NATURAL, number) for number in range(packages)]
    # Workers read the shipped stores themselves; sending them with every task would cost more.
    files = list(engine.map(score_file, places))
    captured = {package.name for package in _board()[0].packages}
    # The other tables compare systems across packages; captured stores exist for the board alone.
    places = [place for place in places if place.read().name not in captured]
    entries = entries_of([(file["package"], file) for file in files])
    plan = SensitivityPlan(
        natural_stores(),
        (_judge(),),
        tuple(map(Fraction, BUDGETS)),
        RULES[1:],
        (2,),
        many=True,
        policy=POLICY,
        salience=_salience(),
    )
    runs = [measured.runs for measured in engine.map(partial(sensitivity_at, plan), places)]
    return {
        DENOMINATORS: _text({"rows": denominators_data(denominator_rows(entries))}),
        COSTS: _text({"policy": POLICY, "findings": findings(runs, plan.budgets)}),
        SMALLEST: _text({"rows": _smallest(places)}),
    }


def score_file(place: ShippedPlace) -> dict[str, Any]:
    """The scores of all stores on one package: what an engine runs."""
    package = place.read()
    board, labels = _board()
    if package.name in {captured.name for captured in board.packages}:
        stores, judge, salience = board.first_runs(package.name), labels, OWN_SALIENCE
    else:
        stores, judge, salience = natural_stores(), _judge(), _salience()
    scoring = Scoring(asked_budgets(BUDGETS), {store.name: judge for store in stores}, salience)
    return package_scores_data(score_package(package, stores, scoring))


def _smallest(places: Sequence[ShippedPlace]) -> list[dict[str, Any]]:
    """Per store and cost rule, the mean over packages of the cost of its smallest memory."""
    packages = [place.read() for place in places]
    rows = []
    for store in natural_stores():
        texts = [
            [memory.text for memory in price_store(package, store).memories] for package in packages
        ]
        for rule in RULES:
            measure = cost_rule(rule)
            least = [min(map(measure, own)) for own in texts if own]
            rows.append(
                {
                    "store": store.name,
                    "cost_rule": rule,
                    "packages": len(least),
                    "mean_smallest_cost": plain(Fraction(sum(least), len(least))),
                }
            )
    return rows


def _text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1) + "\n"
