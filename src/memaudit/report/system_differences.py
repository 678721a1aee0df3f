"""How sure the order of a board is: draws of conversations, passes and runs, and paired tests.

The interval of a mean combines three sources of uncertainty. Each draw takes conversations with
replacement; for each of them one of the passes of labels, the same for all systems; and from a
system's runs on it as many as there are, with replacement.

One system is behind another if the paired differences by conversation are clear: the sign-flip
test, corrected by Holm over all pairs of one measure at one budget, and the interval of the
difference both say so.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memaudit.report.system_rows import Measure, rows_of, run_values
from memaudit.scoring.board_folder import BoardFolder, BoardSystem
from memaudit.scoring.board_scores import ScoredConversation
from memaudit.stats.bootstrap import RESAMPLES, Floats, outer_percentiles
from memaudit.stats.paired_tests import holm, sign_flip_test

CLEAR = 0.05

MEASURES: dict[str, Measure] = {
    "score": lambda row: row.numbers.kept.ratio.value,
    "best_subset": lambda row: row.numbers.best.ratio.value,
}


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """How far one ranked system is above another at a budget, in the mean over conversations."""

    budget: str
    measure: str
    first: str
    second: str
    mean: float
    low: float
    high: float
    p: float
    """Of the sign-flip test, corrected by Holm over the pairs at this budget."""

    @property
    def clear(self) -> bool:
        return self.p < CLEAR and (self.low > 0 or self.high < 0)

    @property
    def ahead(self) -> str:
        return self.first if self.mean > 0 else self.second


Draws = Mapping[str, Mapping[str, Floats]]
"""By measure and system, its means in every draw."""


def all_draws(folder: BoardFolder, known: Sequence[ScoredConversation], asked: str) -> Draws:
    return {
        measure: {
            one.name: _draws(folder, known, one, asked, measure)
            for one in folder.systems
            if any(rows_of(known, one, asked))
        }
        for measure in MEASURES
    }


def _draws(
    folder: BoardFolder,
    known: Sequence[ScoredConversation],
    system: BoardSystem,
    asked: str,
    measure: str,
) -> Floats:
    """Means of the system in every draw of conversations, passes and runs."""
    dice = np.random.default_rng(0)  # conversations and passes are drawn alike for all systems
    shape = (RESAMPLES, len(known))
    chosen = dice.integers(0, len(known), size=shape)
    passes = dice.integers(0, len(folder.passes), size=shape)
    of_runs = np.random.default_rng(
        zlib.crc32("".join(run.store.digest for run in system.runs).encode())
    )  # whatever the row is called
    by_pass = [rows_of(known, system, asked, name) for name in folder.passes]
    values = np.full(shape, np.nan)
    for at in range(len(known)):
        table = np.array(
            [
                [
                    math.nan if value is None else float(value)
                    for value in map(MEASURES[measure], runs)
                ]
                for runs in (rows[at] for rows in by_pass)
            ]
        )
        here = chosen == at
        if table.size:
            runs = of_runs.integers(0, table.shape[1], size=(here.sum(), table.shape[1]))
            values[here] = table[passes[here][:, None], runs].mean(axis=1)
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore"):  # a draw of conversations that the system was not run on
        means: Floats = np.where(there, values, 0.0).sum(axis=1) / there.sum(axis=1)
    return means


def by_conversation(
    known: Sequence[ScoredConversation], system: BoardSystem, asked: str, measure: str
) -> dict[str, float]:
    """The mean over runs, where there is one."""
    return {
        one.conversation: sum(values) / len(values)
        for one, runs in zip(known, rows_of(known, system, asked), strict=True)
        if (values := run_values(runs, MEASURES[measure]))
    }


def differences_between(
    folder: BoardFolder, known: Sequence[ScoredConversation], asked: str, draws: Draws
) -> list[SystemDifference]:
    """Between every two systems with scores on every conversation."""
    found = []
    for measure in MEASURES:
        means = {}
        for system in folder.systems:
            values = by_conversation(known, system, asked, measure)
            if len(values) == len(known):
                means[system.name] = np.array(list(values.values()))
        if not (pairs := list(combinations(means, 2))):
            continue
        gaps = np.stack([means[a] - means[b] for a, b in pairs], axis=1)
        for (a, b), gap, p in zip(pairs, gaps.T, holm(sign_flip_test(gaps)), strict=True):
            low, high = outer_percentiles(draws[measure][a] - draws[measure][b])
            found.append(
                SystemDifference(asked, measure, a, b, float(gap.mean()), low, high, float(p))
            )
    return found


def systems_ahead(
    known: Sequence[ScoredConversation],
    system: BoardSystem,
    asked: str,
    measure: str,
    differences: Sequence[SystemDifference],
) -> tuple[str, ...] | None:
    """The systems clearly ahead of a system; None if it lacks a score somewhere."""
    if len(by_conversation(known, system, asked, measure)) < len(known):
        return None
    return tuple(
        one.ahead
        for one in differences
        if one.measure == measure
        and one.clear
        and system.name in (one.first, one.second)
        and one.ahead != system.name
    )
