"""One package from one annotated conversation, with no model."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.building.candidates import Offer, dataset_offers, extracts, update_offers
from memaudit.building.coverage_rules import coverage_rows
from memaudit.building.evidence import LocatedUnit, gold_evidence, point_evidence
from memaudit.building.label_fitting import LabelFitting, LabelledCells, Misfits
from memaudit.building.label_passes import (
    CONVERSATION,
    LISTED,
    SESSION,
    CellKey,
    LabelPass,
    label_passes_json,
)
from memaudit.building.transcript import (
    BY_TURN,
    Transcript,
    check_group,
    experiences,
    grouped,
    split_conversation,
)
from memaudit.conversations.records import Irregularity, LoadedConversation
from memaudit.judges.label_files import NO_LABELS, Labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import DECLARED, cost_rule
from memaudit.kernel.package.equal_texts import DistinctTexts, distinct_texts
from memaudit.kernel.package.labels import LABEL_PASSES
from memaudit.kernel.package.package import Candidate, Package
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.kernel.words.text import one_line

METHOD = "annotations"
NO_UPDATES = frozenset({"locomo"})
"""Formats that label no updates, so that no candidate could get credit for recording one."""


def check_measured(rule: str) -> None:
    """Refuse a cost rule that measures nothing."""
    if rule == DECLARED:
        raise MemAuditError(
            "a build measures its costs; choose a rule: words, unicode_words, bytes or tokens:NAME"
        )
    cost_rule(rule)


@dataclass(frozen=True, slots=True)
class AnnotationRecipe:
    """How to build: the dataset's format, the cost rule, and the user's own labels."""

    format: str
    cost_rule: str = "words"
    labels: Labels = NO_LABELS
    group: str = BY_TURN

    @property
    def makes_updates(self) -> bool:
        """Whether tombstones and compound updates are offered; own labels replace them."""
        own = self.labels.units is not None or self.labels.memories is not None
        return self.format not in NO_UPDATES and not own

    def __post_init__(self) -> None:
        check_group(self.group)
        check_measured(self.cost_rule)


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
    # Before units and coverage, so that no rule decides twice about one text.
    offers, repeated = _distinct(offers)
    if labels.units is not None:
        evidence, queries = fitting.units(labels.units)
    elif conversation.memory_points:
        evidence, queries = point_evidence(transcript, conversation.memory_points, questions)
    else:
        evidence, queries = gold_evidence(transcript, questions)
    passes = _passes(fitting, labels, offers, evidence)
    rows = coverage_rows(offers, evidence, passes[0] if passes else {})
    measure = cost_rule(recipe.cost_rule)
    candidates = [
        Candidate(
            id=offer.id,
            experience=offer.experience,
            kind=offer.kind,
            text=offer.text,
            cost=Fraction(measure(offer.text, offer.kind)),
            confidence=offer.confidence,
            generator=offer.generator,
        )
        for offer in offers
    ]
    stream = experiences(transcript, steps)
    tables = distinct_texts(*grouped(stream, candidates, recipe.group), rows)
    attributes = {}
    if passes:
        frame, judged = _frame(labels, offers, evidence, passes, tables)
        label_sets = [
            LabelPass(
                file.name,
                file.sha256,
                _once(cells, tables.stands_for),
            )
            for file, cells in zip(labels.passes, passes, strict=True)
        ]
        attributes[LABEL_PASSES] = label_passes_json(frame, judged, label_sets)
    package = Package(
        name=conversation.id,
        experiences=tables.experiences,
        candidates=tables.candidates,
        units=tuple(unit for located in evidence for unit in located.units),
        queries=tuple(queries),
        coverage=tables.coverage,
        cost_rule=recipe.cost_rule,
        equal_texts_once=True,
        attributes={"method": METHOD, "format": recipe.format, **attributes},
    )
    repeated += len(tables.stands_for)
    return AnnotatedBuild(package, loaded.irregularities, misfits, unplaced, repeated)


def _once(
    cells: LabelledCells, stands_for: Mapping[str, str]
) -> dict[CellKey, tuple[Fraction, str]]:
    """The cells above 0, those of copies at the candidate that stands for them."""
    once: dict[CellKey, tuple[Fraction, str]] = {}
    for (candidate, unit), row in cells.items():
        at = stands_for.get(candidate, candidate), unit
        if row.value > once.get(at, (Fraction(0), ""))[0]:
            once[at] = row.value, row.rationale or ""
    return once


def _offers(
    transcript: Transcript, recipe: AnnotationRecipe, fitting: LabelFitting
) -> tuple[list[Offer], list[tuple[str, str]], tuple[str, ...]]:
    """Extracts, updates, and labelled memories or else those of the dataset.

    Labels that list extracts list all that count: the others are left out.
    """
    offers = list(extracts(transcript))
    if recipe.makes_updates:
        offers += update_offers(transcript)
    memories = recipe.labels.memories
    if memories is None:
        shipped = dataset_offers(transcript)
        return offers + list(shipped.offers), [], shipped.unplaced
    labelled, steps = fitting.memories(memories, bool(recipe.labels.passes), offers)
    listed = {offer.id for offer in labelled}
    # Then a pass judged exactly these extracts; the others have no labels and would count as zeros.
    if any(offer.id in listed for offer in offers):
        offers = []
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
    units = {whole.id: whole for located in evidence for whole in whole_units(located.units)}
    listed = [] if labels.memories is None else labels.memories.of(fitting.name)
    left_out = {row.text("memory_id") for row in listed} - candidates
    return [fitting.cells(file, candidates, units, left_out) for file in labels.passes]


def _frame(
    labels: Labels,
    offers: Sequence[Offer],
    evidence: Sequence[LocatedUnit],
    passes: Sequence[LabelledCells],
    tables: DistinctTexts,
) -> tuple[str, int]:
    """Which cells a pass judged, and how many.

    Memories and units that are labelled with sessions are judged session by session.
    """
    judged = {offer.id for offer in offers if offer.judged}
    if not judged:
        listed = {(tables.stands_for.get(id, id), unit) for cells in passes for id, unit in cells}
        return LISTED, len(listed)
    memories = [candidate for candidate in tables.candidates if candidate.id in judged]
    rows = labels.units.rows if labels.units is not None else ()
    if not rows or any(row.optional("session") is None for row in rows):
        return CONVERSATION, len(memories) * sum(len(located.units) for located in evidence)
    home = {experience.id: experience.session for experience in tables.experiences}
    by_session = Counter(located.session for located in evidence for _ in located.units)
    return SESSION, sum(by_session[home[memory.experience]] for memory in memories)
