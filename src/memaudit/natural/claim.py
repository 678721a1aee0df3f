"""A build folder holds one build: another one is refused before anything is written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.io.strict_json import floats
from memaudit.natural.build_manifest import build_manifest
from memaudit.natural.building import Plan


def refuse_other_builds(
    out: Path, plan: Plan, method: str, more: Mapping[str, object] | None = None
) -> None:
    """An error where the folder's manifest is of another dataset, method, rule or labels.

    `more` are parts of the manifest that must be the same as well.
    """
    there = build_manifest(out)
    if there is None:
        return
    more = more or {}
    now = {**_identity(plan, method), **more}
    dataset, labels = (
        part if isinstance(part := there.get(name), dict) else {} for name in ("dataset", "labels")
    )
    before = {
        "dataset": dataset.get("sha256"),
        "method": there.get("method"),
        "subset": there.get("subset"),
        "conversations": there.get("conversations"),
        "cost rule": there.get("cost_rule"),
        "units": labels.get("units"),
        "memories": labels.get("memories"),
        "label passes": labels.get("passes") or {},
        **{name: floats(there.get(name)) for name in more},
    }
    differ = [name for name, value in now.items() if before[name] != value]
    if differ:
        raise MemAuditError(
            f"{out} holds another build (its {', '.join(differ)} differ); choose another folder"
        )


def _identity(plan: Plan, method: str) -> dict[str, Any]:
    labels = plan.recipe.labels
    return {
        "dataset": plan.sha256,
        "method": method,
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost rule": plan.recipe.cost_rule,
        "units": None if labels.units is None else labels.units.sha256,
        "memories": None if labels.memories is None else labels.memories.sha256,
        "label passes": {one.name: one.sha256 for one in labels.passes},
    }
