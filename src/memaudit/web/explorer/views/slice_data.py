"""Part of a run as the script of its page takes it."""

import math
from typing import Any

from memaudit.report.page.run import Run
from memaudit.web.explorer.views.slices import Slice

DIGITS = 6


def slice_data(run: Run, part: Slice) -> dict[str, Any]:
    """Places and pairs by the writers' places in the run; what is not defined is null."""
    at = {name: place for place, name in enumerate(run.members)}
    return {
        "packages": part.packages,
        "distinct": part.distinct,
        "places": [
            [at[one.member.name], one.found.n, *_numbers(one.found.mean, one.found.low,
                                                         one.found.high)]
            for one in part.places
        ],
        "pairs": [
            [at[one.first.name], at[one.second.name], one.found.n,
             *_numbers(one.found.mean, one.found.low, one.found.high, one.found.p, one.p_holm),
             one.verdict]
            for one in part.pairs
        ],
    }  # fmt: skip


def _numbers(*numbers: float) -> list[float | None]:
    return [None if math.isnan(number) else round(number, DIGITS) for number in numbers]
