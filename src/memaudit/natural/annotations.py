"""One package from one annotated conversation, with no model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.cost import DECLARED, cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Candidate, Package
from memaudit.core.text import one_line
from memaudit.datasets.irregularities import Irregularity, LoadedConversation
from memaudit.natural.candidates import Offer, dataset_offers, extracts, update_offers
from memaudit.natural.coverage_rules import coverage_rows
from memaudit.natural.evidence import LocatedUnit, gold_evidence
from memaudit.natural.label_files import NO_LABELS, Labels
from memaudit.natural.label_fitting import LabelFitting, LabelledCells, Misfits
from memaudit.natural.label_passes import (
    CONVERSATION,
    FIELD,
    LISTED,
    SESSION,
    LabelPass,
    label_passes_json,
)
from memaudit.natural.transcript import Transcript, experiences, split_conversation

METHOD = "annotations"
NO_UPDATES = frozenset({"locomo"})
"""Formats that label no updates, so that no candidate could get credit for recording one."""


@dataclass(frozen=True, slots=True)
class AnnotationRecipe:
    """How to build: the dataset's format, the cost rule, and the user's own labels."""

    format: str
    cost_rule: str = "words"
    labels: Labels = NO_LABELS

    @property
    def makes_updates(self) -> bool:
        """Whether tombstones and compound updates are offered; own labels replace them."""
        own = self.labels.units is not None or self.labels.memories is not None
        return self.format not in NO_UPDATES and not own

    def __post_init__(self) -> None:
        if self.cost_rule == DECLARED:
            raise MemAuditError(
                "a build measures its costs; choose a rule: words, bytes or tokens:NAME"
            )
        cost_rule(self.cost_rule)


@dataclass(frozen=True, slots=True)
class AnnotatedBuild:
    """A package and the problems found while building it."""

    package: Package
    irregularities: tuple[Irregularity, ...]
    misfits: Misfits
    unplaced: tuple[str, ...]
    repeated: int


def build_package(loaded: LoadedConversation, recipe: AnnotationRecipe) -> AnnotatedBuild:
    conversation, labels = loaded.conversation, recipe.labels
    transcript, questions = split_conversation(conversation, recipe.format)
    misfits = Misfits()
    fitting = LabelFitting(conversation.id, transcript, questions, misfits)
    offers, steps, unplaced = _offers(transcript, recipe, fitting)
    offers, repeated = _distinct(offers)
    evidence, queries = (
        gold_evidence(transcript, questions)
        if labels.units is None
        else fitting.units(labels.units)
    )
    passes = _passes(fitting, labels, offers, evidence)
    rows = coverage_rows(offers, evidence, passes[0] if passes else {})
    attributes = {}
    if passes:
        frame, judged = _frame(labels, offers, evidence, passes, transcript)
        label_sets = [
            LabelPass(
                file.name, file.sha256,
                {at: (row.value, row.rationale or "") for at, row in cells.items() if row.value},
            )
            for file, cells in zip(labels.passes, passes, strict=True)
        ]  # fmt: skip
        attributes[FIELD] = label_passes_json(frame, judged, label_sets)
    measure = cost_rule(recipe.cost_rule)
    package = Package(
        name=conversation.id,
        experiences=tuple(experiences(transcript, steps)),
        candidates=tuple(
            Candidate(
                id=offer.id, experience=offer.experience, kind=offer.kind, text=offer.text,
                cost=Fraction(measure(offer.text)), confidence=offer.confidence,
                generator=offer.generator,
            )
            for offer in offers
        ),
        units=tuple(located.unit for located in evidence),
        queries=tuple(queries),
        coverage=tuple(rows),
        cost_rule=recipe.cost_rule,
        attributes={"method": METHOD, "format": recipe.format, **attributes},
    )  # fmt: skip
    return AnnotatedBuild(package, loaded.irregularities, misfits, unplaced, repeated)


def _offers(
    transcript: Transcript, recipe: AnnotationRecipe, fitting: LabelFitting
) -> tuple[list[Offer], list[tuple[str, str]], tuple[str, ...]]:
    """Extracts, updates, and labelled memories or else those of the dataset."""
    offers = list(extracts(transcript))
    if recipe.makes_updates:
        offers += update_offers(transcript)
    memories = recipe.labels.memories
    if memories is None:
        shipped = dataset_offers(transcript)
        return offers + list(shipped.offers), [], shipped.unplaced
    labelled, steps = fitting.memories(memories, judged=bool(recipe.labels.passes))
    return offers + labelled, steps, ()


def _distinct(offers: Sequence[Offer]) -> tuple[list[Offer], int]:
    """The offers without repeated texts in a group, and how many were dropped.

    Labelled memories stay, because label files refer to their ids.
    """
    seen: set[tuple[str, str]] = set()
    ids: Counter[str] = Counter()
    distinct: list[Offer] = []
    for offer in offers:
        key = offer.experience, one_line(offer.text)
        if key in seen and not offer.generator.startswith("labels:"):
            continue
        seen.add(key)
        ids[offer.id] += 1
        distinct.append(offer)
    if twice := sorted(id for id, count in ids.items() if count > 1):
        raise MemAuditError(f"two candidates would be called {twice[0]!r}; rename the memory")
    return distinct, len(offers) - len(distinct)


def _passes(
    fitting: LabelFitting, labels: Labels, offers: Sequence[Offer], evidence: Sequence[LocatedUnit]
) -> list[LabelledCells]:
    candidates = {offer.id for offer in offers}
    units = {located.unit.id for located in evidence}
    listed = [] if labels.memories is None else labels.memories.of(fitting.name)
    left_out = {row.text("memory_id") for row in listed} - candidates
    return [fitting.cells(file, candidates, units, left_out) for file in labels.passes]


def _frame(
    labels: Labels, offers: Sequence[Offer], evidence: Sequence[LocatedUnit],
    passes: Sequence[LabelledCells], transcript: Transcript,
) -> tuple[str, int]:  # fmt: skip
    """Which cells a pass judged, and how many.

    Memories and units that are labelled with sessions are judged session by session.
    """
    judged = [offer for offer in offers if offer.judged]
    if not judged:
        return LISTED, len({at for cells in passes for at in cells})
    rows = labels.units.rows if labels.units is not None else ()
    if not rows or any(row.optional("session") is None for row in rows):
        return CONVERSATION, len(judged) * len(evidence)
    home = {turn.id: turn.session for turn in transcript.turn.values()}
    by_session = Counter(located.session for located in evidence)
    homes = (home.get(offer.experience) or offer.about or "" for offer in judged)
    return SESSION, sum(by_session[session] for session in homes)
