"""What the timings say: solved counts first, then ratios of time, peer / ours."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.launch import Outcome
from bench.model import OVER_LIMIT, TIME_LIMIT, PeerResult
from bench.worker import OURS

TARGETS = {"A": 150.0, "B": 40.0, "C": 8.0, "D": 40.0, "E": 8.0, "H": 1.5, "R": 5.0}
"""How many times faster than the best peer we want to be, by the median problem."""


@dataclass(frozen=True, slots=True)
class FamilyRun:
    """One family, solved by everybody; `outcomes` has our solver and the peers by name.

    Real problems of a family are a run of their own, with `part` saying so.
    """

    family: str
    names: tuple[str, ...]
    outcomes: dict[str, Outcome]
    part: str = ""

    @property
    def title(self) -> str:
        return f"{self.family}, {self.part}" if self.part else self.family

    @property
    def ours(self) -> list[PeerResult]:
        return self.outcomes[OURS].results

    @property
    def peers(self) -> dict[str, list[PeerResult]]:
        """The results of the peers that are installed."""
        return {
            name: outcome.results
            for name, outcome in self.outcomes.items()
            if name != OURS and not outcome.missing
        }


@dataclass(frozen=True, slots=True)
class Spread:
    """A median with the tenths around it; nothing where nothing was measured."""

    p10: float | None
    median: float | None
    p90: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """One solver on one family. `ratio` is its time over ours."""

    solver: str
    solved: int
    over_limit: int
    median_ms: float | None
    ratio: Spread
    note: str


def quantile(numbers: Sequence[float], share: float) -> float:
    """The quantile by straight lines between the sorted numbers."""
    ordered = sorted(numbers)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def spread(numbers: Sequence[float]) -> Spread:
    """Median, p10 and p90."""
    if not numbers:
        return Spread(None, None, None)
    return Spread(quantile(numbers, 0.1), median(numbers), quantile(numbers, 0.9))


def ratio(ours: PeerResult, peer: PeerResult) -> float | None:
    """Peer time / our time on one problem.

    A peer at its time limit needed at least that long, so the ratio is then a lower bound. Where
    only the peer proved the optimum it is 0. None where the two cannot be compared: the
    problem is over the peer's licence, the peer crashed, or nobody proved anything.
    """
    if not ours.proven:
        return 0.0 if peer.proven else None
    if peer.proven or peer.note == TIME_LIMIT:
        return peer.seconds / ours.seconds
    return None


def best_ratio(ours: PeerResult, peers: Sequence[PeerResult]) -> float | None:
    """The smallest ratio: the best peer on this problem."""
    ratios = [number for peer in peers if (number := ratio(ours, peer)) is not None]
    return min(ratios, default=None)


def against_best(run: FamilyRun) -> Spread:
    """Our standing against whichever peer is the fastest on each problem."""
    rows = [list(row) for row in zip(*run.peers.values(), strict=True)]
    ratios = [best_ratio(ours, row) for ours, row in zip(run.ours, rows, strict=False)]
    return spread([number for number in ratios if number is not None])


def lines(run: FamilyRun) -> list[Line]:
    """One line per solver, ours first."""
    return [_line(run, name, outcome) for name, outcome in run.outcomes.items()]


def _line(run: FamilyRun, solver: str, outcome: Outcome) -> Line:
    timed = [
        result.seconds * 1000
        for result in outcome.results
        if result.proven or result.note == TIME_LIMIT
    ]
    ratios = [ratio(ours, peer) for ours, peer in zip(run.ours, outcome.results, strict=False)]
    notes = sorted({result.note for result in outcome.results} - {"", OVER_LIMIT})
    return Line(
        solver=solver,
        solved=sum(result.proven for result in outcome.results),
        over_limit=sum(result.note == OVER_LIMIT for result in outcome.results),
        median_ms=median(timed) if timed else None,
        ratio=spread([number for number in ratios if number is not None]),
        note=outcome.missing or "; ".join(notes),
    )


def failures(run: FamilyRun) -> list[str]:
    """The gate: what makes the ratios of a family worthless."""
    messages = []
    solved = {line.solver: line.solved for line in lines(run)}
    best = max(solved, key=lambda solver: solved[solver])
    if solved[best] > solved[OURS]:
        messages.append(
            f"FAIL {run.title}: {OURS} proves {solved[OURS]} of {len(run.names)}, "
            f"{best} proves {solved[best]}"
        )
    everybody = {OURS: run.ours, **run.peers}
    for index, name in enumerate(run.names):
        answers = {solver: results[index] for solver, results in everybody.items()}
        proven = {solver: answer.value for solver, answer in answers.items() if answer.proven}
        if len(set(proven.values())) > 1:
            messages.append(f"FAIL {name}: proven values differ: {_listed(proven)}")
        above = {
            solver: answer.value
            for solver, answer in answers.items()
            if proven and answer.value > max(proven.values())
        }
        if above:
            messages.append(f"FAIL {name}: a store beats the proven value: {_listed(above)}")
    return messages


def _listed(values: dict[str, int]) -> str:
    return ", ".join(f"{solver} {value}" for solver, value in sorted(values.items()))
