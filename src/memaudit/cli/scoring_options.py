"""Arguments and options that scoring commands share, spelled once."""

from pathlib import Path
from typing import Annotated

import typer

PackagePath = Annotated[Path, typer.Argument(metavar="PACKAGE", help="A package.")]
StorePath = Annotated[Path, typer.Argument(metavar="STORE", help="A store memaudit import wrote.")]
StorePaths = Annotated[
    list[Path], typer.Argument(metavar="STORE...", help="Stores memaudit import wrote.")
]
LabelMemories = Annotated[
    Path | None, typer.Option(metavar="FILE", help="labels: what their ids stand for.")
]
CostRule = Annotated[
    str | None, typer.Option(metavar="RULE", help="Measure everything by another rule.")
]
Seconds = Annotated[
    float | None, typer.Option(metavar="S", help="Stop each solve after S seconds.")
]
OfflineJudge = Annotated[
    str, typer.Option(metavar="NAME", help="lexical, pointer, labels:FILE or calls:FILE.")
]
