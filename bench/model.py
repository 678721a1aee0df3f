"""What every peer gets, after the same minimal cleaning, and what it returns, valued exactly."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from memaudit.kernel.solvers.packed import Packed

OVER_LIMIT = "over its limit"
TIME_LIMIT = "time limit"


@dataclass(frozen=True, slots=True)
class PeerResult:
    """One solver's answer to one problem; `note` says why it proved nothing."""

    value: int
    proven: bool
    build_seconds: float
    solve_seconds: float
    chosen: tuple[int, ...]
    note: str = ""

    @property
    def seconds(self) -> float:
        """Building the model and solving it."""
        return self.build_seconds + self.solve_seconds


class TooLarge(Exception):
    """The model is over the size that the peer's licence allows."""


class Peer(Protocol):
    """A peer with its model built."""

    def solve(self) -> None:
        """Solve within the limit."""

    def answer(self) -> tuple[list[float], bool]:
        """The x of the best store, empty where there is none, and whether it is claimed optimal."""
        ...


@dataclass(frozen=True, slots=True)
class Model:
    """Weighted units, and the candidates that cover some of one and fit the budget.

    Unit r is worth weight[r] * min(top[r], coverage level). `candidates` are positions in the
    arrays; `rows` and `groups` use the positions in this model.
    """

    weight: list[int]
    top: list[int]
    candidates: list[int]
    cost: list[int]
    rows: list[list[tuple[int, int]]]
    groups: list[list[int]]
    budget: int
    group_cap: int

    @property
    def crowded(self) -> list[list[int]]:
        """The groups that hold more candidates than may be kept."""
        return [group for group in self.groups if len(group) > self.group_cap]

    @property
    def columns(self) -> list[list[tuple[int, int]]]:
        """Per unit, the candidates that cover it and how much."""
        columns: list[list[tuple[int, int]]] = [[] for _ in self.weight]
        for candidate, row in enumerate(self.rows):
            for unit, level in row:
                columns[unit].append((candidate, level))
        return columns

    @property
    def full(self) -> list[int]:
        """Per unit, what covering all of it is worth."""
        return [weight * top for weight, top in zip(self.weight, self.top, strict=True)]

    @property
    def shares(self) -> list[list[tuple[int, float]]]:
        """Per unit, the candidates that cover it and which share of it."""
        return [
            [(candidate, level / top) for candidate, level in column]
            for column, top in zip(self.columns, self.top, strict=True)
        ]


def clean(packed: Packed) -> Model:
    """Drop unweighted units, and candidates that cover nothing or cost more than the budget."""
    full = packed.table[packed.table_start[1:] - 1]
    top = packed.tops
    kept = np.flatnonzero(full > 0)
    place = {unit: index for index, unit in enumerate(kept.tolist())}
    units, levels, costs = packed.unit.tolist(), packed.level.tolist(), packed.cost.tolist()
    candidates: list[int] = []
    rows: list[list[tuple[int, int]]] = []
    groups: dict[int, list[int]] = {}
    owner = packed.group.tolist()
    for candidate, (start, end) in enumerate(pairwise(packed.row_start.tolist())):
        row = [
            (place[unit], level)
            for unit, level in zip(units[start:end], levels[start:end], strict=True)
            if unit in place and level > 0
        ]
        if row and costs[candidate] <= packed.budget:
            groups.setdefault(owner[candidate], []).append(len(candidates))
            candidates.append(candidate)
            rows.append(row)
    return Model(
        weight=(full[kept] // top[kept]).tolist(),
        top=top[kept].tolist(),
        candidates=candidates,
        cost=[costs[candidate] for candidate in candidates],
        rows=rows,
        groups=list(groups.values()),
        budget=packed.budget,
        group_cap=packed.group_cap,
    )


def evaluate(packed: Packed, chosen: Iterable[int]) -> int:
    """The exact value of a store, in integers."""
    amounts: Counter[int] = Counter()
    for candidate in chosen:
        start, end = packed.row_start[candidate : candidate + 2].tolist()
        for unit, level in zip(packed.unit[start:end], packed.level[start:end], strict=True):
            amounts[int(unit)] += int(level)
    tops = packed.tops
    return sum(
        int(packed.table[packed.table_start[unit] + min(level, tops[unit])])
        for unit, level in amounts.items()
    )


def feasible(packed: Packed, chosen: tuple[int, ...]) -> bool:
    """Whether a store fits the budget and the group cap."""
    kept = Counter(int(packed.group[candidate]) for candidate in chosen)
    cost = sum(int(packed.cost[candidate]) for candidate in chosen)
    return (
        len(set(chosen)) == len(chosen)
        and cost <= packed.budget
        and max(kept.values(), default=0) <= packed.group_cap
    )
