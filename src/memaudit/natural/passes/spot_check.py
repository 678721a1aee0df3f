"""Pass f: another model judges a sample of the cells again, with the same prompt."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.natural.passes.chunks import Pair
from memaudit.natural.passes.coverage import VALUES, Cell, Cells, Label, judge_pairs
from memaudit.natural.passes.desk import Desk

STAGE = "spot check"
SHARE = Fraction(1, 5)


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """The sampled cells: by pair, what the judge said and what the other model says."""

    cells: Mapping[Pair, tuple[Cell, Cell]]
    undecided: int = 0

    @property
    def table(self) -> dict[tuple[Label, Label], int]:
        """How often the judge said the first and the other model the second."""
        found = Counter((one.label, other.label) for one, other in self.cells.values())
        return {
            (one, other): found[one, other]
            for one in VALUES
            for other in VALUES
            if found[one, other]
        }

    @property
    def agreement(self) -> Fraction | None:
        """The share of sampled cells with the same label; None without any."""
        same = sum(one.label == other.label for one, other in self.cells.values())
        return Fraction(same, len(self.cells)) if self.cells else None


def sample(cells: Cells, share: Fraction, seed: int, owner: str) -> set[Pair]:
    """So large a share of each label, rounded up, chosen by a hash: order does not matter."""

    def rank(pair: Pair) -> str:
        return hashlib.sha256(json.dumps([seed, owner, *pair]).encode()).hexdigest()

    chosen: set[Pair] = set()
    for label in VALUES:
        own = sorted(
            (pair for pair, cell in cells.items() if cell and cell.label == label), key=rank
        )
        chosen.update(own[: -(-len(own) * share.numerator // share.denominator)])
    return chosen


def spot_check(
    judged: Mapping[str, Cells], desk: Desk, model: str, share: Fraction = SHARE, seed: int = 0
) -> dict[str, SpotCheck]:
    """The sample of every conversation, judged by another model."""
    wanted = {owner: sample(cells, share, seed, owner) for owner, cells in judged.items()}
    again = judge_pairs(wanted, desk, model, STAGE)
    found = {}
    for owner, cells in again.items():
        pairs = {
            pair: (first, other)
            for pair, other in cells.items()
            if other is not None and (first := judged[owner][pair]) is not None
        }
        found[owner] = SpotCheck(pairs, len(cells) - len(pairs))
    return found
