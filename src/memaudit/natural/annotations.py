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
from memaudit.natural.candidates import Offer, extracts, shipped, update_offers
from memaudit.natural.coverage_rules import covered
from memaudit.natural.evidence import Evidence, gold
from memaudit.natural.label_files import NO_LABELS, Labels
from memaudit.natural.label_fitting import Cells, Fitting, Misfits
from memaudit.natural.label_passes import CONVERSATION, FIELD, LISTED, SESSION, LabelPass, packed
from memaudit.natural.transcript import Transcript, experiences, split

METHOD = "annotations"
NO_UPDATES = frozenset({"locomo"})
"""Formats that label no updates: nothing could be credited with recording one."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to build: the dataset's format, the rule for costs, and people's own labels."""

    format: str
    cost_rule: str = "words"
    labels: Labels = NO_LABELS

    @property
    def makes_updates(self) -> bool:
        """Whether tombstones and compound updates are offered; people's own take their place."""
        own = self.labels.units is not None or self.labels.memories is not None
        return self.format not in NO_UPDATES and not own

    def __post_init__(self) -> None:
        if self.cost_rule == DECLARED:
            raise MemAuditError(
                "a build measures its costs; choose a rule: words, bytes or tokens:NAME"
            )
        cost_rule(self.cost_rule)


@dataclass(frozen=True, slots=True)
class Built:
    """A package, and what was not as it should be on the way."""

    package: Package
    irregularities: tuple[Irregularity, ...]
    misfits: Misfits
    homeless: tuple[str, ...]
    repeated: int


def build(loaded: LoadedConversation, recipe: Recipe) -> Built:
    """The package of a conversation."""
    conversation, labels = loaded.conversation, recipe.labels
    transcript, questions = split(conversation, recipe.format)
    misfits = Misfits()
    fitting = Fitting(conversation.id, transcript, questions, misfits)
    offers, steps, homeless = _offers(transcript, recipe, fitting)
    offers, repeated = _distinct(offers)
    evidence, queries = (
        gold(transcript, questions) if labels.units is None else fitting.units(labels.units)
    )
    passes = _passes(fitting, labels, offers, evidence)
    rows = covered(offers, evidence, passes[0] if passes else {})
    attributes = {}
    if passes:
        frame, judged = _frame(labels, offers, evidence, passes, transcript)
        kept = [
            LabelPass(
                file.name, file.sha256,
                {at: (row.value, row.rationale or "") for at, row in cells.items() if row.value},
            )
            for file, cells in zip(labels.passes, passes, strict=True)
        ]  # fmt: skip
        attributes[FIELD] = packed(frame, judged, kept)
    measure = cost_rule(recipe.cost_rule)
    package = Package(
        name=conversation.id,
        experiences=tuple(experiences(transcript, steps)),
        candidates=tuple(
            Candidate(
                id=one.id, experience=one.experience, kind=one.kind, text=one.text,
                cost=Fraction(measure(one.text)), confidence=one.confidence,
                generator=one.generator,
            )
            for one in offers
        ),
        units=tuple(one.unit for one in evidence),
        queries=tuple(queries),
        coverage=tuple(rows),
        cost_rule=recipe.cost_rule,
        attributes={"method": METHOD, "format": recipe.format, **attributes},
    )  # fmt: skip
    return Built(package, loaded.irregularities, misfits, homeless, repeated)


def _offers(
    transcript: Transcript, recipe: Recipe, fitting: Fitting
) -> tuple[list[Offer], list[tuple[str, str]], tuple[str, ...]]:
    """Extracts, updates, and people's memories or else what the dataset ships."""
    offers = list(extracts(transcript))
    if recipe.makes_updates:
        offers += update_offers(transcript)
    memories = recipe.labels.memories
    if memories is None:
        found = shipped(transcript)
        return offers + list(found.offers), [], found.homeless
    brought, steps = fitting.memories(memories, judged=bool(recipe.labels.passes))
    return offers + brought, steps, ()


def _distinct(offers: Sequence[Offer]) -> tuple[list[Offer], int]:
    """The offers without those whose text their group already has, and how many those were.

    What people labelled stays: its id stands in their files.
    """
    seen: set[tuple[str, str]] = set()
    ids: Counter[str] = Counter()
    kept: list[Offer] = []
    for one in offers:
        key = one.experience, one_line(one.text)
        if key in seen and not one.generator.startswith("labels:"):
            continue
        seen.add(key)
        ids[one.id] += 1
        kept.append(one)
    if twice := sorted(id for id, count in ids.items() if count > 1):
        raise MemAuditError(f"two candidates would be called {twice[0]!r}; rename the memory")
    return kept, len(offers) - len(kept)


def _passes(
    fitting: Fitting, labels: Labels, offers: Sequence[Offer], evidence: Sequence[Evidence]
) -> list[Cells]:
    """The cells of every pass."""
    candidates = {one.id for one in offers}
    units = {one.unit.id for one in evidence}
    listed = [] if labels.memories is None else labels.memories.of(fitting.name)
    left_out = {row.text("memory_id") for row in listed} - candidates
    return [fitting.cells(file, candidates, units, left_out) for file in labels.passes]


def _frame(
    labels: Labels, offers: Sequence[Offer], evidence: Sequence[Evidence], passes: Sequence[Cells],
    transcript: Transcript,
) -> tuple[str, int]:  # fmt: skip
    """Which cells a pass judged, and how many they are.

    Memories and units that people place in sessions are judged session by session.
    """
    judged = [one for one in offers if one.judged]
    if not judged:
        return LISTED, len({at for cells in passes for at in cells})
    rows = labels.units.rows if labels.units is not None else ()
    if not rows or any(row.optional("session") is None for row in rows):
        return CONVERSATION, len(judged) * len(evidence)
    home = {turn.id: turn.session for turn in transcript.turn.values()}
    by_session = Counter(one.session for one in evidence)
    return SESSION, sum(by_session[home.get(one.experience) or one.about or ""] for one in judged)
