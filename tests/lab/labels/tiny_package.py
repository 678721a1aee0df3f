"""A package of three turns and two units, small enough to work everything out by hand.

Unit u weighs 2, unit v weighs 1; every candidate costs 1. `a` covers u, `b` covers v, `c` nothing.
OPT is 2 at budget 1 (a) and 3 at budget 2 (a, b). `recency_raw` keeps c at budget 1, worth 0, and
b and c at budget 2, worth 1.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import TypeVar

from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.package import Package
from memaudit.lab.labels.frame import Frame, FrameCell, LabelSet
from memaudit.lab.labels.label_sources import LabelSource

F = Fraction
Task = TypeVar("Task")
Result = TypeVar("Result")


def package(name: str = "pets", **changes: object) -> Package:
    return Package.model_validate(
        {
            "name": name,
            "experiences": [{"id": "e1"}, {"id": "e2"}, {"id": "e3"}],
            "candidates": [
                {"id": id, "experience": f"e{place}", "kind": "raw", "text": text, "cost": 1}
                for place, (id, text) in enumerate((("a", "dog"), ("b", "cat"), ("c", "fish")), 1)
            ],
            "units": [
                {"id": "u", "kind": "fact", "text": "There is a dog.", "weight": 2},
                {"id": "v", "kind": "fact", "text": "There is a cat.", "weight": 1},
            ],
            "coverage": [
                {"candidate": "a", "unit": "u", "value": 1, "provenance": "pass:x"},
                {"candidate": "b", "unit": "v", "value": 1, "provenance": "pass:x"},
            ],
            **changes,
        }
    )


def source(name: str, package_name: str = "pets", **labels: str) -> LabelSource:
    """Labels such as `au="0.5"`: of candidate a and unit u."""
    return LabelSource(
        name, {package_name: {(at[0], at[1]): F(value) for at, value in labels.items()}}
    )


def frame_of_cells(*cells: tuple[str, str, str]) -> Frame:
    """A frame of cells given as (package, candidate, unit), with ids c0, c1, ..."""
    return Frame(
        tuple(
            FrameCell(f"c{place}", *cell, "raw", "fact", None, "", "", "")
            for place, cell in enumerate(cells)
        )
    )


def label_set(annotator: str, *labels: Label) -> LabelSet:
    """Labels of the cells c0, c1, ..."""
    return LabelSet(annotator, {f"c{place}": label for place, label in enumerate(labels)})


def serial(function: Callable[[Task], Result], tasks: Iterable[Task], /) -> Iterator[Result]:
    return map(function, tasks)
