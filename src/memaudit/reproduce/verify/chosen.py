"""Which rows are made again: all of them, or a draw that leaves no mean without a row."""

import random
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from memaudit.reproduce.folder import NATURAL, SENSITIVITY, SOLVERS
from memaudit.reproduce.verify.rows import Rows

Row = Mapping[str, Any]

IN_FULL = (NATURAL, SENSITIVITY)
"""Parts that take seconds: never a sample."""

SLOW_ROWS = 18
"""Of the solver audit, by the slow backend too; it alone would take longer than all the rest."""


def drawn(rows: Mapping[str, Rows], size: int | None, seed: int) -> dict[str, list[int]]:
    """Places in the rows of each part, sorted: all unless there is a size; with size 0 none.

    Parts that are not made in full share the size evenly, and have more rows than that where a
    mean would go without one.
    """
    share = 0 if size is None else -(-size // max(1, len(rows.keys() - set(IN_FULL))))
    found = {}
    for part, here in rows.items():
        if size is None or (size and part in IN_FULL):
            found[part] = list(range(len(here)))
        else:
            found[part] = draw(part, here, share, seed)
    return found


def slow(rows: Rows, seed: int) -> list[int]:
    """Rows of the solver audit that the slow backend solves as well."""
    return draw(f"{SOLVERS}, slow", rows, SLOW_ROWS, seed)


def draw(part: str, rows: Rows, share: int, seed: int) -> list[int]:
    """One row of every cell, then others until there are enough; none if none are wanted."""
    if not share:
        return []
    source = random.Random(f"{seed} {part}")
    cell_of = CELLS.get(part.partition(",")[0], _mean)
    cells: dict[Hashable, list[int]] = {}
    for place, row in enumerate(rows):
        cells.setdefault(cell_of(row), []).append(place)
    first = {source.choice(places) for places in cells.values()}
    rest = [place for place in range(len(rows)) if place not in first]
    more = source.sample(rest, min(len(rest), max(0, share - len(first))))
    return sorted([*first, *more])


def _mean(row: Row) -> Hashable:
    """The mean that a row goes into."""
    return row["distribution"], row["budget"], row["writer"]


def _distribution(row: Row) -> Hashable:
    return (row["distribution"],)


CELLS: Mapping[str, Callable[[Row], Hashable]] = {SOLVERS: _distribution}
"""What must not go without a row, where that is not a mean of a run."""
