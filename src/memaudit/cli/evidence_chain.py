"""Single questions of a diagnosis: what failed, and the chain of evidence behind it."""

from collections.abc import Sequence
from typing import Any

import typer

from memaudit.cli.text import safe
from memaudit.core.errors import MemAuditError
from memaudit.downstream.examine import WHY
from memaudit.downstream.outcomes import LOST_BY, Layer, Outcome

LONGEST = 160
"""Letters of a text that are printed."""

Row = dict[str, Any]


def list_failures(rows: Sequence[Row]) -> None:
    """One line for every question that was not answered right."""
    failed = [row for row in rows if row["outcome"] != Outcome.RIGHT]
    for row in failed:
        why = f" ({', '.join(row['why'])})" if row["why"] else ""
        said = f"{_short(row['answer'])!r}" if row["answer"] else row["reply"]
        typer.echo(
            safe(
                f"{row['package']}/{row['query']}  {row['store']}: {row['outcome']}{why}: "
                f"{_short(row['question'])} said {said}, right is {_gold(row)}"
            )
        )
    typer.echo(f"{len(failed)} of {len(rows)} were not answered right")


def show_chain(rows: Sequence[Row], query: str) -> None:
    """Everything about one question at every store; PACKAGE/QUERY where an id is not enough."""
    chosen = [row for row in rows if query in (row["query"], f"{row['package']}/{row['query']}")]
    packages = sorted({row["package"] for row in chosen})
    if not chosen:
        raise MemAuditError(f"there is no question {query!r}; --failures lists those that failed")
    if len(packages) > 1:
        raise MemAuditError(
            f"{len(packages)} packages have a question {query!r}; write {packages[0]}/{query}"
        )
    for row in chosen:
        _show(row)


def _show(row: Row) -> None:
    def text(id: str) -> str:
        return _short(row["texts"][id])

    lost = f", {LOST_BY[Layer(row['layer'])]}" if row["outcome"] != Outcome.RIGHT else ""
    lines = [
        f"{row['package']}/{row['query']} at {row['store']}: {row['outcome']}{lost}",
        f"  question  {_short(row['question'])}",
        f"  right     {_gold(row)}",
        f"  said      {_short(row['answer']) or row['reply']}",
        *(f"  remark    {WHY[why]}" for why in row["why"]),
    ]  # fmt: skip
    for unit in row["evidence"]:
        lines.append(
            f"  unit {unit['unit']}: {unit['stage']}; of {unit['needs']} written "
            f"{unit['written']}, kept {unit['kept']}, retrieved {unit['retrieved']}"
            f"{'' if unit['supports'] else '; not needed: the current value is asked for'}"
        )
        if unit["says"]:
            lines.append(f"    says: {_short(unit['says'])}")
        for link in unit["memories"]:
            fate = "pruned" if not link["kept"] else "not retrieved"
            fate = f"rank {link['rank']}" if link["rank"] else fate
            lines.append(f"    {link['covers']} by {link['id']}, {fate}: {text(link['id'])}")
    for rank, id in enumerate(row["retrieved"], start=1):
        used = ", used" if id in row["used"] else ""
        lines.append(f"  rank {rank}{used}: {id}: {text(id)}")
    for line in lines:
        typer.echo(safe(line))


def _gold(row: Row) -> str:
    if row["abstention"]:
        return "to abstain"
    return repr(_short(row["gold"])) if row["gold"] else "not given"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
