"""Scores as tables: rows of stores and budgets, unit kinds, lost units, one unit or memory."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Table

from memaudit.cli.terminal import safe_markup
from memaudit.core.exact import exact
from memaudit.core.number_text import fixed, short_exact
from memaudit.core.text import counted
from memaudit.formats.score_file import LOSS_STEPS
from memaudit.scoring.loss_diagnosis import KindRow
from memaudit.scoring.package_scores import PackageScores, StoreResult
from memaudit.scoring.pruning import POLICIES
from memaudit.scoring.score import Ratio, bound_text


def scores_table(rows: Sequence[StoreResult]) -> Table:
    """One row per store and budget."""
    policies = _policies(rows)
    ratios = ("/ package", "/ union", "/ common", "upper")
    table = _table(("store",), ("budget", "cost", "F(Y)", *ratios, *policies))
    for row in rows:
        score = row.score
        table.add_row(
            safe_markup(score.name), short_exact(score.budget), _cost(row),
            _value(row), ratio_text(score.package_ratio),
            ratio_text(score.union_ratio), ratio_text(score.common_ratio),
            ratio_text(score.upper.common_ratio), *_pruned(row, policies),
        )  # fmt: skip
    return table


def packages_table(rows: Sequence[tuple[str, StoreResult]]) -> Table:
    """One row per package, store and budget."""
    policies = _policies([row for _, row in rows])
    names = ("budget", "memories", "cost", "F(Y)", "/ union", "/ common", "upper")
    table = _table(("package", "store"), (*names, *policies))
    for package, row in rows:
        score = row.score
        table.add_row(
            safe_markup(package), safe_markup(score.name), short_exact(score.budget),
            f"{score.memories:,}", _cost(row), _value(row),
            ratio_text(score.union_ratio), ratio_text(score.common_ratio),
            ratio_text(score.upper.common_ratio), *_pruned(row, policies),
        )  # fmt: skip
    return table


def _table(texts: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name.replace("query_salience", "query-aware"), justify="right")
    return table


def _policies(rows: Sequence[StoreResult]) -> list[str]:
    """Recency, and the other policies with a row of a store that has memories."""
    used = {pruned.policy for row in rows if row.score.memories for pruned in row.score.pruned}
    return [name for name in POLICIES if name == "recency" or name in used]


def _value(row: StoreResult) -> str:
    """The value of the whole store, or what it lies between while cells are not judged."""
    low, high = row.score.score.value, row.score.score.highest
    return short_exact(low) if low == high else f"{short_exact(low)}..{short_exact(high)}"


def _cost(row: StoreResult) -> str:
    return short_exact(row.score.score.cost) + ("" if row.score.feasible else " !")


def _pruned(row: StoreResult, policies: Sequence[str]) -> list[str]:
    ratios = {pruned.policy: pruned.common_ratio for pruned in row.score.pruned}
    return [ratio_text(ratios[name]) if name in ratios else "-" for name in policies]


def ratio_text(ratio: Ratio) -> str:
    """The ratio, or an interval if its optimum is not certified."""
    if ratio.value is not None:
        return fixed(ratio.value)
    if ratio.between is None:
        return "undefined"
    low, high = map(fixed, ratio.between)
    return f"{low}..{high}"


def rests_on(scores: PackageScores) -> list[str]:
    """What values rest on: shares of assumed cells, copies of a text, cells that were asked."""
    lines = []
    for row in scores.rows:
        package, optimum, store = row.assumed
        if package or optimum or store:
            mark = ": an ESTIMATE" if row.is_estimate else ""
            own = (
                f", {float(package):.1%} of the package's OPT"
                if package not in (0, optimum)
                else ""
            )
            lines.append(
                f"assumed cells: {float(optimum):.1%} of OPT{own} and {float(store):.1%} of "
                f"{row.score.name} at {short_exact(row.score.budget)} rest on them{mark}"
            )
    copies = {row.score.name: row.score for row in scores.rows if row.score.duplicates}
    for name, score in copies.items():
        once = "counted once" if scores.package.equal_texts_once else "each counted"
        lines.append(
            f"{name}: {counted(score.duplicates, 'memory')} with the text of another one, "
            f"{once}; cost {short_exact(score.duplicate_cost)}"
        )
    for written in scores.stores:
        if not all(memory.has_order for memory in written.memories):
            lines.append(
                f"{written.name}: entries of its documents have no times, so recency has no "
                "number; over budget it is cut from the top"
            )
    if scores.package_cells == "kept":
        lines.append("the package's own assumed cells were kept: the judge did not judge them")
    if (lazy := scores.lazy) is not None:
        stopped = "; stopped before the optima were exact" if lazy.stopped else ""
        lines.append(
            f"lazy judging: asked {lazy.asked:,} of {lazy.kept:,} cells that the filter keeps of "
            f"{lazy.pairs:,}, in {counted(lazy.rounds, 'round')}{stopped}"
        )
    return lines


def open_optima(scores: PackageScores) -> list[str]:
    """One line per optimum that is not certified."""
    lines: dict[str, None] = {}
    for row in scores.rows:
        score = row.score
        optima = {
            "the package": score.package_ratio.optimum,
            f"the union with {score.name}": score.union_ratio.optimum,
            "the common union": score.common_ratio.optimum,
            f"{score.name} alone": score.upper_optimum,
        }
        for what, optimum in optima.items():
            if not optimum.certified:
                budget = short_exact(score.budget)
                lines[f"bound: OPT of {what} at {budget} {bound_text(optimum)}"] = None
    return list(lines)


def kinds_tables(
    rows: Iterable[tuple[str, Fraction, Sequence[KindRow]]],
) -> Iterator[tuple[str, Table]]:
    """Values by kind of unit: written of the weight, then kept and lost, which sum to OPT.

    A table for each store and budget, with its heading: all in one would not fit 80 columns.
    """
    for store, budget, kinds in rows:
        table = _table(("kind of unit",), ("units", "weight", "written", "kept", *LOSS_STEPS))
        table.box = None
        for row in kinds:
            if not row.weight:
                continue
            lost = ["-"] * len(LOSS_STEPS)
            if row.losses is not None:
                lost = [_short(row.losses[step]) for step in LOSS_STEPS]
            share = "" if row.share is None else f" {float(row.share):4.0%}"
            table.add_row(
                safe_markup(row.kind), str(row.units), _short(row.weight),
                f"{_short(row.written)}{share}", "-" if row.kept is None else _short(row.kept),
                *lost,
            )  # fmt: skip
        yield f"{store} at {short_exact(budget)}, by kind of unit", table


def lost_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("unit", "kind", "lost", "step", "what it says", "asked by"):
        table.add_column(name, overflow="fold", justify="right" if name == "lost" else "left")
    for row in rows:
        asked = "; ".join(f"{query['id']}: {query['text']}" for query in row["queries"])
        table.add_row(
            safe_markup(row["unit"]), safe_markup(row["kind"]), f"{row['lost']:g}", row["step"],
            safe_markup(row["text"]), safe_markup(asked or "-"),
        )  # fmt: skip
    return table


def cells_table(rows: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("memory", "cost", "unit", "covered", "what it says", "why"):
        right = name in ("cost", "covered")
        table.add_column(name, overflow="fold", justify="right" if right else "left")
    for row in rows:
        why = row["rationale"] or row["provenance"]
        table.add_row(
            safe_markup(row["id"]), str(row["cost"]), safe_markup(row["unit"]), str(row["value"]),
            safe_markup(row["text"]), safe_markup(why),
        )  # fmt: skip
    return table


def _short(value: Fraction) -> str:
    """A value for a table, rounded if it is a fraction."""
    text = short_exact(value)
    return text if "/" not in text and "~" not in text else fixed(value)


MOST_CANDIDATES = 5
"""Candidates in an explanation: those that cover most, cheapest first."""


def explained_lines(data: dict[str, Any]) -> Iterator[str]:
    unit = data["unit"]
    if unit is not None:
        yield f"unit {data['id']} ({unit['kind']}, weight {unit['weight']:g}): {unit['text']}"
        for query in unit["queries"]:
            yield f"  asked for by {query['id']}: {query['text']}"
        for cell in unit["memories"]:
            yield f"  {cell['value']} in {cell['store']}, memory {cell['id']}: {cell['text']}"
            yield f"    because: {cell['rationale'] or cell['provenance']}"
        if not unit["memories"]:
            yield "  not in any memory of these stores"
        candidates = sorted(
            unit["candidates"], key=lambda row: (-exact(row["value"]), exact(row["cost"]))
        )
        for cell in candidates[:MOST_CANDIDATES]:
            yield f"  {cell['value']} in candidate {cell['id']} of the package: {cell['text']}"
        if (more := len(candidates) - MOST_CANDIDATES) > 0:
            yield f"  and {counted(more, 'candidate')} more; --json lists all"
        for row in unit["scores"]:
            yield f"  {row['store']} at {row['budget']}: {_unit_result(row)}"
    for memory in data["memories"]:
        yield (
            f"memory {memory['memory']} of {memory['store']}, cost {memory['cost']}: "
            f"{memory['text']}"
        )
        for cell in memory["cells"]:
            yield f"  covers {cell['value']} of {cell['unit']}: {cell['unit_text']}"
            yield f"    because: {cell['rationale'] or cell['provenance']}"
        if not memory["cells"]:
            yield "  covers no unit"
        for row in memory["scores"]:
            kept = {True: "kept", False: "not kept", None: "no diagnosis"}[row["kept"]]
            best = "in" if row["in_best_subset"] else "not in"
            yield f"  at {row['budget']}: {kept}, {best} the best subset that fits"


def _unit_result(row: dict[str, Any]) -> str:
    if row["parts"] is None:
        return "no diagnosis"
    lost = ", ".join(f"{step} {part:g}" for step, part in row["parts"].items())
    return f"kept {row['kept']:g}, lost {lost or 'nothing'}"
