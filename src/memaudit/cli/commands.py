"""The commands, each under its heading with its line in --help; none is imported to list it.

An outside package names a list of its own by the entry point group `memaudit.commands`; so does the
laboratory.
"""

from dataclasses import dataclass

START, STORE, PACKAGES, LABELS = "Start here", "Your store", "Packages", "Labels"
OPTIMA, MODELS, STUDIES, EXPLORE = "Optima", "Models", "Studies", "Explore"
HEADINGS = (START, STORE, PACKAGES, LABELS, OPTIMA, MODELS, STUDIES, EXPLORE)
"""The headings of --help in their order; others follow."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command and where it is: `target` is MODULE:NAME of a function or a Typer app."""

    name: str
    heading: str
    target: str
    line: str


COMMANDS = (
    Command(
        "quick",
        START,
        "memaudit.cli.quick:quick",
        "Take a first look at a transcript, a store, or both.",
    ),
    Command(
        "doctor",
        START,
        "memaudit.cli.doctor:doctor",
        "Check what is installed and that the solvers work.",
    ),
    Command(
        "import",
        STORE,
        "memaudit.cli.import_store:import_store",
        "Read the export of a memory system.",
    ),
    Command(
        "lint",
        STORE,
        "memaudit.cli.lint:lint",
        "Find duplicates, contradictions, junk and secrets in a store.",
    ),
    Command("diff", STORE, "memaudit.cli.diff:diff", "Compare two stores, or one at two dates."),
    Command(
        "score",
        STORE,
        "memaudit.cli.score:score",
        "Score exported stores against certified optima.",
    ),
    Command(
        "gate", STORE, "memaudit.cli.gate:gate", "Fail if a store scores below a minimum, for CI."
    ),
    Command(
        "board",
        STORE,
        "memaudit.cli.board:board",
        "Compare systems, or scored stores of many packages.",
    ),
    Command("build", PACKAGES, "memaudit.cli.build:build", "Build packages from conversations."),
    Command(
        "package",
        PACKAGES,
        "memaudit.cli.package:package",
        "Check, show, convert and describe packages.",
    ),
    Command(
        "solve",
        OPTIMA,
        "memaudit.cli.solve:solve",
        "Find the best store for a budget, with a certificate.",
    ),
    Command(
        "frontier",
        OPTIMA,
        "memaudit.cli.frontier:frontier",
        "Compute the optimum for every budget.",
    ),
    Command(
        "verify", OPTIMA, "memaudit.cli.verify:verify", "Check a certificate against its package."
    ),
    Command(
        "model",
        MODELS,
        "memaudit.cli.model:model",
        "Export, import and count the replies of models.",
    ),
)
