"""Arguments and options that scoring commands share, spelled and checked once."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from memaudit.core.errors import MemAuditError
from memaudit.scoring.gate import checked_seconds


def _group_cap(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise MemAuditError(f"--group-cap {value} is below 1; one candidate at least may be kept")
    return value


PackagePath = Annotated[Path, typer.Argument(metavar="PACKAGE", help="A package.")]
PackagesPath = Annotated[
    Path, typer.Argument(metavar="PACKAGE", help="A package, or a folder of many.")
]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="A store memaudit import wrote.")]
StorePaths = Annotated[
    list[Path], typer.Argument(metavar="STORE...", help="Stores memaudit import wrote.")
]
Budgets = Annotated[str, typer.Option("--budget", metavar="B[,B...]", help="Budgets.")]
LabelMemories = Annotated[
    Path | None, typer.Option(metavar="FILE", help="labels: what their ids stand for.")
]
SalienceFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Published salience calls made at write time."),
]
QuerySalienceFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="... made with the question in sight; kept apart."),
]
CostRule = Annotated[
    str | None, typer.Option(metavar="RULE", help="Measure everything by another rule.")
]
GroupCap = Annotated[
    int | None,
    typer.Option(metavar="K", callback=_group_cap, help="Candidates one experience may keep."),
]
Seconds = Annotated[
    float | None,
    typer.Option(metavar="S", callback=checked_seconds, help="Stop each solve after S seconds."),
]
JudgeName = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="lexical (an estimate), pointer, labels:FILE, calls:FILE, model:NAME."
    ),
]


def distinct_budgets(text: str) -> tuple[Fraction, ...]:
    """The budgets of "10,20,40", each once."""
    from memaudit.cli.solve import parse_budgets
    from memaudit.core.exact import plain

    budgets = parse_budgets(text)
    for place, budget in enumerate(budgets):
        if budget in budgets[:place]:
            raise MemAuditError(f"budget {plain(budget)} is given twice; give each once")
    return tuple(budgets)


def one_budget(text: str) -> Fraction:
    """The budget of a command that takes one."""
    (at, *more) = distinct_budgets(text)
    if more:
        raise MemAuditError("a gate has one budget; run it once for each")
    return at
