"""`memaudit subset`: a small, balanced, reproducible part of a dataset."""

from pathlib import Path
from typing import Annotated

import typer

from memaudit.cli.outputs import may_write
from memaudit.cli.text import safe
from memaudit.core.text import counted


def subset(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A dataset file.")],
    size: Annotated[int, typer.Option(help="Questions to take.")],
    out: Annotated[Path, typer.Option(help="The manifest to write.")],
    seed: Annotated[int, typer.Option(help="Another seed, another choice.")] = 0,
    by: Annotated[str, typer.Option(help="Balance by kind or conversation.")] = "kind",
    format: Annotated[
        str | None, typer.Option(help="longmemeval, locomo, memdaily or chat; else guessed.")
    ] = None,
) -> None:
    """Choose questions of a dataset in proportion to their kinds, and write down which."""
    from memaudit.datasets.json_source import dataset_hash
    from memaudit.datasets.registry import guess_format, iter_conversations
    from memaudit.datasets.subset import choose, subset_text
    from memaudit.io.atomic import write_file

    may_write(out, "subset")
    name = format or guess_format(path)
    conversations = iter_conversations(path, name)
    chosen = choose(conversations, size, seed, by, dataset_hash(path), name)
    write_file(out, subset_text(chosen))
    questions = counted(len(chosen.questions), "question")
    typer.echo(safe(f"wrote {questions} to {out}  subset {chosen.sha256[:16]}"))
    for stratum, (of, taken) in sorted(chosen.strata.items()):
        typer.echo(safe(f"{taken:>9,} of {of:,}  {stratum}"))
