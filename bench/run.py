"""Run the benchmark: families and sections in, one report out."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bench import sections
from bench.explorer import ExplorerLine, explorer_lines
from bench.families import family
from bench.frontiers import FrontierLine, frontier_lines
from bench.instance import Instance
from bench.launch import run_solver
from bench.peers import PEERS, THREADS
from bench.real_unions import absent, real_instances
from bench.scale import ScaleLine, exponents, scale_lines
from bench.sections import CertificateLine, MemoryLine, SweepLine, sweep_lines
from bench.table import TARGETS, FamilyRun, against_best, failures, lines
from bench.worker import OURS
from memaudit.kernel.errors import MemAuditError

SECTIONS = ("peers", "frontier", "certificates", "scale", "memory", "sweep", "explorer")
BATCHED = frozenset({"A", "B"})
"""Families we solve as one batch."""
REPEATED = BATCHED | {"R"}
"""Families with problems so small that every solver runs three times."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run. `seeds` None means each family's own fixed seeds."""

    families: tuple[str, ...]
    sections: tuple[str, ...] = SECTIONS
    peers: tuple[str, ...] = tuple(PEERS)
    seeds: tuple[int, ...] | None = None
    seconds: float = 60.0
    threads: int = THREADS
    """Of every solver that can use several."""

    def among(self, families: Sequence[str]) -> tuple[str, ...]:
        """Those of the families that were asked for; all if none of them was."""
        return tuple(name for name in families if name in self.families) or tuple(families)

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
        if self.threads < 1:
            raise MemAuditError(f"{self.threads} threads; give at least 1")


@dataclass(slots=True)
class Report:
    """Everything measured."""

    seconds: float
    threads: int = THREADS
    notes: list[str] = field(default_factory=list)
    """What was left out, and why."""
    families: list[FamilyRun] = field(default_factory=list)
    frontier: list[FrontierLine] = field(default_factory=list)
    certificates: list[CertificateLine] = field(default_factory=list)
    scale: list[ScaleLine] = field(default_factory=list)
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
            f"FAIL scale, {line.candidates} candidates: certificate refused: {line.note}"
            for line in self.scale
            if line.json_bytes and not line.certified
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
            "version": 2,
            "seconds": self.seconds,
            "threads": self.threads,
            "notes": self.notes,
            "failures": self.failures,
            "families": [_family_json(run) for run in self.families],
            "frontier": [asdict(line) for line in self.frontier],
            "certificates": [asdict(line) for line in self.certificates],
            "scale": [asdict(line) for line in self.scale],
            "scale_exponents": asdict(exponents(self.scale)),
            "memory": asdict(self.memory) if self.memory else None,
            "sweep": [asdict(line) for line in self.sweep],
            "explorer": [asdict(line) for line in self.explorer],
        }


def _family_json(run: FamilyRun) -> dict[str, Any]:
    return {
        "family": run.family,
        "part": run.part,
        "target": TARGETS[run.family],
        "against_best": asdict(against_best(run)),
        "solvers": [asdict(line) for line in lines(run)],
        "problems": run.names,
        "outcomes": {solver: asdict(outcome) for solver, outcome in run.outcomes.items()},
    }


def run_family(
    name: str, instances: Sequence[Instance], plan: Plan, say: Say, part: str = ""
) -> FamilyRun:
    """Solve the problems of one family with our solver, then with every peer."""
    problems = [instance.packed for instance in instances]
    repeats = 3 if name in REPEATED else 1
    family_run = FamilyRun(name, tuple(instance.name for instance in instances), {}, part)
    for solver in (OURS, *plan.peers):
        say(f"family {family_run.title}: {solver} on {len(problems)} problems")
        family_run.outcomes[solver] = run_solver(
            solver,
            problems,
            plan.seconds,
            repeats=repeats,
            batch=name in BATCHED,
            threads=plan.threads,
        )
    return family_run


def run(plan: Plan, say: Say) -> Report:
    """Run every family and section of the plan."""
    report = Report(plan.seconds, plan.threads)
    if "R" in plan.families and plan.seeds is None and (missing := absent()):
        report.notes.append(f"family R is {missing}")
    if "peers" in plan.sections:
        for name in plan.families:
            instances = family(name, plan.seeds)
            report.families.append(run_family(name, instances, plan, say))
            if name == "R" and plan.seeds is None and (real := real_instances()):
                report.families.append(run_family(name, real, plan, say, "real"))
    both = plan.among(("C", "R"))
    if "frontier" in plan.sections:
        say(f"frontiers of {' and '.join(both)}")
        report.frontier = frontier_lines(both, plan.seeds, plan.seconds, plan.threads)
    if "certificates" in plan.sections:
        say(f"certificates of {' and '.join(both)}")
        report.certificates = sections.certificate_lines(
            both, plan.seeds, plan.seconds, plan.threads
        )
    if "scale" in plan.sections:
        say("unions of growing size")
        report.scale = scale_lines(plan.seconds, plan.threads)
    if "memory" in plan.sections:
        say("memory on family D")
        report.memory = sections.memory_line(plan.seeds, plan.seconds, plan.threads)
    if "sweep" in plan.sections:
        say("sweeps over the published distributions")
        report.sweep = sweep_lines()
    if "explorer" in plan.sections:
        say("opening a large library and a large package in the explorer")
        report.explorer = explorer_lines()
    return report
