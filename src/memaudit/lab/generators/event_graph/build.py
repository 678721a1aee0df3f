"""The package of an event graph. Coverage is the share of an atom's slots that a text states."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import words
from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
    Source,
)
from memaudit.lab.generators.event_graph.dice import Dice
from memaudit.lab.generators.event_graph.hidden_graph import HiddenGraph
from memaudit.lab.generators.event_graph.parameters import Parameters
from memaudit.lab.generators.event_graph.stream import StreamEntry, stream
from memaudit.lab.generators.event_graph.templates import Atom, Piece

PROVENANCE = "event_graph"


def unit_id(number: int) -> str:
    """The id of an atom's unit. It says nothing about the unit."""
    return f"u{number:04d}"


def coverage_rows(candidate: str, piece: Piece, atoms: list[Atom]) -> Iterator[Coverage]:
    """What a candidate states of each atom it is about."""
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
"""Percent of the total cost of all candidates."""

CONFIDENCE = {
    "fact": (80, 99),
    "event": (80, 99),
    "edge": (70, 95),
    "rule": (75, 98),
    "skill": (75, 98),
    "compound_update": (70, 95),
    "tombstone": (70, 95),
    "summary": (55, 85),
}
"""Percent, by kind: how confident an extractor is. Raw text is not extracted."""


def build(parameters: Parameters, seed: int) -> Package:
    """The package of a seed."""
    dice = Dice(seed)
    graph, entries = stream(dice, parameters)
    experiences = tuple(_experience(place, entry) for place, entry in enumerate(entries))
    candidates: list[Candidate] = []
    coverage: list[Coverage] = []
    for experience, entry in zip(experiences, entries, strict=True):
        _add_candidates(dice, graph, experience.id, entry, candidates, coverage)
    total = sum(candidate.cost for candidate in candidates)
    return Package(
        name=f"event_graph-{seed}",
        experiences=experiences,
        candidates=tuple(candidates),
        units=_units(graph, experiences, entries),
        queries=_queries(graph),
        coverage=tuple(coverage),
        cost_rule="words",
        budgets=tuple(Fraction(max(1, int(total * share / 100))) for share in BUDGETS),
        attributes={"generator": PROVENANCE, "seed": seed, "knobs": parameters.changed()},
    )


def _experience(place: int, entry: StreamEntry) -> Experience:
    return Experience(
        id=f"x{place:04d}",
        text=entry.text,
        index=place,
        session=f"s{entry.moment.session:04d}",
        timestamp=entry.moment.time.isoformat(),
        speaker=entry.speaker,
    )


def _add_candidates(
    dice: Dice,
    graph: HiddenGraph,
    experience: str,
    entry: StreamEntry,
    candidates: list[Candidate],
    coverage: list[Coverage],
) -> None:
    counts: dict[str, int] = {}
    for kind, piece in entry.stored:
        counts[kind] = counts.get(kind, 0) + 1
        name = f"{experience}.{kind}{counts[kind]}"
        confidence = CONFIDENCE.get(kind)
        candidates.append(
            Candidate(
                id=name,
                experience=experience,
                kind=kind,
                text=piece.text,
                cost=Fraction(words(piece.text)),
                confidence=Fraction(dice.between(*confidence), 100) if confidence else None,
                generator=PROVENANCE,
            )
        )
        coverage += coverage_rows(name, piece, graph.atoms)


def _units(
    graph: HiddenGraph, experiences: tuple[Experience, ...], entries: list[StreamEntry]
) -> tuple[EvidenceUnit, ...]:
    sources: list[list[Source]] = [[] for _ in graph.atoms]
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
        for atom in graph.atoms
    )


def _queries(graph: HiddenGraph) -> tuple[Query, ...]:
    return tuple(
        Query(
            id=f"q{place:04d}",
            text=question.text,
            answer=question.answer,
            kind=question.kind,
            required=tuple(unit_id(number) for number in question.required),
            importance=question.importance,
        )
        for place, question in enumerate(graph.questions)
    )


@dataclass(frozen=True, slots=True)
class EventGraph:
    """People, changing facts, events and rules, told in English, with exact coverage."""

    parameters: Parameters = field(default_factory=Parameters)

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
            raise MemAuditError(
                f"event_graph: the seed is {seed!r}; it must be a whole number of at least 0"
            )
        return build(self.parameters, seed)
