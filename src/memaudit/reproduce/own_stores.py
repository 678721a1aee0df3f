"""Exported stores on the project's own natural set: the forms of tables 4 and 6 and of figure 4.

On the conversations of the board the stores are those of the systems that were run. On the others
they were written by hand in the shapes of Mem0, Letta and A-Mem, so their numbers say nothing about
these systems: they show every step of the comparison on data that anybody can check.
"""

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

from memaudit.core.budgets import asked_budgets
from memaudit.core.cost import cost_rule
from memaudit.core.exact import plain
from memaudit.experiments.engines import Engine
from memaudit.io.atomic import write_file
from memaudit.natural.named_packages import NATURAL, ShippedPlace
from memaudit.natural.named_stores import natural_stores, store_files
from memaudit.reproduce.own_set import BUDGETS
from memaudit.scoring.board_folder import BoardFolder, read_board, shipped_board
from memaudit.scoring.denominators import denominator_rows, denominators_data
from memaudit.scoring.judge import Judge
from memaudit.scoring.judged_store import measured_store
from memaudit.scoring.label_judges import LabelJudge
from memaudit.scoring.package_scores import score_package
from memaudit.scoring.package_sensitivity import (
    SensitivityPlan,
    sensitivity_at,
)
from memaudit.scoring.pruning import Policy
from memaudit.scoring.result import Scoring
from memaudit.scoring.salience import SalienceCalls
from memaudit.scoring.salience_source import OWN_SALIENCE, Salience
from memaudit.scoring.score_files import entries_of
from memaudit.scoring.score_json import package_scores_data
from memaudit.scoring.sensitivity import finding_row, variant_findings
from memaudit.scoring.sensitivity_variants import VariantChoices

DENOMINATORS, COSTS, SMALLEST = "denominators.json", "costs.json", "smallest.json"
RULES = ("words", "bytes")
POLICY: Policy = "salience"


@cache
def _judge() -> Judge:
    with store_files() as found:
        return LabelJudge(found.labels, found.memories)


@cache
def _salience() -> Salience:
    with store_files() as found:
        return Salience(
            {store.name: SalienceCalls(found.salience(store.name)) for store in natural_stores()}
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
    files = list(engine.map(score_file, places))
    captured = {package.name for package in _board()[0].packages}
    places = [place for place in places if place.read().name not in captured]
    entries = entries_of([(file["package"], file) for file in files])
    plan = SensitivityPlan(
        natural_stores(),
        (_judge(),),
        tuple(map(Fraction, BUDGETS)),
        VariantChoices(cost_rules=RULES[1:], group_caps=(2,), noise=()),
        many=True,
        policy=POLICY,
        salience=_salience(),
    )
    runs = [found.runs for found in engine.map(partial(sensitivity_at, plan), places)]
    findings = variant_findings(runs, plan.budgets)
    return {
        DENOMINATORS: _text({"rows": denominators_data(denominator_rows(entries))}),
        COSTS: _text({"policy": POLICY, "findings": [finding_row(row) for row in findings]}),
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
    scoring = Scoring(asked_budgets(BUDGETS), {one.name: judge for one in stores}, salience)
    return package_scores_data(score_package(package, stores, scoring))


def _smallest(places: Sequence[ShippedPlace]) -> list[dict[str, Any]]:
    """Per store and cost rule, the mean over packages of the cost of its smallest memory."""
    packages = [place.read() for place in places]
    rows = []
    for store in natural_stores():
        texts = [[one.text for one in measured_store(it, store).memories] for it in packages]
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
