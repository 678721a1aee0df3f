"""All passes in order: conversations in, packages out."""

from collections.abc import Iterable
from dataclasses import dataclass

from memaudit.core.package import Package
from memaudit.datasets.irregularities import LoadedConversation
from memaudit.models.session import ModelSession
from memaudit.natural.passes.adjudication import Proposal, adjudicate, rule
from memaudit.natural.passes.assemble import Draft, assemble
from memaudit.natural.passes.coverage import judge_pairs, spot_check
from memaudit.natural.passes.memories import STAGE as MEMORIES
from memaudit.natural.passes.memories import find_memories
from memaudit.natural.passes.recipe import ModelRecipe
from memaudit.natural.passes.requirements import Need, find_requirements
from memaudit.natural.passes.units import find_units


@dataclass(frozen=True, slots=True)
class ModelBuilt:
    """A package and the draft it was made from."""

    package: Package
    draft: Draft


def build_with_model(
    conversations: Iterable[LoadedConversation], recipe: ModelRecipe, session: ModelSession
) -> list[ModelBuilt]:
    """The package of each conversation, all of them pass by pass.

    With a batch queue a pass whose answers are not there stops the build with BatchPending; the
    next run takes everything before it from the cache. Units and requirements are adjudicated
    before coverage is judged, so the judge sees the statements that the package holds.
    """
    drafts = {one.conversation.id: Draft.of(one, recipe.format) for one in conversations}
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
    return [ModelBuilt(assemble(draft, recipe), draft) for draft in drafts.values()]


def _generate(drafts: dict[str, Draft], recipe: ModelRecipe, session: ModelSession) -> None:
    """Memories and units, from sources alone; in a batch they wait together."""
    sources = {name: draft.source for name, draft in drafts.items()}
    memories = find_memories(sources, session, recipe.model, hold=True)
    units = find_units(sources, session, recipe.model)
    for name, draft in drafts.items():
        draft.memories, draft.units = memories[name], units[name]
        for one in draft.repeats:
            detail = f"at turn {one.turn}: {one.text}"
            session.ledger.refuse(name, MEMORIES, "repeats its turn", detail)


def _require(drafts: dict[str, Draft], recipe: ModelRecipe, session: ModelSession) -> None:
    """What each question requires, checked by another model where there is one."""
    shown = {name: draft.shown_units for name, draft in drafts.items()}
    asked = {name: (draft.questions, shown[name]) for name, draft in drafts.items()}
    needs = find_requirements(asked, session, recipe.model)
    verdicts = None
    if recipe.adjudicator is not None:
        proposals = {
            (name, question.id): Proposal(question, need, shown[name])
            for name, draft in drafts.items()
            for question in draft.questions
            if (need := needs[name, question.id]) is not None
        }
        verdicts = adjudicate(proposals, session, recipe.adjudicator)
    for name, draft in drafts.items():
        own: dict[str, Need | None] = {one.id: needs[name, one.id] for one in draft.questions}
        draft.rulings = rule(
            draft.questions, own,
            None if verdicts is None else {
                one.id: verdicts.get((name, one.id)) for one in draft.questions
            },
        )  # fmt: skip
