"""A transfer as tables for the terminal: compactness, outcomes, kinds of questions, differences."""

from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Table

from memaudit.cli.diagnosis_tables import (
    differences_table,
    means_line,
    measures_table,
    outcomes_table,
    remarks_table,
    sum_line,
)
from memaudit.cli.results import console
from memaudit.cli.text import safe_markup

COMPARED = (
    "words_retrieved",
    "evidence_recall",
    "evidence_coverage",
    "answer_in_evidence",
    "token_f1",
    "answered",
)
BY_KIND = ("words_retrieved", "evidence_recall", "token_f1", "answered")
LAYERS = ("write", "retrieval", "reader", "unsupported", "uncertain")


def show_transfer(summary: dict[str, Any]) -> None:
    """Everything at a glance; the file holds more."""
    screen = console()
    spec, stores = summary["spec"], summary["summaries"]
    screen.print(
        safe_markup(
            f"{summary['questions']} questions of {summary['packages']} records of "
            f"{spec['source']['file']}, budget {spec['budget']}, {spec['retriever']} with k = "
            f"{spec['k']}, reader {spec['reader']}"
        )
    )
    screen.print(safe_markup(spec["note"]))
    screen.print(safe_markup(spec["evidence"]))
    for name, about in spec["about_stores"].items():
        peeks = " (LOOKS AT THE LABELS)" if name in spec["peeking_writers"] else ""
        screen.print(safe_markup(f"{name}: {about}{peeks}"))
    screen.print(measures_table(stores))
    screen.print(means_line(summary))
    screen.print(outcomes_table(stores))
    for one in stores:
        screen.print(safe_markup(sum_line(one)))
    screen.print(kinds_table(stores))
    rows = [
        row
        for row in summary["differences"]
        if row["measure"] in COMPARED
        and row["first"] == stores[0]["store"]
        and row["mean_difference"] is not None
    ]
    screen.print(differences_table(rows))
    screen.print(
        "Holm's correction is over all pairs of stores of a measure; the other pairs are in "
        "summary.json"
    )
    screen.print(remarks_table(stores))


def kinds_table(stores: list[dict[str, Any]]) -> Table:
    """By kind of question: means of the main measures, and questions lost by layer."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("kind of question", overflow="fold")
    for name in ("n", "words", "recall", "F1", "answered", *LAYERS):
        table.add_column(name, justify="right")
    for kind, whole in stores[0]["kinds"].items():
        table.add_row(safe_markup(kind or "-"), str(whole["questions"]))
        for one in stores:
            found = one["kinds"][kind]
            table.add_row(
                safe_markup(f"  {one['store']}"),
                "",
                *(_mean(found["measures"][name], name) for name in BY_KIND),
                *(str(Fraction(found["losses"][layer]) * found["questions"]) for layer in LAYERS),
            )
        table.add_section()
    return table


def _mean(found: dict[str, Any], name: str) -> str:
    if found["mean"] is None:
        return "-"
    return f"{found['mean']:.0f}" if name == "words_retrieved" else f"{found['mean']:.3f}"
