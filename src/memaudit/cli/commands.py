"""The commands, each under its heading with its line in --help; none is imported to list it.

An outside package names a list of its own by the entry point group `memaudit.commands`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command and where it is: `target` is MODULE:NAME of a function or a Typer app."""

    name: str
    heading: str
    target: str
    line: str


COMMANDS = (
    Command(
        "demo",
        "Start here",
        "memaudit.lab.commands.demo:demo",
        "Run a short benchmark, verify a certificate, write a report.",
    ),
    Command(
        "quick",
        "Start here",
        "memaudit.cli.quick:quick",
        "Take a first look at a transcript, a store, or both.",
    ),
    Command(
        "doctor",
        "Start here",
        "memaudit.cli.doctor:doctor",
        "Check what is installed and that the solvers work.",
    ),
    Command(
        "import",
        "Score a store",
        "memaudit.cli.import_store:import_store",
        "Read the export of a memory system.",
    ),
    Command(
        "capture",
        "Score a store",
        "memaudit.lab.commands.capture:capture",
        "Run a memory system and save what it wrote.",
    ),
    Command(
        "lint",
        "Score a store",
        "memaudit.cli.lint:lint",
        "Find duplicates, contradictions, junk and secrets in a store.",
    ),
    Command(
        "diff",
        "Score a store",
        "memaudit.cli.diff:diff",
        "Compare two stores, or one at two dates.",
    ),
    Command(
        "score",
        "Score a store",
        "memaudit.cli.score:score",
        "Score exported stores against certified optima.",
    ),
    Command(
        "gate",
        "Score a store",
        "memaudit.cli.gate:gate",
        "Fail if a store scores below a minimum, for CI.",
    ),
    Command(
        "board",
        "Score a store",
        "memaudit.cli.board:board",
        "Compare systems, or scored stores of many packages.",
    ),
    Command(
        "diagnose",
        "Score a store",
        "memaudit.lab.commands.diagnose:diagnose",
        "Find what lost an answer: writing, retrieval or reading.",
    ),
    Command(
        "build", "Build packages", "memaudit.cli.build:build", "Build packages from conversations."
    ),
    Command(
        "package",
        "Build packages",
        "memaudit.cli.package:package",
        "Check, show, convert and describe packages.",
    ),
    Command(
        "label",
        "Audit labels",
        "memaudit.lab.commands.label:label",
        "Label what memories cover, blind.",
    ),
    Command(
        "audit",
        "Audit labels",
        "memaudit.lab.commands.audit:audit",
        "Audit packages, labels, judges and solvers.",
    ),
    Command(
        "run",
        "Benchmark and reproduce",
        "memaudit.lab.commands.run:run",
        "Score writers against certified optima on many packages.",
    ),
    Command(
        "report",
        "Benchmark and reproduce",
        "memaudit.lab.commands.report:report",
        "Write the HTML report of a run or a diagnosis.",
    ),
    Command(
        "study",
        "Benchmark and reproduce",
        "memaudit.lab.commands.study:study",
        "Study writers, readers and judges.",
    ),
    Command(
        "reproduce",
        "Benchmark and reproduce",
        "memaudit.lab.commands.reproduce:reproduce",
        "Recompute the paper's numbers and compare.",
    ),
    Command(
        "serve",
        "Explore",
        "memaudit.lab.commands.explorer:serve",
        "Browse runs, packages, stores and certificates.",
    ),
    Command(
        "solve",
        "Tools",
        "memaudit.cli.solve:solve",
        "Find the best store for a budget, with a certificate.",
    ),
    Command(
        "verify", "Tools", "memaudit.cli.verify:verify", "Check a certificate against its package."
    ),
    Command(
        "frontier",
        "Tools",
        "memaudit.cli.frontier:frontier",
        "Compute the optimum for every budget.",
    ),
    Command(
        "model",
        "Tools",
        "memaudit.cli.model:model",
        "Test a model; export, import and show its replies; compare captures.",
    ),
)
