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
    optimum = {"value": 4.0, "certified": True, "bound": 4.0, "digest": "union"}
    ratio = {"value": value, "optimum": 4.0, "certified": True, "bound": 4.0, "digest": "package"}
    part = {"memories": 3, "cost": 5, "value": 1.0, "ratio": value}
    return {
        "store": store,
        "budget": budget,
        "asked": str(budget),
        "score": value,
        "undefined": None if kept else "optimum is 0",
        "kept_by": "everything fits",
        "optimum": optimum,
        "kept": part,
        "written": {"memories": 3, "cost": 5, "value": 1.0},
        "package_ratio": ratio,
        "union_ratio": ratio,
        "best_subset": part,
        "policies": {"recency": part},
        "diagnosis": {
            "kept": kept,
            "losses": {name: {"share": share} for name, share in parts.items()},
        }
        if kept
        else {"undefined": NOT_DIAGNOSED},
    }


def write(folder: Path, file: str, *rows: dict[str, Any], **changes: Any) -> Path:
    """One score file; unions and packages have digests of their own."""
    data = {
        "format": "memaudit-scores",
        "version": 2,
        "package": file,
        "digest": f"package {file}",
        "union_digest": f"union {file}",
        "judge": "labels people",
        "package_cells": "judged",
        "coverage_is_an_estimate": False,
        "cost_rule": "words",
        "group_cap": 1,
        "scores": list(rows),
        **changes,
    }
    path = folder / f"{file}.json"
    path.write_text(json.dumps(data))
    return path
