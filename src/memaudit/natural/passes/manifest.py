"""The manifest of a build with models: one entry a package, and what they have in common."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.exact import plain
from memaudit.core.package import TABLES, Package
from memaudit.models.outcome import Usage
from memaudit.models.request import Parameters
from memaudit.natural.building import Plan
from memaudit.natural.heuristics import is_exact
from memaudit.natural.manifest import FORMAT, VERSION
from memaudit.natural.passes.assemble import METHOD, QUOTE, UNDECIDED
from memaudit.natural.passes.build import ModelBuilt
from memaudit.natural.passes.ledger import Ledger, usage_json
from memaudit.natural.passes.prompt import PROMPTS, prompt
from memaudit.natural.passes.recipe import ModelRecipe
from memaudit.natural.passes.rulings import QUERY_STATUSES
from memaudit.natural.passes.spot_check import SpotCheck
from memaudit.natural.passes.views import views_json

_RULES = {QUOTE: "the raw turn holds the unit's quote, which was found in it word for word"}


def package_entry(built: ModelBuilt, file: str, ledger: Ledger) -> dict[str, Any]:
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
    plan: Plan, recipe: ModelRecipe, parameters: Parameters, entries: Sequence[dict[str, Any]],
    builds: Sequence[ModelBuilt], ledger: Ledger,
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
        "prompts": [prompt(name).to_json() for name in PROMPTS],
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
