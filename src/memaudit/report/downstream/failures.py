"""Which failures a page tells in full: some of every store and outcome, with their chains."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memaudit.downstream.examine import WHY
from memaudit.downstream.outcomes import LOST_BY, Layer, Outcome
from memaudit.report.page.cast import Member

EACH = 2
"""Failures told of one store and outcome."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """One question that was not answered right, with its remarks in words."""

    row: Row
    why: tuple[str, ...]

    @property
    def outcome(self) -> str:
        return str(self.row["outcome"]).replace("_", " ")

    @property
    def lost(self) -> str:
        """Who lost it, in words."""
        return LOST_BY[Layer(self.row["layer"])]

    @property
    def right(self) -> str:
        """What would have been right, in words."""
        if self.row["abstention"]:
            return "to say that it is not known"
        return self.row["gold"] or "not given"

    @property
    def said(self) -> str:
        """The answer, or what the reply is instead."""
        return self.row["answer"] or str(self.row["reply"]).replace("_", " ")


@dataclass(frozen=True, slots=True)
class Failures:
    """Failures by store, and how many there are in all."""

    stores: tuple[tuple[Member, tuple[Failure, ...]], ...]
    total: int
    rows: int

    @property
    def told(self) -> int:
        return sum(len(inside) for _, inside in self.stores)


def failures(rows: Sequence[Row], members: Mapping[str, Member]) -> Failures:
    """The first of every store and outcome, in the order of outcomes."""
    failed = [row for row in rows if row["outcome"] != Outcome.RIGHT]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in failed:
        groups[row["store"], row["outcome"]].append(row)
    return Failures(
        tuple(
            (
                member,
                tuple(
                    Failure(row, tuple(WHY[why] for why in row["why"]))
                    for outcome in Outcome
                    for row in groups[name, outcome.value][:EACH]
                ),
            )
            for name, member in members.items()
        ),
        len(failed),
        len(rows),
    )
