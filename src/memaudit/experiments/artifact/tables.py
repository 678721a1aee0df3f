"""Our tables, one Markdown file each, in the shape of the paper's."""

from collections.abc import Mapping, Sequence
from typing import Any

from memaudit.experiments.artifact.downstream_results import downstream_table
from memaudit.experiments.artifact.findings import Findings
from memaudit.experiments.artifact.label_tables import labels_table, reliability_table
from memaudit.experiments.artifact.markdown import interval, number, page, table

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
        (writer, *(number(at[writer, name]["mean_ratio"]) for name in names)) for writer in writers
    ]
    gaps = [
        (name, number(at["opt", name]["mean_value"]),
         number(at["no_tombstone_opt", name]["mean_value"]))
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
            interval(cell[metric], cell["ci_low"], cell["ci_high"])
            if metric == "mean_ratio"
            else number(cell[metric])
            for cell in cells
        ]
        body.append((writer, *shown))
    return table(("writer", *(f"B = {budget}" for budget in budgets)), body)


def sensitivity_table(found: Mapping[str, Any]) -> str:
    """The shape of table 5."""
    head = ("B", "OPT k=1", "OPT k=2", "k=2/k=1", "byte-overhead OPT", "byte/default")
    metrics = ("opt", "opt_two", "two_over_one", "opt_bytes", "bytes_over_default")
    rows = [
        (budget, *(number(one[metric]) for metric in metrics))
        for budget, one in found["budgets"].items()
    ]
    about = f"{OWN_SET} Means over packages; ratios are means of ratios."
    return page("Cost and constraint sensitivity (beside table 5)", about, table(head, rows))


def _distinct(names: Any) -> list[Any]:
    return list(dict.fromkeys(names))
