"""A package of two candidates in one group, and two stores of one memory each."""

from fractions import Fraction

from memaudit.core.package import Package
from memaudit.scoring.union import Cell, WrittenMemory, WrittenStore

F = Fraction
PETS = Package.model_validate(
    {
        "name": "pets",
        "cost_rule": "words",
        "experiences": [{"id": "e1"}],
        "candidates": [
            {"id": "a", "experience": "e1", "kind": "fact", "text": "dog Rex", "cost": 2},
            {"id": "b", "experience": "e1", "kind": "fact", "text": "cat", "cost": 1},
        ],
        "units": [
            {"id": "dog", "kind": "fact", "weight": 3},
            {"id": "cat", "kind": "fact", "weight": 1},
            {"id": "fish", "kind": "fact", "weight": 0},
        ],
        "coverage": [
            {"candidate": "a", "unit": "dog", "value": 1, "provenance": "exact:inclusion"},
            {"candidate": "b", "unit": "cat", "value": 1, "provenance": "heuristic:x"},
        ],
    }
)


def store(name: str, text: str, **covers: str) -> WrittenStore:
    """A store of one memory."""
    cells = {unit: Cell(F(share), "pass:x") for unit, share in covers.items()}
    return WrittenStore(name, (WrittenMemory("m", text, F(len(text.split())), cells),))


LONG = store("long", "the dog Rex", dog="1")
SHORT = store("short", "cat", cat="1")
