"""`memaudit generate`: a package from a distribution and a seed."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.terminal import safe
from memaudit.io.overwrite import may_write


def generate(
    distribution: Annotated[
        str,
        typer.Argument(metavar="DISTRIBUTION", help="Name of a distribution; --list shows them."),
    ] = "",
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the package.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A .json file or a folder to write. Default: NAME.json."),
    ] = None,
    experiences: Annotated[
        int | None,
        typer.Option(metavar="N", help="event_graph: number of messages, 7 to 10000. Default: 40."),
    ] = None,
    update_rate: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="event_graph: share of values that are later replaced. Default: 1/5."
        ),
    ] = None,
    chain_length: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="event_graph: most values of one attribute, 2 to 8. Default: 3."
        ),
    ] = None,
    interval_rate: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="event_graph: share of events with a start and an end. Default: 3/20."
        ),
    ] = None,
    redundancy: Annotated[
        str | None,
        typer.Option(
            metavar="R",
            help="event_graph: how often facts are repeated in other words. Default: 1/5.",
        ),
    ] = None,
    scope_shifts: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="event_graph: how often a preference differs by place. Default: 1/2."
        ),
    ] = None,
    distractors: Annotated[
        str | None,
        typer.Option(metavar="R", help="event_graph: share of small-talk messages. Default: 3/20."),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List the distributions and exit.")
    ] = False,
) -> None:
    """Generate a package. The same seed gives the same digest on every machine."""
    from memaudit.core.digest import digest
    from memaudit.core.errors import MemAuditError
    from memaudit.generators.registry import DISTRIBUTIONS, named_distribution
    from memaudit.io.packages import write_package

    if list_all:
        for name, listed in DISTRIBUTIONS.items():
            typer.echo(f"{name:18} {listed.about}")
        return
    if not distribution:
        raise MemAuditError("no distribution given; --list shows them")
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
