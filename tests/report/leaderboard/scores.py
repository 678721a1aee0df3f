"""Score files as `memaudit score --json` writes them, small and by hand."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

NOT_DIAGNOSED = "no diagnosis: the optimum is 0"


def row(store: str, kept: str | None, budget: int = 10, **losses: str) -> dict[str, Any]:
    """A store that fits its budget, keeping a share; what is not said is lost to extraction."""
    parts = {name: losses.get(name, "0") for name in ("generation", "cost", "selection")}
    rest = 1 - Fraction(kept or 0) - sum(Fraction(part) for part in parts.values())
    parts["extraction"] = str(rest)
    value = None if kept is None else round(float(Fraction(kept)), 9)
    ratio = {
        "value": value, "undefined": None if kept else "optimum is 0", "digest": "union",
        "optimum": 4.0, "basis": "common union", "certified": True,
    }  # fmt: skip
    return {
        "store": store, "budget": budget, "memories": 3, "value": 1.0, "cost": 5, "feasible": True,
        "package_ratio": {**ratio, "digest": "package"}, "union_ratio": ratio,
        "common_union_ratio": ratio,
        "upper_pruned": {"value": 1.0, "cost": 5, "memories": 1, "common_union_ratio": value},
        "pruned": {"recency": {"value": 1.0, "common_union_ratio": value}},
        "diagnosis": {
            "store": store, "kept_by": "everything fits", "kept": kept,
            "losses": {name: {"share": share} for name, share in parts.items()},
        } if kept else NOT_DIAGNOSED,
    }  # fmt: skip


def write(folder: Path, file: str, *rows: dict[str, Any], **changes: Any) -> Path:
    """One score file; unions and packages have digests of their own."""
    for one in rows:
        for name in ("package", "common_union"):
            one[f"{name}_ratio"] = {**one[f"{name}_ratio"], "digest": f"{name} {file}"}
    data = {
        "package": file, "judge": "labels people", "coverage_is_an_estimate": False,
        "cost_rule": "words", "scores": list(rows), **changes,
    }  # fmt: skip
    path = folder / f"{file}.json"
    path.write_text(json.dumps(data))
    return path
