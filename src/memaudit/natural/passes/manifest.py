"""What each pass is allowed to see, and what it must not; the manifest says both."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from memaudit.core.digest import digest
from memaudit.core.exact import plain
from memaudit.core.package import TABLES, Package
from memaudit.models.client import Usage
from memaudit.models.request import ModelParameters
from memaudit.models.session import SessionLedger, usage_json
from memaudit.natural.build_folder import FORMAT, VERSION
from memaudit.natural.build_plan import Plan
from memaudit.natural.coverage_rules import is_exact
from memaudit.natural.passes.adjudication import QUERY_STATUSES
from memaudit.natural.passes.assemble import METHOD, QUOTE, UNDECIDED
from memaudit.natural.passes.build import ModelBuilt
from memaudit.natural.passes.coverage import SpotCheck
from memaudit.natural.passes.recipe import ModelRecipe
from memaudit.natural.prompts import PROMPTS, pass_prompt

_SOURCE = ("speakers, texts and times of the turns", "order and times of the sessions")
_ASKED = ("questions", "answers", "gold evidence", "representations the dataset ships", "ids")

VIEWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "memories": (_SOURCE, (*_ASKED, "units")),
    "units": (_SOURCE, (*_ASKED, "memories")),
    "quotes": ((*_SOURCE, "units whose quotes did not hold"), (*_ASKED, "memories")),
    "requirements": (
        ("one question, when it was asked, its answer", "unit statements, kinds and times"),
        ("gold evidence", "representations the dataset ships", "ids", "source", "memories"),
    ),
    "adjudication": (
        (
            "one question, when it was asked, its answer",
            "unit statements, kinds, times and quotes",
            "the proposed requirements",
        ),
        ("gold evidence", "representations the dataset ships", "ids", "memories", "coverage"),
    ),
    "coverage": (
        ("texts of memories", "texts of units"),
        (*_ASKED, "who wrote a memory", "kinds", "costs", "requirements", "source"),
    ),
    "spot check": (
        ("texts of sampled memories", "texts of sampled units"),
        (*_ASKED, "who wrote a memory", "kinds", "costs", "requirements", "the first label"),
    ),
}
"""By pass: what it sees, and what it must not see."""


def views_json() -> dict[str, JsonValue]:
    """For a manifest."""
    return {
        name: {"sees": list(sees), "must_not_see": list(hidden)}
        for name, (sees, hidden) in VIEWS.items()
    }


_RULES = {QUOTE: "the raw turn holds the unit's quote, which was found in it word for word"}


def package_entry(built: ModelBuilt, file: str, ledger: SessionLedger) -> dict[str, Any]:
    """What the manifest says about one package."""
    package, draft = built.package, built.draft
    labels = Counter(row.label or "" for row in package.coverage)
    return {
        "name": package.name,
        "file": file,
        "digest": digest(package),
        "status": package.attributes["status"],
        "scoring_pool": package.attributes["scoring_pool"],
        "reasons": package.attributes["reasons"],
        "counts": {table: len(getattr(package, table)) for table in TABLES},
        "queries": draft.rulings.counts(),
        "queries_without_units": sum(not one.required for one in package.queries),
        "units": {
            "required": len(draft.rulings.required),
            "requoted": sum(one.requoted for one in draft.units.found),
            "reworded": len(draft.rulings.rewrites),
        },
        "cells": {
            "judged": sum(one is not None for one in draft.cells.values()),
            "undecided": labels[UNDECIDED],
            "by_quote": sum(row.provenance == QUOTE for row in package.coverage),
            "not_asked": _not_asked(package),
        },
        "spot_check": None if draft.spot is None else spot_json(draft.spot),
        "failures": ledger.counts(draft.name, failure=True),
        "rejections": ledger.counts(draft.name, failure=False),
        "usage": ledger.spent(draft.name),
        "served_models": {
            stage: sorted(names)
            for (owner, stage), names in sorted(ledger.served.items())
            if owner == draft.name
        },
    }


def _not_asked(package: Package) -> int:
    """Cells of required units that neither a quote nor the judge decides: 0 by the frame."""
    required = {unit for query in package.queries for unit in query.required}
    rows = sum(row.unit in required for row in package.coverage)
    return len(package.candidates) * len(required) - rows


def spot_json(spot: SpotCheck) -> dict[str, Any]:
    """A spot-check: how many cells, how often both agree, and where they do not."""
    agreement = spot.agreement
    return {
        "cells": len(spot.cells),
        "undecided": spot.undecided,
        "agreement": None if agreement is None else plain(agreement),
        "labels": [
            {"judge": one, "checker": other, "cells": number}
            for (one, other), number in spot.table.items()
        ],
        "disagreements": [
            {
                "memory": pair[0], "unit": pair[1], "judge": one.label, "checker": other.label,
                "judge_reason": one.reason, "checker_reason": other.reason,
            }
            for pair, (one, other) in sorted(spot.cells.items(), key=lambda item: item[0])
            if one.label != other.label
        ],
    }  # fmt: skip


def model_manifest(
    plan: Plan, recipe: ModelRecipe, parameters: ModelParameters, entries: Sequence[dict[str, Any]],
    builds: Sequence[ModelBuilt], ledger: SessionLedger,
) -> dict[str, Any]:  # fmt: skip
    """The whole manifest; nothing in it depends on when or where the build ran."""
    irregular = [one for built in builds for one in built.draft.loaded.irregularities]
    packages = [built.package for built in builds]
    counts = Counter[str]()
    for one in entries:
        counts.update(one["counts"])
        counts["queries_without_units"] += one["queries_without_units"]
    return {
        "format": FORMAT,
        "version": VERSION,
        "memaudit": version("memaudit"),
        "method": METHOD,
        "dataset": {
            "name": plan.job.path.name, "format": recipe.format, "sha256": plan.sha256,
        },
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost_rule": recipe.cost_rule,
        "models": recipe.models,
        "parameters": parameters.to_json(),
        "prompts": [pass_prompt(name).to_json() for name in PROMPTS],
        "passes": views_json(),
        "settings": settings_of(recipe),
        "adjudication": _adjudication(recipe, entries),
        "spot_check": _spot(recipe, builds),
        "usage": usage_json(sum(ledger.usage.values(), Usage())),
        "counts": {"packages": len(entries), **dict(sorted(counts.items()))},
        "statuses": _counted(str(one["status"]) for one in entries),
        "candidates_by_kind": _counted(
            one.kind for package in packages for one in package.candidates
        ),
        "coverage_by_provenance": _provenances(packages),
        "irregularity_counts": _counted(one.what for one in irregular),
        "irregularities": [asdict(one) for one in irregular],
        "packages": list(entries),
    }  # fmt: skip


def settings_of(recipe: ModelRecipe) -> dict[str, Any]:
    """What was chosen besides models."""
    return {
        "group_cap": recipe.group_cap, "judge_raw": recipe.judge_raw, "frame": recipe.frame,
        "spot_share": plain(recipe.spot_share), "seed": recipe.seed,
    }  # fmt: skip


def _adjudication(recipe: ModelRecipe, entries: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """How many questions were accepted, corrected, ambiguous and rejected."""
    if recipe.adjudicator is None:
        return None
    total = {status: sum(one["queries"][status] for one in entries) for status in QUERY_STATUSES}
    return {"model": recipe.adjudicator, "queries": total}


def _spot(recipe: ModelRecipe, builds: Iterable[ModelBuilt]) -> dict[str, Any] | None:
    """All samples together."""
    spots = [built.draft.spot for built in builds if built.draft.spot is not None]
    if recipe.checker is None:
        return None
    cells = sum(len(spot.cells) for spot in spots)
    table: Counter[tuple[str, str]] = Counter()
    for spot in spots:
        table.update(spot.table)
    same = sum(number for (one, other), number in table.items() if one == other)
    return {
        "model": recipe.checker, "cells": cells, "same": same,
        "undecided": sum(spot.undecided for spot in spots),
        "labels": [
            {"judge": one, "checker": other, "cells": number}
            for (one, other), number in sorted(table.items())
        ],
    }  # fmt: skip


def _provenances(packages: Iterable[Package]) -> dict[str, Any]:
    rows = Counter(row.provenance or "" for package in packages for row in package.coverage)
    return {
        name: {
            "rows": number, "exact": is_exact(name), "rule": _RULES.get(name, "judged by a model"),
        }
        for name, number in sorted(rows.items())
    }  # fmt: skip


def _counted(whats: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(whats).items()))


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
