"""`python -m bench`: our solver against its peers."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.peers import PEERS, THREADS
from bench.run import SECTIONS, Plan, run
from bench.show import show
from bench.table import TARGETS
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.workspace.overwrite import may_write


def bench(
    family: Annotated[
        list[str] | None, typer.Option(help="Family to run: A, B, C, D, E, H or R. Repeatable.")
    ] = None,
    all_families: Annotated[bool, typer.Option("--all", help="Run every family.")] = False,
    seeds: Annotated[
        str | None, typer.Option(help="Seeds, as 1,2,3 or 1-40. Default: each family's own.")
    ] = None,
    peers: Annotated[
        str | None, typer.Option(help="Peers: highs,scip,cpsat,gurobi; by default all of them.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="Time limit per solve, the same for all.")] = 60.0,
    threads: Annotated[
        int, typer.Option(help="Threads of every solver that can use several.")
    ] = THREADS,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the report to this file as JSON.")
    ] = None,
    sections: Annotated[
        str | None,
        typer.Option(
            help="Of peers,frontier,certificates,scale,memory,sweep,explorer. Default: peers; "
            "with --all, all."
        ),
    ] = None,
) -> None:
    """Compare our solver with its peers; exit code 1 if it proves less or anything disagrees."""
    if not family and not all_families and sections is None:
        raise MemAuditError("nothing to run; name a family (--family A), or use --all")
    plan = Plan(
        families=tuple(TARGETS) if all_families else tuple(family or ()),
        sections=_names(sections) or (SECTIONS if all_families else SECTIONS[:1]),
        peers=tuple(PEERS) if peers is None else _names(peers),
        seeds=None if seeds is None else _seeds(seeds),
        seconds=seconds,
        threads=threads,
    )
    if json_file is not None:
        may_write(json_file, "bench report")
    notes = Console(stderr=True)
    report = run(plan, lambda text: notes.print(text, style="dim"))
    show(report, Console())
    if json_file is not None:
        write_file(json_file, json.dumps(report.to_json(), indent=1) + "\n")
    if report.failures:
        raise typer.Exit(1)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name for part in (text or "").split(",") if (name := part.strip()))


def _seeds(text: str) -> tuple[int, ...]:
    """The seeds of "1,2,3" or "1-40"."""
    seeds: list[int] = []
    for part in _names(text):
        first, dash, last = part.partition("-")
        try:
            seeds += range(int(first), int(last if dash else first) + 1)
        except ValueError:
            raise MemAuditError(f"seeds {text!r}; write them as 1,2,3 or 1-40") from None
    if not seeds:
        raise MemAuditError(f"no seeds in {text!r}; write them as 1,2,3 or 1-40")
    return tuple(seeds)


if __name__ == "__main__":
    try:
        typer.run(bench)
    except MemAuditError as error:
        sys.exit(f"error: {error}")
