"""The ranking of a run as a table for the terminal."""

from typing import Any

from rich import box
from rich.table import Table

from memaudit.cli.results import console
from memaudit.cli.text import safe_markup
from memaudit.writers.registry import named_writer


def show_ranking(summary: dict[str, Any]) -> None:
    """Writers by mean ratio, with intervals; what was left out is counted below."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("writer")
    table.add_column("sees")
    for name in ("packages", "mean ratio", "95% interval"):
        table.add_column(name, justify="right")
    fewest = min(row["left_out"] for row in summary["ranking"])
    for row in summary["ranking"]:
        writer = named_writer(row["writer"])
        fewer = " *" if row["left_out"] > fewest else ""
        sees = "the package" if writer.peeks else "texts, costs"
        table.add_row(safe_markup(writer.label), sees, f"{row['n']}{fewer}", *_numbers(row))
    screen = console()
    screen.print(table)
    if any(row["left_out"] > fewest for row in summary["ranking"]):
        screen.print("* fewer packages than the others: its place is not like for like")
    for name, words in LEFT_OUT.items():
        count = sum(row[name] for row in summary["rows"])
        if count:
            screen.print(f"{count} rows {words}")


LEFT_OUT = {
    "zero_optimum": "have no ratio: the optimum is 0",
    "uncertified": "have no ratio: the optimum is not certified",
    "failed": "have no store: the writer failed (see rows.jsonl)",
}


def _numbers(row: dict[str, Any]) -> tuple[str, str]:
    if row["mean_ratio"] is None:
        return "undefined", ""
    return f"{row['mean_ratio']:.3f}", f"{row['ci_low']:.3f} to {row['ci_high']:.3f}"
