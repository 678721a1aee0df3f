"""The leaderboard for programs."""

import math
from typing import Any

from memaudit.core.exact import plain
from memaudit.report.leaderboard.board import Board, Standing
from memaudit.stats.intervals import Difference, Interval


def leaderboard_data(board: Board) -> dict[str, Any]:
    """All numbers; null where there is none. Shares are exact text and sum to 1."""
    return {
        "format": "memaudit-leaderboard",
        "version": 1,
        "packages": list(board.entries.packages),
        "judges": list(board.entries.judges),
        "coverage_is_an_estimate": board.entries.is_estimate,
        "cost_rule": board.entries.cost_rule,
        "skipped_files": list(board.entries.skipped),
        "not_scored": [one.model_dump() for one in board.entries.not_scored],
        "undecided_cells": board.entries.undecided_cells,
        "not_all_seen": [
            {"package": package, **store.model_dump(exclude_defaults=True)}
            for package, store in board.entries.accounts
            if store.is_incomplete or store.undecided_cells or store.left_out
        ],
        "standings": [
            {"budget": plain(budget), **_standing(one)} for budget, rows in board.budgets
            for one in rows
        ],
        "differences": [
            {
                "budget": plain(gap.budget),
                "first": gap.first,
                "second": gap.second,
                **_mean(gap.found),
                "p": _number(gap.found.p),
                "p_holm": _number(gap.p_holm),
            }
            for gap in board.gaps
        ],
    }  # fmt: skip


def _standing(one: Standing) -> dict[str, Any]:
    return {
        "store": one.store,
        "kept": _mean(one.kept),
        "upper_pruned": _mean(one.upper),
        "shares": one.shares and {name: str(share) for name, share in one.shares.items()},
        "diagnosed": one.diagnosed,
        "cut_to_budget": one.cut,
        "undefined": one.undefined,
        "not_scored": one.missing,
        "memories": None if one.memories is None else _number(one.memories),
        "incomplete_stores": one.incomplete,
        "undecided_cells": one.undecided_cells,
    }


def _mean(found: Interval | Difference) -> dict[str, Any]:
    return {
        "n": found.n,
        "mean": _number(found.mean),
        "ci_low": _number(found.low),
        "ci_high": _number(found.high),
    }


def _number(number: float) -> float | None:
    return None if math.isnan(number) else round(number, 9)
