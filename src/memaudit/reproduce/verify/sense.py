"""What is wrong with a row of a run by itself: its shape, and numbers that cannot be."""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memaudit.experiments.evaluate import Row
from memaudit.experiments.grid import FIELDS
from memaudit.io.strict_json import first_fault

NEAR = 1e-6
"""Rows round to nine places, so a ratio made from rounded numbers may be this far off."""

ORACLE = "opt"
"""The writer that keeps the best store."""

_ROW = TypeAdapter(Row)


def malformed(row: Mapping[str, Any]) -> str:
    """What is wrong with the shape of a row, or an empty text."""
    for name in (*FIELDS, "optimum"):
        if row.get(name) is not None and not _is_number(row[name]):
            return f"{name}: is not a finite number"
    try:
        _ROW.validate_python({"undefined": "", **row})
    except ValidationError as error:
        return first_fault(error)
    return ""


def nonsense(row: Mapping[str, Any]) -> str:
    """What a row of the right shape says that cannot be, or an empty text."""
    value, optimum, ratio = row["value"], row["optimum"], row["ratio"]
    if (value is None) != ("failed" in row):
        return "a writer has a value, or has failed"
    if value is not None and not -NEAR <= value <= optimum + NEAR:
        return "the value is not between 0 and the optimum"
    defined = value is not None and optimum > 0 and row["certificate"] is not None
    if (ratio is not None) != defined:
        return "a ratio is there if and only if there is a value and a certified optimum above 0"
    if ratio is not None and abs(ratio - value / optimum) > NEAR:
        return "the ratio is not value / optimum"
    if row["writer"] == ORACLE and ratio not in (None, 1):
        return "the best store does not reach the optimum"
    return ""


def _is_number(value: object) -> bool:
    """Whether it is finite, and a number in the way means take it."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        return math.isfinite(float(value))
    except (ValueError, OverflowError):
        return False
