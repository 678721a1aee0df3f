"""The paper's tables, and the numbers of its figures, as Markdown.

Writers and packages have names of ours; nothing here quotes a conversation.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memaudit.building.data_card import table
from memaudit.kernel.exact import exact
from memaudit.kernel.number_text import ratio, with_interval
from memaudit.lab.reproduce.results import Results

OWN_SET = (
    "On the project's own natural set. This is not the paper's Natural-87: conversations, "
    "candidates and labels are others, so the numbers are too."
)
SCALE = "covered"
"""The paper's labels are binary: covered, fully or in part, or not."""


def tables(results: Results) -> dict[str, str]:
    """Every table by its file name."""
    return {
        "solvers.md": solvers_table(results.solvers),
        "budget-sweep.md": sweep_table(results.summaries["sweep"]),
        "stress.md": stress_table(results.summaries["stress"]),
        "writers-own-set.md": page(
            "Writers on the own natural set (beside figure 4)",
            OWN_SET,
            by_budget(results.natural["rows"]),
            "Drawn in `figures/natural-budget_sweep.*`.\n",
        ),
        "sensitivity-own-set.md": sensitivity_table(results.sensitivity),
        "reliability-own-set.md": reliability_table(results.reliability),
        "labels-own-set.md": labels_table(results.agreement, results.ratios),
        "stores-own-set.md": stores_table(results.denominators["rows"]),
        "store-costs-own-set.md": store_costs_table(results.costs, results.smallest["rows"]),
        "downstream-own-set.md": downstream_table(results.downstream),
    }


def solvers_table(solvers: Mapping[str, Any]) -> str:
    """Table 1."""
    head = ("solver", "rows", "matches", "max difference", "certified", "too large")
    rows = [
        (
            name,
            tally["rows"],
            f"{tally['matches']}/{tally['rows']}",
            tally["max_difference"],
            tally["certified"],
            tally["refused"],
        )
        for name, tally in solvers["solvers"].items()
    ]
    about = (
        f"Every backend on the same {solvers['rows']} packages and budgets, values compared "
        f"exactly with those of `{solvers['compared_with']}`. `highs` solves a MILP; it and "
        "`brute` give no certificates."
    )
    return page("Exact-solver certification (table 1)", about, table(head, rows))


def sweep_table(summary: Mapping[str, Any]) -> str:
    """The numbers of figure 2."""
    return page(
        "Budget sweep (figure 2)",
        "Mean ratio to the certified optimum on `base`, with a 95% bootstrap interval.",
        by_budget(summary["rows"]),
        "Invalidation units covered, mean:\n",
        by_budget(summary["rows"], "mean_invalidation"),
    )


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
        (
            name,
            ratio(at["opt", name]["mean_value"]),
            ratio(at["no_tombstone_opt", name]["mean_value"]),
        )
        for name in names
    ]
    return page(
        "Stress suite (figure 3)",
        f"Mean ratio to the certified optimum at budget {rows[0]['budget']}.",
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
        texts = [
            with_interval(cell[metric], cell["ci_low"], cell["ci_high"])
            if metric == "mean_ratio"
            else ratio(cell[metric])
            for cell in cells
        ]
        body.append((writer, *texts))
    return table(("writer", *(f"B = {budget}" for budget in budgets)), body)


def sensitivity_table(summary: Mapping[str, Any]) -> str:
    """The form of table 5."""
    head = ("B", "OPT k=1", "OPT k=2", "k=2/k=1", "byte-overhead OPT", "byte/default")
    metrics = ("opt", "opt_two", "two_over_one", "opt_bytes", "bytes_over_default")
    rows = [
        (budget, *(ratio(means[metric]) for metric in metrics))
        for budget, means in summary["budgets"].items()
    ]
    about = f"{OWN_SET} Means over packages; ratios are means of ratios."
    return page("Cost and constraint sensitivity (beside table 5)", about, table(head, rows))


def reliability_table(counts: Mapping[str, Any]) -> str:
    """The form of table 2: what was made, and how it can be checked."""
    coverage = counts["coverage"]
    rows = [
        ("packages", counts["packages"]),
        ("queries", counts["queries"]),
        ("queries without units", counts["queries_without_units"]),
        ("units", counts["units"]),
        ("units nobody covers", counts["units_uncovered"]),
        ("candidates", sum(counts["candidates"].values())),
        *((f"coverage rows, {name}", sum(labels.values())) for name, labels in coverage.items()),
        ("share of coverage rows that follow from the texts", ratio(counts["exact_share"])),
        ("quotes looked up in the stream", counts["quotes"]["checked"]),
        ("quotes found there", counts["quotes"]["found"]),
        ("adjudicated by people", 0),
    ]
    return page(
        "Construction of the own natural set (beside table 2)",
        OWN_SET,
        table(("what", "number"), rows),
    )


def labels_table(agreement: Mapping[str, Any], ratios: Mapping[str, Any]) -> str:
    """The form of table 3: agreement of label passes, and what they do to ratios."""
    pairs = [
        (
            f"{pair['first']['name']} - {pair['second']['name']}",
            scale["cells"],
            _estimate(scale["as_drawn"]["kappa"]),
            _estimate(scale["as_drawn"]["raw_agreement"]),
        )
        for pair in agreement["pairs"]
        for scale in (pair["scales"][SCALE],)
    ]
    shifts = [
        _shift(label_set["name"], shift)
        for label_set in ratios["label_sets"]
        for shift in label_set["shifts"]
    ]
    about = (
        f"{OWN_SET} All passes are a language model's; no person labelled these cells. Labels are "
        "compared as covered or not; intervals are 95% bootstrap intervals over packages."
    )
    return page(
        "Label audit of the own natural set (beside table 3)",
        about,
        table(("pair", "cells", "Cohen's kappa", "raw agreement"), pairs),
        f"Writers' ratios under each label set, against the packages' own labels; "
        f"{len(ratios['stores'])} writers.\n",
        table(("label set", "B", "ratio MAD", "ranking", "Spearman's rho"), shifts),
    )


def _estimate(estimate: Mapping[str, Any]) -> str:
    bounds = estimate["over_packages"] or estimate["over_cells"] or {"low": None, "high": None}
    return with_interval(estimate["value"], bounds["low"], bounds["high"])


def _shift(label_set: str, shift: Mapping[str, Any]) -> tuple[object, ...]:
    mad, ranking = shift["ratio_mad"], shift["ranking"]
    rho = ranking["spearman_rho"]
    return (
        label_set,
        "all" if shift["budget"] is None else shift["budget"],
        with_interval(mad["mean"], mad["low"], mad["high"]),
        "preserved" if ranking["preserved"] else "changed",
        ratio(None if rho is None else rho["value"]),
    )


STORES = (
    f"{OWN_SET} Stores called `shaped` were written by hand in the shapes of Mem0, Letta and "
    "A-Mem: their numbers say nothing about these systems."
)
CAPTURED = (
    "`amem`, `langmem`, `letta` and `mem0` are stores of systems that were run, on the "
    "conversations of the board; the other stores are scored on the other conversations."
)


def stores_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The form of table 4: one store over three denominators."""
    head = (
        "store",
        "kept by",
        "B",
        "packages",
        "F",
        "over package",
        "over union",
        "over common union",
    )
    numbers = ("value", "package_ratio", "union_ratio", "ratio")
    body = [
        (
            row["store"],
            row["kept_by"],
            row["budget"],
            row["value"]["n"],
            *(
                with_interval(*(row[name][part] for part in ("mean", "ci_low", "ci_high")))
                for name in numbers
            ),
        )
        for row in rows
    ]
    about = (
        f"{STORES} {CAPTURED} F is the mean value of what is kept; ratios are means of ratios, "
        "with 95% bootstrap intervals over packages. The whole store may cost more than the "
        "budget; best subsets know the labels."
    )
    return page(
        "Stores over three denominators (beside table 4)",
        about,
        table(head, body),
        "Drawn in `figures/stores-systems.*`.\n",
    )


def store_costs_table(costs: Mapping[str, Any], smallest: Sequence[Mapping[str, Any]]) -> str:
    """The forms of table 5 for unions, and of table 6."""
    findings = costs["findings"]
    unions = [
        (
            row["variant"],
            row["budget"],
            *(
                ratio(row[name]["mean"])
                for name in (
                    "union_optimum",
                    "union_optimum_over_base",
                    "package_optimum",
                    "package_optimum_over_base",
                )
            ),
        )
        for row in findings
    ]
    stores = [
        (
            row["variant"],
            row["budget"],
            store["store"],
            ", ".join(store["kept_by"]),
            ratio(store["over_package"]["mean"]),
            ratio(store["score"]["mean"]),
            ratio(store["best_subset"]["mean"]),
        )
        for row in findings
        for store in row["stores"]
    ]
    least = [
        (
            row["store"],
            row["cost_rule"],
            row["packages"],
            f"{float(exact(row['mean_smallest_cost'])):.1f}",
        )
        for row in smallest
    ]
    return page(
        "Stores under other costs and constraints (beside tables 5 and 6)",
        f"{STORES} Stores over budget are cut by {costs['policy']}.",
        table(("variant", "B", "OPT of unions", "/ base", "OPT of packages", "/ base"), unions),
        "Stores, as means of ratios:\n",
        table(
            (
                "variant",
                "B",
                "store",
                "kept by",
                "over package",
                "over common union",
                "best subset",
            ),
            stores,
        ),
        "The smallest memory of each store, mean cost over packages:\n",
        table(("store", "cost rule", "packages", "smallest cost"), least),
    )


def downstream_table(summary: Mapping[str, Any]) -> str:
    """The form of figure 6: a row per store, a column per outcome."""
    stores = summary["summaries"]
    outcomes = [
        name for name in stores[0]["outcomes"] if any(store["outcomes"][name] for store in stores)
    ]
    head = ("store", *(name.replace("_", " ") for name in outcomes))
    rows = [(store["store"], *(store["outcomes"][name] for name in outcomes)) for store in stores]
    spec = summary["spec"]
    return page(
        "What became of questions on the own natural set (beside figure 6)",
        f"{OWN_SET} {summary['questions']} questions of {summary['packages']} packages, budget "
        f"{spec['budget']}, {spec['retriever']} with k = {spec['k']}, reader {spec['reader']}; the "
        "paper's readers are language models.",
        table(head, rows),
        "Drawn in `figures/downstream-failure_bars.*`.\n",
    )


def page(title: str, about: str, *blocks: str) -> str:
    """A heading, what it is about, and blocks."""
    return "\n".join([f"# {title}\n", f"{about}\n", *blocks])


def _distinct(names: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(names))
