"""How fast cells get labelled, from the times of the last decisions."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

RECENT = 40
"""Gaps between decisions that count: the pace is that of now, not of the first hour."""

BREAK = 180.0
"""Seconds after which somebody was away, not thinking."""


def cells_per_minute(times: Sequence[str]) -> float | None:
    """60 x gaps / seconds between the last decisions, breaks left out; None while unknown."""
    moments = [datetime.fromisoformat(time) for time in times[-RECENT - 1 :]]
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    gaps = [gap for gap in gaps if 0 <= gap <= BREAK]  # a clock may be set back
    return 60 * len(gaps) / sum(gaps) if sum(gaps) > 0 else None
