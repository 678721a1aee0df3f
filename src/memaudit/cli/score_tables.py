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
from memaudit.scoring.diagnosis import STEPS, KindRow
from memaudit.scoring.package_scores import PackageScores, StoreRow
from memaudit.scoring.score import Ratio, bound_text
from memaudit.scoring.store_scores import POLICIES


def scores_table(rows: Sequence[StoreRow]) -> Table:
    """One row a store and budget."""
    policies = _policies(rows)
    ratios = ("/ package", "/ union", "/ common", "upper")
    table = _table(("store",), ("budget", "cost", "F(Y)", *ratios, *policies))
    for row in rows:
        found = row.score
        table.add_row(
            safe_markup(found.name), short_exact(found.budget), _cost(row),
            short_exact(found.score.value), ratio_text(found.package_ratio), ratio_text(found.union_ratio),
            ratio_text(found.common_ratio), ratio_text(found.upper.ratio), *_cut(row, policies),
        )  # fmt: skip
    return table


def packages_table(rows: Sequence[tuple[str, StoreRow]]) -> Table:
    """One row a package, store and budget."""
    policies = _policies([row for _, row in rows])
    names = ("budget", "memories", "cost", "F(Y)", "/ union", "/ common", "upper")
    table = _table(("package", "store"), (*names, *policies))
    for package, row in rows:
        found = row.score
        table.add_row(
            safe_markup(package), safe_markup(found.name), short_exact(found.budget),
            f"{found.memories:,}", _cost(row), short_exact(found.score.value),
            ratio_text(found.union_ratio), ratio_text(found.common_ratio),
            ratio_text(found.upper.ratio), *_cut(row, policies),
        )  # fmt: skip
    return table


def _table(texts: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name.replace("query_salience", "query-aware"), justify="right")
    return table


def _policies(rows: Sequence[StoreRow]) -> list[str]:
    """Recency, and the other policies that have a row; an empty store has any row."""
    there = {one.policy for row in rows if row.score.memories for one in row.score.pruned}
    return [name for name in POLICIES if name == "recency" or name in there]


def _cost(row: StoreRow) -> str:
    return short_exact(row.score.score.cost) + ("" if row.score.feasible else " !")


def _cut(row: StoreRow, policies: Sequence[str]) -> list[str]:
    pruned = {one.policy: one for one in row.score.pruned}
    return [ratio_text(pruned[name].ratio) if name in pruned else "-" for name in policies]


def ratio_text(ratio: Ratio) -> str:
    """The ratio; two ends where its optimum is not certified."""
    if ratio.value is not None:
        return fixed(ratio.value)
    if ratio.between is None:
        return "undefined"
    low, high = map(fixed, ratio.between)
    return f"{low}..{high}"


def open_optima(found: PackageScores) -> list[str]:
    """Every optimum that is not certified, in words."""
    said: dict[str, None] = {}
    for row in found.rows:
        score = row.score
        optima = {
            "the package": score.package_ratio.optimum,
            f"the union with {score.name}": score.union_ratio.optimum,
            "the common union": score.common_ratio.optimum,
            f"{score.name} alone": score.upper_optimum,
        }
        for what, one in optima.items():
            if not one.certified:
                budget = short_exact(score.budget)
                said[f"bound: OPT of {what} at {budget} {bound_text(one)}"] = None
    return list(said)


def kinds_tables(
    rows: Iterable[tuple[str, Fraction, Sequence[KindRow]]],
) -> Iterator[tuple[str, Table]]:
    """Values by kind of unit: written of the weight, then kept and lost, which sum to OPT.

    A table for each store and budget, with its heading: all in one would not fit 80 columns.
    """
    for store, budget, kinds in rows:
        table = _table(("kind of unit",), ("units", "weight", "written", "kept", *STEPS))
        table.box = None
        for one in kinds:
            if not one.weight:
                continue
            lost = ["-"] * len(STEPS)
            if one.losses is not None:
                lost = [_short(one.losses[step]) for step in STEPS]
            share = "" if one.share is None else f" {float(one.share):4.0%}"
            table.add_row(
                safe_markup(one.kind), str(one.units), _short(one.weight),
                f"{_short(one.written)}{share}", "-" if one.kept is None else _short(one.kept),
                *lost,
            )  # fmt: skip
        yield f"{store} at {short_exact(budget)}, by kind of unit", table


def lost_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Lost units with the step, what they say and who asks for them."""
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
    """Which memory covers which unit, how much and why."""
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
    """A value of a table that is read for its size; a fraction is rounded."""
    text = short_exact(value)
    return text if "/" not in text and "~" not in text else fixed(value)


MOST_CANDIDATES = 5
"""Of the package, that an explanation names: those that hold most, the cheapest first."""


def explained_lines(data: dict[str, Any]) -> Iterator[str]:
    """Everything about an id, a line each."""
    unit = data["unit"]
    if unit is not None:
        yield f"unit {data['id']} ({unit['kind']}, weight {unit['weight']:g}): {unit['text']}"
        for query in unit["queries"]:
            yield f"  asked for by {query['id']}: {query['text']}"
        for one in unit["memories"]:
            yield f"  {one['value']} in {one['store']}, memory {one['id']}: {one['text']}"
            yield f"    because: {one['rationale'] or one['provenance']}"
        if not unit["memories"]:
            yield "  in no memory of these stores"
        candidates = sorted(
            unit["candidates"], key=lambda one: (-exact(one["value"]), exact(one["cost"]))
        )
        for one in candidates[:MOST_CANDIDATES]:
            yield f"  {one['value']} in candidate {one['id']} of the package: {one['text']}"
        if (more := len(candidates) - MOST_CANDIDATES) > 0:
            yield f"  and {counted(more, 'candidate')} more, in the JSON"
        for row in unit["scores"]:
            yield f"  {row['store']} at {row['budget']}: {_fate(row)}"
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


def _fate(row: dict[str, Any]) -> str:
    if row["parts"] is None:
        return "no diagnosis"
    lost = ", ".join(f"{step} {part:g}" for step, part in row["parts"].items())
    return f"kept {row['kept']:g}, lost {lost or 'nothing'}"
