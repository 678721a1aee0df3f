"""A mean with its interval as plain data; one package, or one question, alone has no interval."""

import math
from typing import Any

import numpy as np

from memaudit.audits.statistics import Floats, Interval, Places

DIGITS = 9


def spread(one: Interval, values: Floats, cluster: Places) -> dict[str, Any]:
    """n, mean and interval; no interval where fewer than two clusters have a value to resample."""
    alone = len(np.unique(cluster[~np.isnan(values)])) < 2
    return {
        "n": one.n,
        "mean": rounded(one.mean),
        "ci_low": None if alone else rounded(one.low),
        "ci_high": None if alone else rounded(one.high),
    }


def rounded(number: float) -> float | None:
    """As JSON holds it; None for what is undefined."""
    return None if math.isnan(number) else round(number, DIGITS)
