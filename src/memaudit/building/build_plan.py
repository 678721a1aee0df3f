"""What a build reads and in which order: the job, checked against its files."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from memaudit.building.annotations import AnnotatedBuild, AnnotationRecipe, build_package
from memaudit.building.transcript import BY_TURN
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import guess_format, iter_conversations
from memaudit.conversations.subset import Subset, apply_subset, read_subset
from memaudit.conversations.transcripts import dataset_hash
from memaudit.judges.label_files import NO_LABELS, Labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import WORDS, default_rule


@dataclass(frozen=True, slots=True)
class BuildJob:
    path: Path
    format: str | None = None
    subset: Path | None = None
    conversations: tuple[str, ...] = ()
    cost_rule: str | None = None
    """The one that counts the words of the conversations, if not given."""
    labels: Labels = NO_LABELS
    group: str = BY_TURN
    """What candidates compete within."""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A job with what its files contain."""

    job: BuildJob
    recipe: AnnotationRecipe
    sha256: str
    subset: Subset | None

    def loaded(self) -> Iterator[LoadedConversation]:
        """The selected conversations; one that is not in the file is an error."""
        seen: set[str] = set()
        wanted = set(self.job.conversations)
        conversations = (
            iter_conversations(self.job.path, self.recipe.format)
            if self.subset is None
            else apply_subset(self.subset, self.job.path)
        )
        for loaded in conversations:
            if not wanted or loaded.conversation.id in wanted:
                seen.add(loaded.conversation.id)
                yield loaded
        if missing := sorted(wanted - seen):
            raise MemAuditError(f"{self.job.path.name}: has no conversation {missing[0]!r}")

    def built(self) -> Iterator[AnnotatedBuild]:
        return (build_package(loaded, self.recipe) for loaded in self.loaded())


def plan_build(job: BuildJob) -> BuildPlan:
    """Read what must be known before the first package is built."""
    subset = None if job.subset is None else read_subset(job.subset)
    format = subset.dataset_format if subset is not None else job.format or guess_format(job.path)
    if subset is not None and job.format not in (None, format):
        raise MemAuditError(f"the subset is of format {format!r}, not {job.format!r}")
    plan = BuildPlan(
        job,
        AnnotationRecipe(format, job.cost_rule or WORDS, job.labels, job.group),
        dataset_hash(job.path),
        subset,
    )
    if job.cost_rule is None:
        recipe = replace(plan.recipe, cost_rule=default_rule(_first_texts(plan)))
        plan = replace(plan, recipe=recipe)
    row = job.labels.without_conversation
    if row is not None and len(list(islice(plan.loaded(), 2))) > 1:
        raise row.wrong(
            "names no conversation, but several are built; add the field 'conversation' or "
            "build one of them"
        )
    return plan


FIRST_CHARACTERS = 1_000_000
"""The rule that counts words is decided on so much of the conversations."""


def _first_texts(plan: BuildPlan) -> Iterator[str]:
    seen = 0
    with suppress(MemAuditError):  # the build itself says what is wrong with the file
        for loaded in plan.loaded():
            for turn in loaded.conversation.turns:
                seen += len(turn.text)
                yield turn.text
            if seen >= FIRST_CHARACTERS:
                return
