"""Markdown tables. Names of writers and packages are ours; nothing here quotes a conversation."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from memaudit.core.number_text import ratio, with_interval
from memaudit.downstream.cases import Wanted, make_cases
from memaudit.downstream.readers.offline import Extractive
from memaudit.downstream.retrievers import Bm25
from memaudit.downstream.run import run
from memaudit.downstream.spec import Setup
from memaudit.experiments.spec import PROXIES
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.findings import Findings
from memaudit.writers.registry import named_writer


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; columns after the first stand right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def page(title: str, about: str, *blocks: str) -> str:
    """A heading, what it is about, and blocks."""
    return "\n".join([f"# {title}\n", f"{about}\n", *blocks])


def _cell(cell: object) -> str:
    return str(cell).replace("|", "\\|")


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


SCALE = "covered"
"""The paper's labels are binary: covered, fully or in part, or not."""


def reliability_table(found: Mapping[str, Any], about: str) -> str:
    """The shape of table 2: what was made, and how it can be checked."""
    coverage = found["coverage"]
    rows = [
        ("packages", found["packages"]),
        ("queries", found["queries"]),
        ("queries without units", found["queries_without_units"]),
        ("units", found["units"]),
        ("units nobody covers", found["units_uncovered"]),
        ("candidates", sum(found["candidates"].values())),
        *((f"coverage rows, {name}", sum(labels.values())) for name, labels in coverage.items()),
        ("share of coverage rows that follow from the texts", ratio(found["exact_share"])),
        ("quotes looked up in the stream", found["quotes"]["checked"]),
        ("quotes found there", found["quotes"]["found"]),
        ("adjudicated by people", 0),
    ]
    return page("Construction of the own natural set (beside table 2)", about,
                table(("what", "number"), rows))  # fmt: skip


def labels_table(agreement: Mapping[str, Any], ratios: Mapping[str, Any], about: str) -> str:
    """The shape of table 3: agreement of label passes, and what they do to ratios."""
    pairs = [
        (f"{pair['first']['name']} - {pair['second']['name']}", scale["cells"],
         _estimate(scale["as_drawn"]["kappa"]), _estimate(scale["as_drawn"]["raw_agreement"]))
        for pair in agreement["pairs"]
        for scale in (pair["scales"][SCALE],)
    ]  # fmt: skip
    shifts = [
        (one["name"], _budget(shift["budget"]), _mean(shift["ratio_mad"]),
         "preserved" if shift["ranking"]["preserved"] else "changed",
         ratio(_value(shift["ranking"]["spearman_rho"])))
        for one in ratios["label_sets"]
        for shift in one["shifts"]
    ]  # fmt: skip
    made = (
        f"{about} All passes are a language model's; no person labelled these cells. Labels are "
        "compared as covered or not; intervals are 95% bootstrap intervals over packages."
    )
    return page(
        "Label audit of the own natural set (beside table 3)", made,
        table(("pair", "cells", "Cohen's kappa", "raw agreement"), pairs),
        f"Writers' ratios under each label set, against the packages' own labels; "
        f"{len(ratios['stores'])} writers.\n",
        table(("label set", "B", "ratio MAD", "ranking", "Spearman's rho"), shifts),
    )  # fmt: skip


def _estimate(one: Mapping[str, Any]) -> str:
    bounds = one["over_packages"] or one["over_cells"]
    return with_interval(
        one["value"], *((bounds["low"], bounds["high"]) if bounds else (None, None))
    )


def _mean(one: Mapping[str, Any]) -> str:
    return with_interval(one["mean"], one["low"], one["high"])


def _value(one: Mapping[str, Any] | None) -> float | None:
    return None if one is None else one["value"]


def _budget(budget: object) -> object:
    return "all" if budget is None else budget


OWN_SET = (
    "On the project's own natural set. This is not the paper's Natural-87: conversations, "
    "candidates and labels are others, so the numbers are too."
)


def tables(found: Findings) -> dict[str, str]:
    """Every table by its file name."""
    return {
        "solvers.md": solvers_table(found.solvers),
        "budget-sweep.md": sweep_table(found.summaries["sweep"]),
        "stress.md": stress_table(found.summaries["stress"]),
        "writers-own-set.md": page(
            "Writers on the own natural set (beside figure 4)", OWN_SET,
            by_budget(found.natural["rows"]), "Drawn in `figures/natural-budget_sweep.*`.\n",
        ),
        "sensitivity-own-set.md": sensitivity_table(found.sensitivity),
        "reliability-own-set.md": reliability_table(found.reliability, OWN_SET),
        "labels-own-set.md": labels_table(found.agreement, found.ratios, OWN_SET),
        "downstream-own-set.md": downstream_table(found.downstream, OWN_SET),
    }  # fmt: skip


def solvers_table(solvers: Mapping[str, Any]) -> str:
    """Table 1."""
    head = ("solver", "rows", "matches", "max difference", "certified", "too large")
    rows = [
        (name, one["rows"], f"{one['matches']}/{one['rows']}", one["max_difference"],
         one["certified"], one["refused"])
        for name, one in solvers["solvers"].items()
    ]  # fmt: skip
    about = (
        f"Every backend on the same {solvers['rows']} packages and budgets, values compared "
        f"exactly with those of `{solvers['compared_with']}`. `highs` solves a MILP; it and "
        "`brute` give no certificates."
    )
    return page("Exact-solver certification (table 1)", about, table(head, rows))


def sweep_table(summary: Mapping[str, Any]) -> str:
    """The numbers of figure 2."""
    about = "Mean ratio to the certified optimum on `base`, with a 95% bootstrap interval."
    covered = "Invalidation units covered, mean:"
    return page(
        "Budget sweep (figure 2)", about, by_budget(summary["rows"]), f"{covered}\n",
        by_budget(summary["rows"], "mean_invalidation"),
    )  # fmt: skip


def stress_table(summary: Mapping[str, Any]) -> str:
    """The numbers of figure 3."""
    rows = summary["rows"]
    names = _distinct(row["distribution"] for row in rows)
    at = {(row["writer"], row["distribution"]): row for row in rows}
    writers = _distinct(row["writer"] for row in rows)
    ratios = [
        (writer, *(ratio(at[writer, name]["mean_ratio"]) for name in names)) for writer in writers
    ]
    gaps = [
        (name, ratio(at["opt", name]["mean_value"]),
         ratio(at["no_tombstone_opt", name]["mean_value"]))
        for name in names
    ]  # fmt: skip
    budget = rows[0]["budget"]
    return page(
        "Stress suite (figure 3)",
        f"Mean ratio to the certified optimum at budget {budget}.",
        table(("writer", *names), ratios),
        "Mean value of the best store, with and without tombstones and compound updates:\n",
        table(("distribution", "OPT", "no-tombstone OPT"), gaps),
    )


def by_budget(rows: Sequence[Mapping[str, Any]], metric: str = "mean_ratio") -> str:
    """Writers down, budgets across."""
    budgets = _distinct(row["budget"] for row in rows)
    at = {(row["writer"], row["budget"]): row for row in rows}
    body = []
    for writer in _distinct(row["writer"] for row in rows):
        cells = [at[writer, budget] for budget in budgets]
        shown = [
            with_interval(cell[metric], cell["ci_low"], cell["ci_high"])
            if metric == "mean_ratio"
            else ratio(cell[metric])
            for cell in cells
        ]
        body.append((writer, *shown))
    return table(("writer", *(f"B = {budget}" for budget in budgets)), body)


def sensitivity_table(found: Mapping[str, Any]) -> str:
    """The shape of table 5."""
    head = ("B", "OPT k=1", "OPT k=2", "k=2/k=1", "byte-overhead OPT", "byte/default")
    metrics = ("opt", "opt_two", "two_over_one", "opt_bytes", "bytes_over_default")
    rows = [
        (budget, *(ratio(one[metric]) for metric in metrics))
        for budget, one in found["budgets"].items()
    ]
    about = f"{OWN_SET} Means over packages; ratios are means of ratios."
    return page("Cost and constraint sensitivity (beside table 5)", about, table(head, rows))


def _distinct(names: Any) -> list[Any]:
    return list(dict.fromkeys(names))
