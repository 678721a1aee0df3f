"""Run the benchmark: families and sections in, one report out."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bench import sections
from bench.explorer import ExplorerLine, explorer_lines
from bench.families import family
from bench.launch import run_solver
from bench.peers import PEERS
from bench.sections import CertificateLine, FrontierLine, MemoryLine, SweepLine, sweep_lines
from bench.table import TARGETS, FamilyRun, against_best, failures, lines
from bench.worker import OURS
from memaudit.core.errors import MemAuditError

SECTIONS = ("peers", "frontier", "certificates", "memory", "sweep", "explorer")
BATCHED = frozenset({"A", "B"})
"""Families we solve as one batch. They are so small that every solver runs three times."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `seeds` None means each family's own fixed seeds."""

    families: tuple[str, ...]
    sections: tuple[str, ...] = SECTIONS
    peers: tuple[str, ...] = tuple(PEERS)
    seeds: tuple[int, ...] | None = None
    seconds: float = 60.0

    def __post_init__(self) -> None:
        for kind, given, known in (
            ("family", self.families, tuple(TARGETS)),
            ("section", self.sections, SECTIONS),
            ("peer", self.peers, tuple(PEERS)),
        ):
            if unknown := [name for name in given if name not in known]:
                raise MemAuditError(
                    f"unknown {kind} {unknown[0]!r}; choose from {', '.join(known)}"
                )
        if self.seconds <= 0:
            raise MemAuditError(f"a time limit of {self.seconds} seconds; give one above 0")


@dataclass(slots=True)
class Report:
    """Everything measured."""

    seconds: float
    families: list[FamilyRun] = field(default_factory=list)
    frontier: list[FrontierLine] = field(default_factory=list)
    certificates: list[CertificateLine] = field(default_factory=list)
    memory: MemoryLine | None = None
    sweep: list[SweepLine] = field(default_factory=list)
    explorer: list[ExplorerLine] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """What makes the run fail: lost or differing optima, never a missed speed target."""
        messages = [failure for run in self.families for failure in failures(run)]
        messages += [
            f"FAIL {line.name}: the frontier differs from the optimum at budget {line.differing[0]}"
            for line in self.frontier
            if line.differing
        ]
        messages += [
            f"FAIL {line.name}: no valid certificate: {line.note}"
            for line in self.certificates
            if not line.certified
        ]
        messages += [
            f"FAIL sweep of {line.seeds} seeds: {line.uncertified} rows without certified optimum"
            for line in self.sweep
            if line.uncertified
        ]
        return messages

    def to_json(self) -> dict[str, Any]:
        """The form `--json` writes."""
        return {
            "format": "memaudit-bench",
            "version": 1,
            "seconds": self.seconds,
            "failures": self.failures,
            "families": [_family_json(run) for run in self.families],
            "frontier": [asdict(line) for line in self.frontier],
            "certificates": [asdict(line) for line in self.certificates],
            "memory": asdict(self.memory) if self.memory else None,
            "sweep": [asdict(line) for line in self.sweep],
            "explorer": [asdict(line) for line in self.explorer],
        }


def _family_json(run: FamilyRun) -> dict[str, Any]:
    return {
        "family": run.family,
        "target": TARGETS[run.family],
        "against_best": asdict(against_best(run)),
        "solvers": [asdict(line) for line in lines(run)],
        "problems": run.names,
        "outcomes": {solver: asdict(outcome) for solver, outcome in run.outcomes.items()},
    }


def run_family(
    name: str, peers: Sequence[str], seeds: Sequence[int] | None, seconds: float, say: Say
) -> FamilyRun:
    """Solve one family with our solver, then with every peer."""
    instances = family(name, seeds)
    problems = [instance.packed for instance in instances]
    repeats = 3 if name in BATCHED else 1
    outcomes = {}
    for solver in (OURS, *peers):
        say(f"family {name}: {solver} on {len(problems)} problems")
        outcomes[solver] = run_solver(
            solver, problems, seconds, repeats=repeats, batch=name in BATCHED
        )
    return FamilyRun(name, tuple(instance.name for instance in instances), outcomes)


def run(plan: Plan, say: Say) -> Report:
    """Run every family and section of the plan."""
    report = Report(plan.seconds)
    if "peers" in plan.sections:
        report.families = [
            run_family(name, plan.peers, plan.seeds, plan.seconds, say) for name in plan.families
        ]
    if "frontier" in plan.sections:
        say("frontier of family C")
        report.frontier = sections.frontier_lines(plan.seeds, plan.seconds)
    if "certificates" in plan.sections:
        say("certificates of family C")
        report.certificates = sections.certificate_lines(plan.seeds, plan.seconds)
    if "memory" in plan.sections:
        say("memory on family D")
        report.memory = sections.memory_line(plan.seeds, plan.seconds)
    if "sweep" in plan.sections:
        say("sweeps over the published distributions")
        report.sweep = sweep_lines()
    if "explorer" in plan.sections:
        say("opening a large library and a large package in the explorer")
        report.explorer = explorer_lines()
    return report
