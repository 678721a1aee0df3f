"""All passes in order: conversations in, a folder of packages out."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from memaudit.building.build_folder import (
    MANIFEST,
    file_name,
    refuse_an_empty_build,
    refuse_other_builds,
    write_if_new,
)
from memaudit.building.build_plan import BuildJob, plan_build
from memaudit.building.passes.adjudication import RequirementProposal, adjudicate, make_rulings
from memaudit.building.passes.assemble import METHOD, ConversationDraft, ModelBuild, assemble
from memaudit.building.passes.manifest import model_manifest, package_entry, prompts_of, settings_of
from memaudit.building.passes.memories import STAGE as MEMORIES
from memaudit.building.passes.memories import find_memories
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.building.passes.requirements import find_requirements
from memaudit.building.passes.units import find_units
from memaudit.conversations.records import LoadedConversation
from memaudit.judges.model_judge import judge_pairs, spot_check
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.strict_json import json_text
from memaudit.models.request import canonical_json
from memaudit.models.session import ModelSession
from memaudit.workspace.run_folder import locked


def build_with_model(
    conversations: Iterable[LoadedConversation], recipe: ModelRecipe, session: ModelSession
) -> list[ModelBuild]:
    """The package of each conversation, pass by pass.

    With a batch queue, a pass without answers stops the build with Waiting, and the next run
    takes everything before it from the cache. Units and requirements are adjudicated before
    coverage is judged, so the judge sees the statements of the final package.
    """
    drafts = {
        loaded.conversation.id: ConversationDraft.of(loaded, recipe.format)
        for loaded in conversations
    }
    _generate(drafts, recipe, session)
    _require(drafts, recipe, session)
    wanted = {name: draft.pairs(recipe.judge_raw, recipe.frame) for name, draft in drafts.items()}
    judged = judge_pairs(wanted, session, recipe.coverage_judge)
    for name, draft in drafts.items():
        draft.cells = judged[name]
    if recipe.checker is not None:
        checks = spot_check(judged, session, recipe.checker, recipe.spot_share, recipe.seed)
        for name, draft in drafts.items():
            draft.spot = checks[name]
    return [ModelBuild(assemble(draft, recipe), draft) for draft in drafts.values()]


def _generate(
    drafts: dict[str, ConversationDraft], recipe: ModelRecipe, session: ModelSession
) -> None:
    """Memories and units from sources alone; in a batch they wait together."""
    sources = {name: draft.source for name, draft in drafts.items()}
    memories = find_memories(sources, session, recipe.model, hold=True)
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
    used = {"models": own.models, "settings": settings_of(own), "prompts": prompts_of()}
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
        rows = [row.to_json() for built in builds for row in session.ledger.of(built.draft.name)]
        write_file(out / FAILURES, "".join(canonical_json(row) + "\n" for row in rows))
        data = model_manifest(plan, own, session.parameters, entries, builds, session.ledger)
        write_file(out / MANIFEST, json_text(data, indent=2) + "\n")
    return {**data, "kept": existing}
