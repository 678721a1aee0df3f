"""Bootstrap intervals for all tables of an audit at once, over cells and over packages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.audits.agreement.alpha import coincidence_rows
from memaudit.audits.agreement.coding import Codes
from memaudit.audits.agreement.comparison import Crossing
from memaudit.audits.agreement.estimate import Answer
from memaudit.audits.agreement.resampling import (
    Bounds,
    Pool,
    bootstrap,
    pool_of_cells,
    pool_of_packages,
)
from memaudit.audits.agreement.scale import Scale
from memaudit.audits.agreement.vectors import Measure, alpha_measure, pair_measure
from memaudit.audits.agreement.weights import Weights
from memaudit.audits.statistics import Floats

Key = tuple[int | str, str]
"""What is asked about, a pair by its place or a scale by its name; and in which balance."""


@dataclass(frozen=True, slots=True)
class Question:
    """A table that draws of a pool add up to, and what is measured in it."""

    table: Callable[[Pool], Floats]
    measure: Measure


def pair_question(pair: Crossing, weights: Weights) -> Question:
    """The coefficients of a pair."""
    floats, width = weights.floats, pair.scale.size**2
    return Question(
        lambda pool: pool.gathered(pair.places, floats, width), pair_measure(pair.scale)
    )


def alpha_question(
    codes: Codes, scale: Scale, levels: tuple[str, ...], weights: Weights
) -> Question:
    """Krippendorff's alpha of annotators (rows of `codes`) on each level."""
    rows = coincidence_rows(codes, scale) * weights.floats[:, None]
    return Question(lambda pool: pool.summed(rows), alpha_measure(scale, levels))


def answers(
    questions: Mapping[Key, Question],
    profiles: Sequence[NDArray[np.generic]],
    packages: Sequence[str],
    draws: int,
    seed: int,
) -> dict[Key, Answer]:
    """Cells alike in all `profiles` are drawn as one; packages only where there are several."""

    def asked(pool: Pool, stream: int) -> list[list[Bounds | None]]:
        tables = [(one.table(pool), one.measure) for one in questions.values()]
        return bootstrap(pool, tables, draws, np.random.default_rng([seed, stream]))

    over_cells = asked(pool_of_cells(profiles), 0)
    if len(set(packages)) < 2:
        return {key: Answer(one, None) for key, one in zip(questions, over_cells, strict=True)}
    over_packages = asked(pool_of_packages(packages), 1)
    both = zip(questions, over_cells, over_packages, strict=True)
    return {key: Answer(cells, wider) for key, cells, wider in both}
