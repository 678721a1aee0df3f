"""Where ratio and outcome part: writers that the ratio orders one way, and the outcome the other.

Between the two lie steps: what is kept counted alike for all questions, kept in full, retrieved,
answered. A pair parts at the first step that has it in the other order than the ratio.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations
from typing import Any

from memaudit.experiments.calibration.points import STEPS

Point = dict[str, Any]

REASONS = {
    "kept_coverage": "weights: the ratio adds up units by their weight, recall takes questions "
    "alike, whether they need one unit or many",
    "kept_recall": "parts: the ratio credits a unit that is kept in part, recall does not",
    "evidence_recall": "retrieval: more is kept, but less of it is among the memories retrieved",
    "answered": "reading: more is retrieved, but less of it answered right",
}
"""Why two orders part, by the first step at which they do."""

MOST = 10
"""Partings that are listed: the largest of as many packages."""


@dataclass(frozen=True, slots=True)
class Parting:
    """One pair: `first` has the higher ratio, `second` the better outcome."""

    first: Point
    second: Point
    target: str
    step: str

    @property
    def size(self) -> float:
        """How far they part: the product of both differences."""
        ratio = self.first["ratio"] - self.second["ratio"]
        return float(ratio * (self.second[self.target] - self.first[self.target]))

    def to_json(self) -> dict[str, Any]:
        """Plain data, with every step of both."""
        return {
            "target": self.target,
            "step": self.step,
            "why": REASONS[self.step],
            **{name: self.first[name] for name in ("set", "package", "budget")},
            "first": _steps(self.first),
            "second": _steps(self.second),
        }


def partings(points: Sequence[Point], target: str) -> dict[str, Any]:
    """Pairs in agreement, apart by reason, and tied; and the largest partings."""
    apart: list[Parting] = []
    agree = tied = 0
    for first, second in _pairs(points, target):
        difference = first[target] - second[target]
        if difference > 0:
            agree += 1
        elif difference == 0:
            tied += 1
        else:
            apart.append(Parting(first, second, target, _step(first, second, target)))
    counts = Counter(one.step for one in apart)
    largest = sorted(apart, key=lambda one: (-one.size, _name(one.first), _name(one.second)))
    by_package: dict[tuple[str, str], Parting] = {}
    for one in largest:
        by_package.setdefault((one.first["set"], one.first["package"]), one)
    return {
        "target": target,
        "agree": agree,
        "tied": tied,
        "apart": {step: counts[step] for step in REASONS if counts[step]},
        "largest": [one.to_json() for one in list(by_package.values())[:MOST]],
    }


def _pairs(points: Sequence[Point], target: str) -> Iterator[tuple[Point, Point]]:
    """Writers of the same package and budget, the one with the strictly higher ratio first."""

    def cell(point: Point) -> tuple[str, str, str]:
        return point["set"], point["package"], point["budget"]

    whole = [one for one in points if one["ratio"] is not None and one[target] is not None]
    for _, inside in groupby(sorted(whole, key=cell), key=cell):
        for first, second in permutations(inside, 2):
            if first["ratio"] > second["ratio"]:
                yield first, second


def _step(first: Point, second: Point, target: str) -> str:
    """The first step in the other order; the target itself is one."""
    for name in list(STEPS)[1:]:
        if first[name] is not None and second[name] is not None and first[name] < second[name]:
            return name
        if name == target:
            break
    return "answered"  # the words of the answer part, whatever is counted as answered


def _steps(point: Point) -> dict[str, Any]:
    return {"writer": point["writer"], **{name: point[name] for name in STEPS}}


def _name(point: Point) -> tuple[str, str, str, str]:
    return point["set"], point["package"], point["budget"], point["writer"]
