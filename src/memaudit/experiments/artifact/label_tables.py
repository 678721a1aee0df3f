"""How the own natural set was made and labelled, as tables."""

from collections.abc import Mapping
from typing import Any

from memaudit.experiments.artifact.markdown import interval, number, page, table

SCALE = "covered"
"""The paper's labels are binary: covered, fully or in part, or not."""


def reliability_table(found: Mapping[str, Any], about: str) -> str:
    """The shape of table 2: what was made, and how it can be checked."""
    coverage = found["coverage"]
    rows = [
        ("packages", found["packages"]),
        ("queries", found["queries"]),
        ("queries without units", found["queries_without_units"]),
        ("units", found["units"]),
        ("units nobody covers", found["units_uncovered"]),
        ("candidates", sum(found["candidates"].values())),
        *((f"coverage rows, {name}", sum(labels.values())) for name, labels in coverage.items()),
        ("share of coverage rows that follow from the texts", number(found["exact_share"])),
        ("quotes looked up in the stream", found["quotes"]["checked"]),
        ("quotes found there", found["quotes"]["found"]),
        ("adjudicated by people", 0),
    ]
    return page("Construction of the own natural set (beside table 2)", about,
                table(("what", "number"), rows))  # fmt: skip


def labels_table(agreement: Mapping[str, Any], ratios: Mapping[str, Any], about: str) -> str:
    """The shape of table 3: agreement of label passes, and what they do to ratios."""
    pairs = [
        (f"{pair['first']['name']} - {pair['second']['name']}", scale["cells"],
         _estimate(scale["as_drawn"]["kappa"]), _estimate(scale["as_drawn"]["raw_agreement"]))
        for pair in agreement["pairs"]
        for scale in (pair["scales"][SCALE],)
    ]  # fmt: skip
    shifts = [
        (one["name"], _budget(shift["budget"]), _mean(shift["ratio_mad"]),
         "preserved" if shift["ranking"]["preserved"] else "changed",
         number(_value(shift["ranking"]["spearman_rho"])))
        for one in ratios["label_sets"]
        for shift in one["shifts"]
    ]  # fmt: skip
    made = (
        f"{about} All passes are a language model's; no person labelled these cells. Labels are "
        "compared as covered or not; intervals are 95% bootstrap intervals over packages."
    )
    return page(
        "Label audit of the own natural set (beside table 3)", made,
        table(("pair", "cells", "Cohen's kappa", "raw agreement"), pairs),
        f"Writers' ratios under each label set, against the packages' own labels; "
        f"{len(ratios['stores'])} writers.\n",
        table(("label set", "B", "ratio MAD", "ranking", "Spearman's rho"), shifts),
    )  # fmt: skip


def _estimate(one: Mapping[str, Any]) -> str:
    bounds = one["over_packages"] or one["over_cells"]
    return interval(one["value"], *((bounds["low"], bounds["high"]) if bounds else (None, None)))


def _mean(one: Mapping[str, Any]) -> str:
    return interval(one["mean"], one["low"], one["high"])


def _value(one: Mapping[str, Any] | None) -> float | None:
    return None if one is None else one["value"]


def _budget(budget: object) -> object:
    return "all" if budget is None else budget
