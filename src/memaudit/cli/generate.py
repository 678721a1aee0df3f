"""`memaudit generate`: a package from a distribution and a seed."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.options import may_write
from memaudit.cli.terminal import safe


def generate(
    distribution: Annotated[
        str,
        typer.Argument(metavar="DISTRIBUTION", help="A published one, or event_graph; see --list."),
    ] = "",
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Which package.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Where to write: .json or a folder. Default: NAME.json."),
    ] = None,
    experiences: Annotated[
        int | None, typer.Option(metavar="N", help="event_graph: messages, 7 to 10000.")
    ] = None,
    update_rate: Annotated[
        str | None, typer.Option(metavar="R", help="event_graph: share of things later replaced.")
    ] = None,
    chain_length: Annotated[
        int | None, typer.Option(metavar="N", help="event_graph: values one thing goes through.")
    ] = None,
    interval_rate: Annotated[
        str | None, typer.Option(metavar="R", help="event_graph: share of events with an interval.")
    ] = None,
    redundancy: Annotated[
        str | None, typer.Option(metavar="R", help="event_graph: how often things are told again.")
    ] = None,
    scope_shifts: Annotated[
        str | None,
        typer.Option(metavar="R", help="event_graph: how often preferences shift."),
    ] = None,
    distractors: Annotated[
        str | None, typer.Option(metavar="R", help="event_graph: share of small talk.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List the distributions.")] = False,
) -> None:
    """Make the package of a seed; the same seed gives the same digest on every machine."""
    from memaudit.core.digest import digest
    from memaudit.core.errors import MemAuditError
    from memaudit.generators.registry import DISTRIBUTIONS, named_distribution
    from memaudit.io.packages import write_package

    if list_all:
        for name, listed in DISTRIBUTIONS.items():
            typer.echo(f"{name:18} {listed.about}")
        return
    if not distribution:
        raise MemAuditError("name a distribution, for example base; --list shows them all")
    parameters = {
        "experiences": experiences,
        "update_rate": update_rate,
        "chain_length": chain_length,
        "interval_rate": interval_rate,
        "redundancy": redundancy,
        "scope_shifts": scope_shifts,
        "distractors": distractors,
    }
    settings = [f"{name}={value}" for name, value in parameters.items() if value is not None]
    package = named_distribution(":".join([distribution, *settings])).package(seed)
    path = out or Path(f"{package.name}.json")
    may_write(path, "package")
    write_package(package, path)
    typer.echo(
        f"{safe(package.name)}: {len(package.experiences)} experiences, "
        f"{len(package.candidates)} candidates, {len(package.units)} units, "
        f"digest {digest(package)[:16]}, written to {safe(path)}"
    )
