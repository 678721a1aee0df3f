"""A diagnosis as tables for the terminal: outcomes, losses, measures, differences."""

from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Table

from memaudit.cli.results import console
from memaudit.cli.text import safe_markup
from memaudit.core.text import counted
from memaudit.downstream.outcomes import Layer, Outcome

COMPARED = ("answered", "evidence_recall", "token_f1", "words_retrieved")
MOST_PAIRS = 10


def show_summary(summary: dict[str, Any]) -> None:
    """Everything at a glance; the file holds more."""
    screen = console()
    spec, stores = summary["spec"], summary["summaries"]
    packages = counted(summary["packages"], "package")
    screen.print(
        safe_markup(
            f"{counted(summary['questions'], 'question')} of {packages}, budget "
            f"{spec['budget']}, {spec['retriever']} with k = {spec['k']}, reader {spec['reader']}"
        )
    )
    if spec["judge"]:
        mark = "an ESTIMATE by shared words" if spec["coverage_is_an_estimate"] else "as judged"
        screen.print(safe_markup(f"coverage of exported memories: judge {spec['judge']}, {mark}"))
    screen.print(outcomes_table(stores))
    for one in stores:
        screen.print(safe_markup(sum_line(one)))
    for name, ways in spec["kept_by"].items():
        counts = ", ".join(f"{way} in {count}" for way, count in ways.items())
        screen.print(safe_markup(f"{name}: {counts} of {packages}"))
    screen.print(measures_table(stores))
    screen.print(means_line(summary))
    _differences(summary, screen)
    screen.print(remarks_table(stores))


def means_line(summary: dict[str, Any]) -> str:
    """How to read the means."""
    return (
        f"means with 95% intervals over {summary['clusters']} (one alone has none); n counts the "
        "questions where a measure is defined"
    )


def columns(first: str, stores: list[dict[str, Any]]) -> Table:
    """A table with a column a store."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for one in stores:
        table.add_column(safe_markup(one["store"]), justify="right", overflow="fold")
    return table


def outcomes_table(stores: list[dict[str, Any]]) -> Table:
    """How many questions ended how; every one is in exactly one row."""
    table = columns("outcome", stores)
    for outcome in Outcome:
        table.add_row(outcome.value, *(_share(one, one["outcomes"][outcome]) for one in stores))
    table.add_row("all", *(_share(one, one["questions"]) for one in stores))
    return table


def _share(one: dict[str, Any], count: int) -> str:
    return f"{count} {count / one['questions']:6.1%}"


def sum_line(one: dict[str, Any]) -> str:
    """The exact sum, in questions."""
    whole = one["questions"]
    parts = {Layer.NONE.value: one["answered"], **one["losses"]}
    counts = " + ".join(f"{Fraction(share) * whole} {name}" for name, share in parts.items())
    return f"{one['store']}: {counted(whole, 'question')} = {counts}"


def measures_table(stores: list[dict[str, Any]]) -> Table:
    """Means with intervals."""
    table = columns("measure", stores)
    for name in stores[0]["measures"]:
        table.add_row(
            name.replace("_", " "), *(interval_text(one["measures"][name]) for one in stores)
        )
    return table


def interval_text(found: dict[str, Any]) -> str:
    """A mean, its interval, and over how many questions."""
    if found["mean"] is None:
        return "undefined"
    over = f", n {found['n']}" if found["undefined"] else ""
    if found["ci_low"] is None:
        return f"{number_text(found['mean'])}{over}"
    low, high = number_text(found["ci_low"]), number_text(found["ci_high"])
    return f"{number_text(found['mean'])} ({low} to {high}){over}"


def number_text(number: float) -> str:
    """Three digits, or as many as there are before the point."""
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:.0f}"


def _differences(summary: dict[str, Any], screen: Any) -> None:
    rows = [
        row
        for row in summary["differences"]
        if row["measure"] in COMPARED and row["mean_difference"] is not None
    ]
    if not rows or len(rows) > MOST_PAIRS * len(COMPARED):
        if rows:
            screen.print("paired differences between stores are in summary.json")
        return
    screen.print(differences_table(rows))


def differences_table(rows: list[dict[str, Any]]) -> Table:
    """Paired differences, one a line."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("measure", "first", "second"):
        table.add_column(name, overflow="fold")
    for name in ("first - second", "95% interval", "p", "p (Holm)"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row["measure"].replace("_", " "), safe_markup(row["first"]),
            safe_markup(row["second"]), f"{row['mean_difference']:+.3g}",
            "-" if row["ci_low"] is None else f"{row['ci_low']:+.3g} to {row['ci_high']:+.3g}",
            f"{row['p']:.3g}",
            f"{row['p_holm']:.3g}",
        )  # fmt: skip
    return table


def remarks_table(stores: list[dict[str, Any]]) -> Table:
    """How often rows carry which remark."""
    table = columns("remark", stores)
    for name in sorted({why for one in stores for why in one["why"]}):
        table.add_row(name.replace("_", " "), *(str(one["why"].get(name, 0)) for one in stores))
    return table
