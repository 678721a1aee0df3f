"""A build with models in a few lines, for people."""

from collections import Counter
from pathlib import Path
from typing import Any


def summary(manifest: dict[str, Any], out: Path) -> list[str]:
    """What was built, how it was judged, what failed, and what it used."""
    counts = manifest["counts"]
    kept = f", {manifest['kept']} of them there already" if manifest.get("kept") else ""
    number = counts["packages"]
    lines = [f"{number} package{'s'[: number != 1]} in {out}{kept}"]
    lines += [_row(number, status, 1) for status, number in manifest["statuses"].items()]
    lines += [_row(counts.get(name, 0), name) for name in ("experiences", "candidates", "units")]
    lines.append(_row(counts.get("queries", 0), "queries"))
    for status, number in _summed(manifest, "queries").items():
        if number:
            lines.append(_row(number, status, 1))
    lines.append(_row(counts.get("coverage", 0), "coverage rows"))
    for name, part in manifest["coverage_by_provenance"].items():
        lines.append(_row(part["rows"], name, 1))
    cells = _summed(manifest, "cells")
    for name in ("undecided", "not_asked"):
        if cells[name]:
            lines.append(_row(cells[name], f"cells {name.replace('_', ' ')}", 1))
    if (spot := manifest["spot_check"]) is not None:
        lines.append(_row(spot["cells"], f"cells judged again by {spot['model']}"))
        lines.append(_row(spot["same"], "with the same label", 1))
    for title, field in (("replies failed", "failures"), ("items refused", "rejections")):
        found = _by_kind(manifest, field)
        if found:
            lines.append(_row(found.total(), title))
            lines += [_row(number, what, 1) for what, number in sorted(found.items())]
    return lines


def _summed(manifest: dict[str, Any], field: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in manifest["packages"]:
        total.update(one[field])
    return total


def _by_kind(manifest: dict[str, Any], field: str) -> Counter[str]:
    """By pass and kind, over all packages."""
    return Counter(
        {
            f"{stage}: {kind}": sum(
                one[field].get(stage, {}).get(kind, 0) for one in manifest["packages"]
            )
            for one in manifest["packages"]
            for stage, kinds in one[field].items()
            for kind in kinds
        }
    )


def _row(number: int, what: str, deeper: int = 0) -> str:
    return f"{number:>9,}{'  ' * deeper}  {what}"
