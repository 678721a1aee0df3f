"""Everything about one unit or memory, in lines."""

from collections.abc import Iterator
from typing import Any

from memaudit.core.exact import exact
from memaudit.core.text import counted

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
