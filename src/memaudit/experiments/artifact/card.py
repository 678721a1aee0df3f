"""The evaluation card: what the results are for, what they are not for, and on what they rest."""

from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Any

from memaudit.experiments.artifact.board import NEEDS
from memaudit.experiments.artifact.findings import Findings
from memaudit.experiments.artifact.label_audit import BLIND
from memaudit.experiments.artifact.label_tables import SCALE
from memaudit.experiments.artifact.layout import LICENCES, SCOREBOARD_PAGE
from memaudit.experiments.artifact.markdown import number
from memaudit.experiments.artifact.natural_results import NAME
from memaudit.experiments.scoreboard import AGREE, DIFFER


def card(found: Findings, version: str) -> str:
    """The card, in Markdown; `version` is that of the program."""
    text = files(__package__).joinpath("card.md").read_text("utf-8")
    counts = found.board.counts
    rows = [row for one in found.summaries.values() for row in one["rows"]]
    return Template(text).substitute(
        options=found.settings.options,
        version=version,
        **_denominators(found),
        zero=sum(row["zero_optimum"] for row in [*rows, *found.natural["rows"]]),
        package_rows="\n".join(_packages(found)),
        **_labels(found),
        agree=counts[AGREE],
        differ=counts[DIFFER],
        needs=counts[NEEDS],
        scoreboard=SCOREBOARD_PAGE,
        licences=LICENCES,
    )


def _denominators(found: Findings) -> dict[str, object]:
    natural = {digest for (name, _), (_, digest) in found.index.packages.items() if name == NAME}
    budgets = found.natural["spec"]["budgets"]
    variants = [one["packages"] for one in found.sensitivity["budgets"].values()]
    runs = [one["rows"] for one in found.summaries.values()]
    return {
        "optima": sum(_asked(rows) for rows in runs),
        "uncertified": sum(_unproven(rows) for rows in runs),
        "natural_optima": len(natural) * len(budgets),
        "natural_uncertified": _unproven(found.natural["rows"]),
        "variant_optima": 3 * sum(variants),
        "variant_uncertified": found.sensitivity["uncertified"],
    }


def _asked(rows: list[Mapping[str, Any]]) -> int:
    """Optima of distinct packages: each at every budget, whoever wrote."""
    cells = {(row["distribution"], row["budget"]): row["distinct_packages"] for row in rows}
    return sum(cells.values())


def _unproven(rows: list[Mapping[str, Any]]) -> int:
    """Optima without a proof; every writer's row of a cell counts the same ones."""
    cells = {(row["distribution"], row["budget"]): row["uncertified"] for row in rows}
    return sum(cells.values())


def _packages(found: Findings) -> list[str]:
    count: Counter[str] = Counter()
    digests: dict[str, set[str]] = {}
    for (name, _), (_, digest) in found.index.packages.items():
        count[name] += 1
        digests.setdefault(name, set()).add(digest)
    made = {NAME: "the project's own conversations and labels"}
    return [
        f"| {name} | {number} | {len(digests[name])} | {made.get(name, 'generator, by seed')} |"
        for name, number in sorted(count.items())
    ]


def _labels(found: Findings) -> dict[str, object]:
    (blind,) = (
        pair["scales"][SCALE]
        for pair in found.agreement["pairs"]
        if {pair["first"]["name"], pair["second"]["name"]} == {f"pass:{name}" for name in BLIND}
    )
    overall = [one["shifts"][-1] for one in found.ratios["label_sets"]]
    preserved = all(shift["ranking"]["preserved"] for shift in overall)
    return {
        "conversations": found.reliability["packages"],
        "queries": found.reliability["queries"],
        "units": found.reliability["units"],
        "cells": blind["cells"],
        "kappa": number(blind["as_drawn"]["kappa"]["value"]),
        "raw": number(blind["as_drawn"]["raw_agreement"]["value"]),
        "mad": " and ".join(number(shift["ratio_mad"]["mean"]) for shift in overall[:2]),
        "writers": len(found.ratios["stores"]),
        "ranking": "preserved" if preserved else "not preserved in full",
    }
