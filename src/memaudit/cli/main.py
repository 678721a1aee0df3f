"""The `memaudit` command: every subcommand, imported only when it runs."""

import gc
import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memaudit.cli import assignments
from memaudit.cli.errors import end_tidily, explained, reported
from memaudit.core.version import VERSION

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("demo:demo", "Run a short benchmark, verify a certificate, write a report."),
        "quick": ("quick:quick", "Take a first look at a transcript, a store, or both."),
        "doctor": ("doctor:doctor", "Check what is installed and that the solvers work."),
    },
    "Score a store": {
        "import": ("import_store:import_store", "Read the export of a memory system."),
        "capture": ("capture:capture", "Run a memory system and save what it wrote."),
        "lint": ("lint:lint", "Find duplicates, contradictions, junk and secrets in a store."),
        "diff": ("diff:diff", "Compare two stores, or one at two dates."),
        "score": ("score:score", "Score exported stores against certified optima."),
        "limits": ("limits:limits", "List the limits of systems that can be budgets."),
        "gate": ("gate:gate", "Fail if a store scores below a minimum, for CI."),
        "board": ("board:board", "Compare memory systems, with repeated runs and blind labels."),
        "leaderboard": ("leaderboard:leaderboard", "Compare all scored stores in one table."),
        "diagnose": (
            "diagnose:diagnose",
            "Find what lost an answer: writing, retrieval or reading.",
        ),
    },
    "Build packages": {
        "build": ("build:build", "Build packages from conversations."),
        "package": (
            "package:package",
            "Check, show, convert, describe and generate packages.",
        ),
    },
    "Audit labels": {
        "label": ("label:label", "Label what memories cover, blind."),
        "audit": ("audit:audit", "Audit packages, labels, judges and solvers."),
        "prompts": ("prompts:prompts", "Test how well a model follows the prompts."),
    },
    "Benchmark and reproduce": {
        "run": ("run:run", "Score writers against certified optima on many packages."),
        "report": ("report:report", "Write the HTML report of a run or a diagnosis."),
        "study": ("study:study", "Study writers, readers and judges."),
        "reproduce": ("reproduce:reproduce", "Recompute the paper's numbers and compare."),
    },
    "Explore": {
        "serve": ("explorer:serve", "Browse runs, packages, stores and certificates."),
    },
    "Tools": {
        "solve": ("solve:solve", "Find the best store for a budget, with a certificate."),
        "verify": ("verify:verify", "Check a certificate against its package."),
        "frontier": ("frontier:frontier", "Compute the optimum for every budget."),
        "cache": ("cache:cache", "Export, import or show the cache of model replies."),
        "batch": ("cache:batch", "Import replies to a batch of model requests."),
    },
}
"""Every command under its heading: module and function in memaudit.cli, and its line in --help."""

FIRST_STEPS = """\
memaudit demo                              a ranking, a certificate, a report
memaudit import EXPORT --out STORE         read what your system wrote
memaudit score PACKAGE STORE --budget 100  score it against the optimum
"""

COMMANDS = {name: entry for commands in GROUPS.values() for name, entry in commands.items()}


def load(name: str) -> Any:
    """Import a command: a function, or a Typer app of its own."""
    module, _, function = COMMANDS[name][0].partition(":")
    target = getattr(importlib.import_module(f"memaudit.cli.{module}"), function)
    if isinstance(target, typer.Typer):
        return typer.main.get_command(target)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=None)(target)
    return typer.main.get_command(app)


class LazyGroup(TyperGroup):
    """Lists commands under their headings; imports a command when it is called."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("First steps"):
            for line in FIRST_STEPS.splitlines():
                formatter.write(f"  {line}\n")
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [(name.ljust(width), line) for name, (_, line) in commands.items()]
                )

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A placeholder that has only the help line, so that nothing is imported."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1], rich_markup_mode=None)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name and command else command, rest

    def make_context(self, info_name: Any, args: list[str], *more: Any, **extra: Any) -> Any:
        with explained(), reported():
            args = assignments.take(args)
            if assignments.taken:
                from memaudit.cli.settings import check_assignments

                check_assignments()
            return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        with explained(), reported():
            return super().invoke(ctx)


app = typer.Typer(
    name="memaudit",
    cls=LazyGroup,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"memaudit {VERSION}")
        raise typer.Exit


@app.callback()
def memaudit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    assigned: Annotated[
        list[str] | None,
        typer.Option(
            assignments.SET,
            metavar="SECTION.KEY=VALUE",
            help="A setting for this run, also behind a command; may be repeated. Others are in "
            "memaudit.toml and the environment: see memaudit doctor.",
        ),
    ] = None,
) -> None:
    """Exact, certified evaluation of what a long-term memory system wrote."""


def main() -> None:
    # Commands build large tables of small objects, which the collector would walk through in vain.
    gc.set_threshold(100_000, 20, 100)
    end_tidily()
    app()


if __name__ == "__main__":
    main()
