"""Coverage: the share of an atom's slots that a text states, counted and nothing else."""

from collections.abc import Iterator
from fractions import Fraction

from memaudit.core.package import Coverage
from memaudit.generators.event_graph.graph import Atom
from memaudit.generators.event_graph.phrase import Piece

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
