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


LISTED = {
    START: {
        "quick": "Take a first look at a transcript, a store, or both.",
        "doctor": "Check what is installed and that the solvers work.",
    },
    STORE: {
        "import": "Read the export of a memory system.",
        "lint": "Find duplicates, contradictions, junk and secrets in a store.",
        "diff": "Compare two stores, or one at two dates.",
        "score": "Score exported stores against certified optima.",
        "gate": "Fail if a store scores below a minimum, for CI.",
        "board": "Compare systems, or scored stores of many packages.",
    },
    PACKAGES: {
        "build": "Build packages from conversations.",
        "package": "Check, show, convert and describe packages.",
    },
    OPTIMA: {
        "solve": "Find the best store for a budget, with a certificate.",
        "frontier": "Compute the optimum for every budget.",
        "verify": "Check a certificate against its package.",
    },
    MODELS: {"model": "Export, import and count the replies of models."},
}
MODULES = {"import": "import_store"}
"""Where a module and its function are not called as the command is."""

COMMANDS = tuple(
    Command(name, heading, f"memaudit.cli.{module}:{module}", line)
    for heading, commands in LISTED.items()
    for name, line in commands.items()
    for module in [MODULES.get(name, name)]
)
