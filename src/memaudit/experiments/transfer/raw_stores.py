"""Three stores of raw turns: all of them, a random sample, and the newest.

All three write every turn, word for word; they differ in what they keep.
"""

from collections import deque
from collections.abc import Callable
from fractions import Fraction

from memaudit.audits.downstream.holdings import candidate_holding
from memaudit.core.digest import digest
from memaudit.core.package import Package
from memaudit.downstream.memory import Holding
from memaudit.writers.protocol import VisibleCandidate, own_seed, visible
from memaudit.writers.raw_turns import ReservoirRaw

RAW = "raw"

Keep = Callable[[Package, Fraction, int], list[str]]


def raw_holding(name: str, package: Package, budget: Fraction, seed: int) -> Holding:
    """What a raw store of that name holds for a package."""
    about, keep = RAW_STORES[name]
    written = tuple(turn.id for turn in _turns(package))
    whole = candidate_holding(package, name, written, about)
    kept = frozenset(keep(package, budget, own_seed(seed, digest(package))))
    return Holding(name, whole.written, kept, about)


def raw_words(package: Package) -> Fraction:
    """What keeping every turn costs."""
    return sum((turn.cost for turn in _turns(package)), Fraction(0))


def _turns(package: Package) -> list[VisibleCandidate]:
    """The raw candidates in order of arrival."""
    return [one for one in visible(package).candidates if one.kind == RAW]


def _everything(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    return [turn.id for turn in _turns(package)]


def _replay(package: Package, budget: Fraction, seed: int) -> list[str]:
    """Turns in a random order, each kept if it still fits."""
    return list(ReservoirRaw().write(visible(package), budget, seed))


def _fifo(package: Package, budget: Fraction, seed: int) -> list[str]:  # noqa: ARG001
    """A queue: a new turn pushes the oldest out until it fits; one too long is not let in."""
    queue: deque[VisibleCandidate] = deque()
    left = budget
    for turn in _turns(package):
        if turn.cost > budget:
            continue
        while turn.cost > left:
            left += queue.popleft().cost
        queue.append(turn)
        left -= turn.cost
    return [turn.id for turn in queue]


RAW_STORES: dict[str, tuple[str, Keep]] = {
    "full_raw": ("every turn, whatever it costs", _everything),
    "raw_replay": ("turns in a seeded random order, what fits the budget", _replay),
    "fifo": ("first in, first out: the newest turns within the budget", _fifo),
}
"""Raw stores by name: how each is kept, and the rule."""
