"""What became of questions on the own natural set, by word search and a reader without a model."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.audits.downstream.cases import Wanted, make_cases
from memaudit.audits.downstream.run import run
from memaudit.audits.downstream.spec import Setup
from memaudit.downstream.readers.extractive import Extractive
from memaudit.downstream.retrievers.bm25 import Bm25
from memaudit.experiments.artifact.markdown import page, table
from memaudit.experiments.suites import PROXIES
from memaudit.natural.named_packages import natural_set
from memaudit.writers.registry import named_writer

BUDGET, DEPTH = 30, 5
WRITERS = ("opt", "gvt", "estimated_gvt", "recency_raw", *PROXIES)


def make_downstream(folder: Path, packages: int) -> None:
    """Follow every question from the store over retrieval to the answer."""
    writers = [named_writer(name) for name in WRITERS]
    made = make_cases(natural_set()[:packages], Wanted(Fraction(BUDGET), writers=writers))
    run(made.cases, Setup(Bm25(), DEPTH, Extractive()), folder, made.settings)


def downstream_table(summary: Mapping[str, Any], about: str) -> str:
    """The shape of figure 6: a row a store, a column an outcome."""
    stores = summary["summaries"]
    outcomes = [name for name in stores[0]["outcomes"] if any(s["outcomes"][name] for s in stores)]
    head = ("store", *(name.replace("_", " ") for name in outcomes))
    rows = [(one["store"], *(one["outcomes"][name] for name in outcomes)) for one in stores]
    spec = summary["spec"]
    return page(
        "What became of questions on the own natural set (beside figure 6)",
        f"{about} {summary['questions']} questions of {summary['packages']} packages, budget "
        f"{spec['budget']}, {spec['retriever']} with k = {spec['k']}, reader {spec['reader']}; the "
        "paper's readers are language models.",
        table(head, rows),
        "Drawn in `figures/downstream-failure_bars.*`.\n",
    )
