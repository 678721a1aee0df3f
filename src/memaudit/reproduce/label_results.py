"""The label audit on the own natural set: two blind passes, and what they do to ratios."""

import json
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.core.package import Package
from memaudit.experiments.engines.local import Engine
from memaudit.io.atomic import write_file
from memaudit.label_audit.agreement import audit_agreement
from memaudit.label_audit.agreement_json import audit_data
from memaudit.label_audit.audited_package import case_of
from memaudit.label_audit.fixed_stores import DEFAULT_WRITERS
from memaudit.label_audit.judged_frame import judged_frame
from memaudit.label_audit.ratios import Question, audit_ratios
from memaudit.label_audit.ratios_json import answer_data
from memaudit.label_audit.ratios_summary import summarised
from memaudit.label_audit.readings import passed
from memaudit.natural.coverage_rules import PASS
from memaudit.natural.named_packages import PASSES, natural_set
from memaudit.natural.reliability import Reliability, reliability

AGREEMENT, RATIOS, RELIABILITY = "agreement.json", "ratios.json", "reliability.json"
BLIND = PASSES[1:]
BUDGETS = (30, 60, 100)
"""The paper's."""


def make_label_audit(folder: Path, packages: int, engine: Engine) -> None:
    """Agreement of the passes, ratios under each of them, and how the packages were made."""
    for name, text in label_texts(packages, engine).items():
        write_file(folder / name, text)


def label_texts(packages: int, engine: Engine) -> dict[str, str]:
    """The files of this part."""
    chosen = natural_set()[:packages]
    found = {
        RELIABILITY: _reliability(reliability("the project's own natural set", chosen)),
        AGREEMENT: _agreement(chosen),
        RATIOS: _ratios(chosen, engine),
    }
    return {name: json.dumps(data, indent=1) + "\n" for name, data in found.items()}


def _agreement(packages: tuple[Package, ...]) -> dict[str, Any]:
    names = [f"{PASS}{name}" for name in BLIND]
    frame, passes = judged_frame(packages, names)
    return audit_data(audit_agreement(frame, [passes[name] for name in names]))


def _ratios(packages: tuple[Package, ...], engine: Engine) -> dict[str, Any]:
    cases = tuple(case_of(package) for package in packages)
    readings = tuple(passed(name, cases) for name in BLIND)
    budgets = tuple(Fraction(budget) for budget in BUDGETS)
    answer = audit_ratios(
        Question(cases, readings, budgets, DEFAULT_WRITERS), engine.map, lambda *_: None
    )
    return answer_data(answer, summarised(answer))


def _reliability(found: Reliability) -> dict[str, Any]:
    share = found.exact_share
    data = {name: value for name, value in asdict(found).items() if name != "agreement"}
    return {**data, "exact_share": None if share is None else round(float(share), 9)}
