"""A group of options as one parameter of a command."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from memaudit.cli.options import spread


@dataclass(frozen=True)
class Fruit:
    kind: Annotated[str, typer.Option("--kind", help="Which.")] = "plum"
    count: Annotated[int, typer.Option("--count", "-n")] = 2


PLUMS = Fruit()


@spread
def buy(shop: str, fruit: Fruit = PLUMS, loud: bool = False) -> None:
    """Buy fruit."""
    typer.echo(f"{shop} {fruit!r} {loud}")


def ran(*words: str) -> str:
    app = typer.Typer(add_completion=False)
    app.command()(buy)
    return CliRunner().invoke(app, list(words)).output.strip()


def test_fields_are_options() -> None:
    assert ran("Ann") == "Ann Fruit(kind='plum', count=2) False"
    assert ran("Ann", "--loud", "--kind", "fig", "-n", "3") == "Ann Fruit(kind='fig', count=3) True"


def test_help_keeps_the_order() -> None:
    shown = ran("--help")
    assert "Buy fruit." in shown
    assert shown.index("--kind") < shown.index("--count") < shown.index("--loud")
    assert "Which." in shown
