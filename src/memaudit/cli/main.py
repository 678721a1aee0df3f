"""The `memaudit` command: every subcommand, imported only when it runs."""

import importlib
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from memaudit.cli.errors import explained, reported

COMMANDS = {
    "demo": ("memaudit.cli.demo:demo", "A short benchmark, a verified certificate, a report."),
    "run": ("memaudit.cli.run:run", "Score writers against certified optima, many packages."),
    "report": ("memaudit.cli.report:report", "Write the HTML report of a run."),
    "writers": ("memaudit.cli.writers:writers", "List the writers and how they decide."),
    "train": ("memaudit.cli.writers:train", "Train the ridge estimator of a writer."),
    "generate": ("memaudit.cli.generate:generate", "Make a package from a seed."),
    "reproduce": ("memaudit.cli.reproduce:reproduce", "The paper's numbers beside ours."),
    "audit": ("memaudit.cli.audit:audit", "Audit labels, and the solvers."),
    "annotate": ("memaudit.cli.annotate:annotate", "Label the cells of a frame in a browser."),
    "serve": ("memaudit.cli.explorer:serve", "Explore runs and packages in a browser."),
    "bundle": ("memaudit.cli.explorer:bundle", "Write the explorer's pages as a static site."),
    "solve": ("memaudit.cli.solve:solve", "Find the best store for a budget, with a certificate."),
    "verify": ("memaudit.cli.verify:verify", "Check a certificate against its package."),
    "frontier": ("memaudit.cli.frontier:frontier", "The optimum for every budget."),
    "validate": ("memaudit.cli.package:validate", "Check packages and list every problem."),
    "show": ("memaudit.cli.package:show", "Summarise a package."),
    "convert": ("memaudit.cli.package:convert", "Rewrite packages in another form."),
    "recost": ("memaudit.cli.package:recost", "Measure every cost by another rule."),
    "schema": ("memaudit.cli.package:schema", "Print the JSON Schema of a package."),
    "import": ("memaudit.cli.import_store:import_store", "Read the export of a memory system."),
    "capture": ("memaudit.cli.capture:capture", "Run a memory system, keep what it wrote."),
    "score": ("memaudit.cli.score:score", "Score exported stores against certified optima."),
    "diagnose": ("memaudit.cli.diagnose:diagnose", "Who lost the answer: write, retrieve, read?"),
    "transfer": ("memaudit.cli.transfer:transfer", "Package-style stores against raw ones."),
    "leaderboard": ("memaudit.cli.leaderboard:leaderboard", "All scored stores in one table."),
    "sensitivity": ("memaudit.cli.sensitivity:sensitivity", "Do scores survive other choices?"),
    "judge": ("memaudit.cli.judge:judge", "Compare two judges of a store."),
    "gate": ("memaudit.cli.gate:gate", "Fail if a store is below a bar, for CI."),
    "build": ("memaudit.cli.build:build", "Make packages from conversations."),
    "reliability": ("memaudit.cli.reliability:reliability", "How packages were constructed."),
    "dataset": ("memaudit.cli.dataset:dataset", "Look into a dataset of conversations."),
    "subset": ("memaudit.cli.dataset:subset", "Choose a balanced subset of a dataset."),
    "cache": ("memaudit.cli.cache:cache", "Export, import or show the cache of model replies."),
    "batch": ("memaudit.cli.cache:batch", "Take answers to a batch of model requests."),
    "doctor": ("memaudit.cli.doctor:doctor", "What is installed, and do the solvers work?"),
}
"""Every command: where its function lives, and its line in --help."""


def load(name: str) -> Any:
    """The real command, from a function or a Typer app of its own."""
    module, _, function = COMMANDS[name][0].partition(":")
    target = getattr(importlib.import_module(module), function)
    if isinstance(target, typer.Typer):
        return typer.main.get_command(target)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, help=None)(target)
    return typer.main.get_command(app)


class LazyGroup(TyperGroup):
    """Lists commands from COMMANDS; loads one when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """All command names, in the order above."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """A stand-in that knows its help line only."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name][1], rich_markup_mode=None)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command for the name on the command line."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name and command else command, rest

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Read the words before the command."""
        with explained():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; failures become short lines."""
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
        from importlib.metadata import version

        typer.echo(f"memaudit {version('memaudit')}")
        raise typer.Exit


@app.callback()
def memaudit(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Exact, certified evaluation of what a long-term memory system wrote."""


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()
