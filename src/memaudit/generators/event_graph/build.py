"""Coverage: the share of an atom's slots that a text states, counted and nothing else."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.core.cost import words
from memaudit.core.errors import MemAuditError
from memaudit.core.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
    Source,
)
from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.parameters import Knobs
from memaudit.generators.event_graph.phrase import Atom, Piece
from memaudit.generators.event_graph.questions import Book
from memaudit.generators.event_graph.stream import Entry, stream

PROVENANCE = "event_graph"


def unit_id(number: int) -> str:
    """The neutral id of an atom's unit."""
    return f"u{number:04d}"


def coverage_rows(candidate: str, piece: Piece, atoms: list[Atom]) -> Iterator[Coverage]:
    """What a candidate states of each atom that it is about."""
    stated: dict[int, dict[str, None]] = {}
    for number, slot in piece.stated:
        stated.setdefault(number, {})[slot] = None
    for number, slots in stated.items():
        names = atoms[number].slots
        missing = [name for name in names if name not in slots]
        said = ", ".join(name for name in names if name in slots)
        yield Coverage(
            candidate=candidate,
            unit=unit_id(number),
            value=Fraction(len(slots), len(names)),
            label="partial" if missing else "full",
            rationale=f"states {said}; omits {', '.join(missing)}" if missing else f"states {said}",
            provenance=PROVENANCE,
        )


BUDGETS = (2, 5, 10, 15)
"""Percent of what all candidates cost together."""

CONFIDENCE = {
    "fact": (80, 99), "event": (80, 99), "edge": (70, 95), "rule": (75, 98), "skill": (75, 98),
    "compound_update": (70, 95), "tombstone": (70, 95), "summary": (55, 85),
}  # fmt: skip
"""Percent, by kind: how sure an extractor is of its reading. Raw text is not a reading."""


def build(knobs: Knobs, seed: int) -> Package:
    """The package of a seed."""
    dice = Dice(seed)
    book, entries = stream(dice, knobs)
    experiences = tuple(_experience(place, entry) for place, entry in enumerate(entries))
    candidates: list[Candidate] = []
    coverage: list[Coverage] = []
    for experience, entry in zip(experiences, entries, strict=True):
        _add_candidates(dice, book, experience.id, entry, candidates, coverage)
    total = sum(candidate.cost for candidate in candidates)
    changed = knobs.changed()
    return Package(
        name=f"event_graph-{seed}",
        experiences=experiences,
        candidates=tuple(candidates),
        units=_units(book, experiences, entries),
        queries=_queries(book),
        coverage=tuple(coverage),
        cost_rule="words",
        budgets=tuple(Fraction(max(1, int(total * share / 100))) for share in BUDGETS),
        attributes={"generator": PROVENANCE, "seed": seed, "knobs": changed},
    )


def _experience(place: int, entry: Entry) -> Experience:
    return Experience(
        id=f"x{place:04d}",
        text=entry.text,
        index=place,
        session=f"s{entry.moment.session:04d}",
        timestamp=entry.moment.time.isoformat(),
        speaker=entry.speaker,
    )


def _add_candidates(
    dice: Dice, book: Book, experience: str, entry: Entry, candidates: list[Candidate],
    coverage: list[Coverage],
) -> None:  # fmt: skip
    """The candidates of one message and what they state, in the order they were offered."""
    counts: dict[str, int] = {}
    for kind, piece in entry.stored:
        counts[kind] = counts.get(kind, 0) + 1
        name = f"{experience}.{kind}{counts[kind]}"
        sure = CONFIDENCE.get(kind)
        candidates.append(
            Candidate(
                id=name,
                experience=experience,
                kind=kind,
                text=piece.text,
                cost=Fraction(words(piece.text)),
                confidence=Fraction(dice.between(*sure), 100) if sure else None,
                generator=PROVENANCE,
            )
        )
        coverage += coverage_rows(name, piece, book.atoms)


def _units(
    book: Book, experiences: tuple[Experience, ...], entries: list[Entry]
) -> tuple[EvidenceUnit, ...]:
    sources: list[list[Source]] = [[] for _ in book.atoms]
    for experience, entry in zip(experiences, entries, strict=True):
        for atom, quote in entry.sources:
            sources[atom].append(Source(id=experience.id, session=experience.session, text=quote))
    return tuple(
        EvidenceUnit(
            id=unit_id(atom.number),
            kind=atom.kind,
            text=atom.text,
            timestamp=atom.day.isoformat(),
            sources=tuple(sources[atom.number]),
            attributes={"slots": {name: list(forms) for name, forms in atom.slots.items()}},
        )
        for atom in book.atoms
    )


def _queries(book: Book) -> tuple[Query, ...]:
    return tuple(
        Query(
            id=f"q{place:04d}",
            text=question.text(),
            answer=question.answer,
            kind=question.kind,
            required=tuple(unit_id(number) for number in question.required),
            importance=question.importance,
        )
        for place, question in enumerate(book.questions)
    )


@dataclass(frozen=True, slots=True)
class EventGraph:
    """People, facts that change, events, rules: told in English, with coverage known exactly."""

    knobs: Knobs = field(default_factory=Knobs)

    @property
    def name(self) -> str:
        return "event_graph"

    @property
    def about(self) -> str:
        return "sessions in English from a hidden graph of people, changes and events"

    @property
    def draws(self) -> bool:
        return True

    def package(self, seed: int) -> Package:
        """The package of a seed, a whole number of 0 or more."""
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MemAuditError(f"event_graph: the seed is {seed!r}; give a whole number from 0")
        return build(self.knobs, seed)
