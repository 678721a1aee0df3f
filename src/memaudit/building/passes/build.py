"""All passes in order: conversations in, a folder of packages and its manifest out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from memaudit.building.build_folder import (
    MANIFEST,
    BuildJob,
    BuildPlan,
    by_provenance,
    counted,
    file_name,
    manifest_head,
    plan_build,
    refuse_an_empty_build,
    refuse_other_builds,
    summary_row,
    write_if_new,
)
from memaudit.building.label_passes import CONVERSATION
from memaudit.building.passes.adjudication import (
    QUERY_STATUSES,
    RequirementProposal,
    adjudicate,
    make_rulings,
)
from memaudit.building.passes.assemble import (
    METHOD,
    QUOTE,
    UNDECIDED,
    ConversationDraft,
    ModelBuild,
    assemble,
)
from memaudit.building.passes.memories import STAGE as MEMORIES
from memaudit.building.passes.memories import find_memories
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.building.passes.requirements import find_requirements
from memaudit.building.passes.units import find_units
from memaudit.conversations.records import LoadedConversation
from memaudit.judges.model_judge import SPOT_CHECK_SHARE, SpotCheck, judge_pairs, spot_check
from memaudit.kernel.exact import plain
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.strict_json import json_text
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES
from memaudit.models.prompts import PROMPTS, pass_prompt
from memaudit.models.request import ModelParameters, Usage, canonical_json
from memaudit.models.session import ModelSession, SessionLedger, usage_json
from memaudit.workspace.run_folder import locked

_RULES = {QUOTE: "the raw turn holds the unit's quote, which was found in it word for word"}


def package_entry(built: ModelBuild, file: str, ledger: SessionLedger) -> dict[str, Any]:
    """The manifest's entry for a package."""
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
        "queries_without_units": sum(not query.required for query in package.queries),
        "units": {
            "required": len(draft.rulings.required),
            "requoted": sum(unit.requoted for unit in draft.units.items),
            "reworded": len(draft.rulings.rewrites),
        },
        "cells": {
            "judged": sum(cell is not None for cell in draft.cells.values()),
            "undecided": labels[UNDECIDED],
            "by_quote": sum(row.provenance == QUOTE for row in package.coverage),
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


def spot_json(spot: SpotCheck) -> dict[str, Any]:
    agreement = spot.agreement
    return {
        "cells": len(spot.cells),
        "undecided": spot.undecided,
        "agreement": None if agreement is None else plain(agreement),
        "labels": [
            {"judge": judge, "checker": checker, "cells": number}
            for (judge, checker), number in spot.table.items()
        ],
        "disagreements": [
            {
                "memory": pair[0],
                "unit": pair[1].text,
                "judge": judge.label,
                "checker": checker.label,
                "judge_reason": judge.reason,
                "checker_reason": checker.reason,
            }
            for pair, (judge, checker) in sorted(spot.cells.items(), key=lambda item: item[0])
            if judge.label != checker.label
        ],
    }


def model_manifest(
    plan: BuildPlan,
    recipe: ModelRecipe,
    parameters: ModelParameters,
    entries: Sequence[dict[str, Any]],
    builds: Sequence[ModelBuild],
    ledger: SessionLedger,
) -> dict[str, Any]:
    """The manifest. Nothing in it depends on when or where the build ran."""
    irregular = [row for built in builds for row in built.draft.loaded.irregularities]
    packages = [built.package for built in builds]
    counts = Counter[str]()
    for entry in entries:
        counts.update(entry["counts"])
        counts["queries_without_units"] += entry["queries_without_units"]
    return {
        **manifest_head(plan, METHOD),
        "models": recipe.models,
        "parameters": parameters.to_json(),
        "prompts": prompts_of(),
        "settings": SETTINGS,
        "adjudication": _adjudication(recipe, entries),
        "spot_check": _spot(recipe, builds),
        "usage": usage_json(sum(ledger.usage.values(), Usage())),
        "counts": {"packages": len(entries), **dict(sorted(counts.items()))},
        "statuses": counted(str(entry["status"]) for entry in entries),
        "candidates_by_kind": counted(
            candidate.kind for package in packages for candidate in package.candidates
        ),
        "coverage_by_provenance": by_provenance(
            counted(row.provenance or "" for package in packages for row in package.coverage),
            _RULES,
            "judged by a model",
        ),
        "irregularity_counts": counted(row.what for row in irregular),
        "irregularities": [asdict(row) for row in irregular],
        "packages": list(entries),
    }


def prompts_of() -> list[dict[str, str | int]]:
    return [pass_prompt(name).to_json() for name in PROMPTS]


SETTINGS = {
    "group_cap": 1,
    "judge_raw": True,
    "frame": CONVERSATION,
    "spot_share": plain(SPOT_CHECK_SHARE),
    "seed": 0,
}
"""What MemAudit 0.1 let people choose; a folder built with other choices is another build."""


def _adjudication(recipe: ModelRecipe, entries: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    if recipe.adjudicator is None:
        return None
    queries = {
        status: sum(entry["queries"][status] for entry in entries) for status in QUERY_STATUSES
    }
    return {"model": recipe.adjudicator, "queries": queries}


def _spot(recipe: ModelRecipe, builds: Iterable[ModelBuild]) -> dict[str, Any] | None:
    spots = [built.draft.spot for built in builds if built.draft.spot is not None]
    if recipe.checker is None:
        return None
    cells = sum(len(spot.cells) for spot in spots)
    table: Counter[tuple[str, str]] = Counter()
    for spot in spots:
        table.update(spot.table)
    same = sum(number for (judge, checker), number in table.items() if judge == checker)
    return {
        "model": recipe.checker,
        "cells": cells,
        "same": same,
        "undecided": sum(spot.undecided for spot in spots),
        "labels": [
            {"judge": judge, "checker": checker, "cells": number}
            for (judge, checker), number in sorted(table.items())
        ],
    }


def build_summary(manifest: dict[str, Any], out: Path) -> list[str]:
    """What was built, how it was judged and what failed, as lines of text."""
    counts = manifest["counts"]
    existing = f", {manifest['kept']} of them already existed" if manifest.get("kept") else ""
    number = counts["packages"]
    lines = [f"{number} package{'s'[: number != 1]} in {out}{existing}"]
    lines += [summary_row(number, status, 1) for status, number in manifest["statuses"].items()]
    lines += [
        summary_row(counts.get(name, 0), name) for name in ("experiences", "candidates", "units")
    ]
    lines.append(summary_row(counts.get("queries", 0), "queries"))
    for status, number in _summed(manifest, "queries").items():
        if number:
            lines.append(summary_row(number, status, 1))
    lines.append(summary_row(counts.get("coverage", 0), "coverage rows"))
    for name, part in manifest["coverage_by_provenance"].items():
        lines.append(summary_row(part["rows"], name, 1))
    cells = _summed(manifest, "cells")
    if cells["undecided"]:
        lines.append(summary_row(cells["undecided"], "cells undecided", 1))
    if (spot := manifest["spot_check"]) is not None:
        lines.append(summary_row(spot["cells"], f"cells judged again by {spot['model']}"))
        lines.append(summary_row(spot["same"], "with the same label", 1))
    for title, field in (("replies failed", "failures"), ("items refused", "rejections")):
        counts_by_kind = _by_kind(manifest, field)
        if counts_by_kind:
            lines.append(summary_row(counts_by_kind.total(), title))
            lines += [
                summary_row(number, what, 1) for what, number in sorted(counts_by_kind.items())
            ]
    return lines


def _summed(manifest: dict[str, Any], field: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for entry in manifest["packages"]:
        total.update(entry[field])
    return total


def _by_kind(manifest: dict[str, Any], field: str) -> Counter[str]:
    """By pass and kind, over all packages."""
    total: Counter[str] = Counter()
    for entry in manifest["packages"]:
        for stage, kinds in entry[field].items():
            total.update({f"{stage}: {kind}": number for kind, number in kinds.items()})
    return total


def build_with_model(
    conversations: Iterable[LoadedConversation], recipe: ModelRecipe, session: ModelSession
) -> list[ModelBuild]:
    """The package of each conversation, pass by pass.

    Units and requirements are adjudicated before coverage is judged, so the judge sees the
    statements of the final package.
    """
    drafts = {
        loaded.conversation.id: ConversationDraft.of(loaded, recipe.format)
        for loaded in conversations
    }
    _generate(drafts, recipe, session)
    _require(drafts, recipe, session)
    wanted = {name: draft.pairs() for name, draft in drafts.items()}
    judged = judge_pairs(wanted, session, recipe.coverage_judge)
    for name, draft in drafts.items():
        draft.cells = judged[name]
    if recipe.checker is not None:
        checks = spot_check(judged, session, recipe.checker)
        for name, draft in drafts.items():
            draft.spot = checks[name]
    return [ModelBuild(assemble(draft, recipe), draft) for draft in drafts.values()]


def _generate(
    drafts: dict[str, ConversationDraft], recipe: ModelRecipe, session: ModelSession
) -> None:
    """Memories and units from sources alone."""
    sources = {name: draft.source for name, draft in drafts.items()}
    memories = find_memories(sources, session, recipe.model)
    units = find_units(sources, session, recipe.model)
    for name, draft in drafts.items():
        draft.memories, draft.units = memories[name], units[name]
        for memory in draft.repeats:
            detail = f"at turn {memory.turn}: {memory.text}"
            session.ledger.refuse(name, MEMORIES, "repeats its turn", detail)


def _require(
    drafts: dict[str, ConversationDraft], recipe: ModelRecipe, session: ModelSession
) -> None:
    """What each question requires, checked by an adjudicator if there is one."""
    shown = {name: draft.shown_units for name, draft in drafts.items()}
    asked = {name: (draft.questions, shown[name]) for name, draft in drafts.items()}
    requirements = find_requirements(asked, session, recipe.model)
    verdicts = None
    if recipe.adjudicator is not None:
        proposals = {
            (name, question.id): RequirementProposal(question, requirement, shown[name])
            for name, draft in drafts.items()
            for question in draft.questions
            if (requirement := requirements[name, question.id]) is not None
        }
        verdicts = adjudicate(proposals, session, recipe.adjudicator)
    for name, draft in drafts.items():
        ids = [question.id for question in draft.questions]
        draft.rulings = make_rulings(
            draft.questions,
            {id: requirements[name, id] for id in ids},
            None if verdicts is None else {id: verdicts.get((name, id)) for id in ids},
        )


FAILURES = "failures.jsonl"
"""Replies that never validated, with their raw text, and refused items of replies."""


def build_into_with_model(
    job: BuildJob, recipe: ModelRecipe, session: ModelSession, out: Path
) -> dict[str, Any]:
    """Build every package into a folder. The manifest is written last and covers all of them.

    The job's format, cost rule and group take precedence over the recipe's. Nothing is written
    before all passes are complete; until then all answers are in the cache.
    """
    plan = plan_build(job)
    own = replace(
        recipe,
        format=plan.recipe.format,
        cost_rule=plan.recipe.cost_rule,
        group=plan.recipe.group,
    )
    used = {"models": own.models, "settings": SETTINGS, "prompts": prompts_of()}
    refuse_other_builds(out, plan, METHOD, used)
    with locked(out):
        refuse_other_builds(out, plan, METHOD, used)  # one may have finished meanwhile
        builds = build_with_model(plan.loaded(), own, session)
        if not builds:
            refuse_an_empty_build(job.path)
        existing = 0
        entries = []
        for built in builds:
            file = file_name(built.package.name)
            existing += not write_if_new(built.package, out / file)
            entries.append(package_entry(built, file, session.ledger))
        # In order of packages and not of arrival, so that the file is the same in every run.
        rows = [row.to_json() for built in builds for row in session.ledger.of(built.draft.name)]
        write_file(out / FAILURES, "".join(canonical_json(row) + "\n" for row in rows))
        data = model_manifest(plan, own, session.parameters, entries, builds, session.ledger)
        write_file(out / MANIFEST, json_text(data, indent=2) + "\n")
    return {**data, "kept": existing}
