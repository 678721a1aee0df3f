"""Pictures of a page in coordinates: evidence against words, and ratio against outcome."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memaudit.report.page.cast import Member
from memaudit.report.page.charts import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Point, Tick, ticks

HALVES = 2
ROOM = 16
"""What the middle of a number must keep off the right edge."""

LOGARITHMIC = 8
"""From this ratio of the largest to the smallest on, words are spaced by their logarithm."""


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Lines of stores through points, one a depth."""

    lines: tuple[tuple[Member, str], ...]
    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    description: str


@dataclass(frozen=True, slots=True)
class ScatterPlot:
    """All stores as dots of one path, the means of writers as signs."""

    dots: str
    points: tuple[Point, ...]
    ticks: tuple[tuple[Tick, Tick], ...]
    description: str


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)


def curve_plot(
    stores: Sequence[tuple[Member, Sequence[Mapping[str, Any]]]],
) -> CurvePlot | None:
    """Evidence coverage against words; None where there is nothing to show."""
    known = [
        (member, [one for one in curve if one["evidence_coverage"]["mean"] is not None])
        for member, curve in stores
    ]
    words = [one["words"] for _, curve in known for one in curve if one["words"] > 0]
    if not words:
        return None
    x, x_ticks = _axis(min(words), max(words))
    lines, points, told = [], [], []
    for member, curve in known:
        places = [
            (x(one["words"]), _y(one["evidence_coverage"]["mean"]), one)
            for one in curve
            if one["words"] > 0
        ]
        if not places:
            continue
        lines.append((member, "M" + "L".join(f"{a} {b}" for a, b, _ in places)))
        for a, b, one in places:
            text = f"{member.label}, first {one['first']}: {_numbers(one)}"
            points.append(Point(a, b, member, text))
        told.append(f"{member.label}: {_numbers(places[-1][2])}")
    return CurvePlot(
        tuple(lines),
        tuple(points),
        x_ticks,
        tuple(Tick(_y(at), f"{at:g}") for at in ticks(1, HALVES)),
        f"Evidence coverage against words retrieved. {'; '.join(told)}.",
    )


def _numbers(one: Mapping[str, Any]) -> str:
    return f"coverage {one['evidence_coverage']['mean']:.3f} in {one['words']:.0f} words"


def _axis(least: float, most: float) -> tuple[Callable[[float], float], tuple[Tick, ...]]:
    """Where a number of words stands, and round numbers to mark."""
    width = WIDTH - LEFT - RIGHT
    if most <= LOGARITHMIC * least:
        end = most * 1.02

        def linear(words: float) -> float:
            return round(LEFT + width * words / end, 1)

        return linear, tuple(Tick(linear(at), f"{at:g}") for at in ticks(most))
    low, high = math.log(least / 1.1), math.log(most * 1.1)

    def logarithmic(words: float) -> float:
        return round(LEFT + width * (math.log(words) - low) / (high - low), 1)

    marks = [
        step * 10.0**power
        for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
        for step in (1, 2, 5)
    ]
    inside = [at for at in marks if least <= at and logarithmic(at) <= WIDTH - ROOM]
    return logarithmic, tuple(Tick(logarithmic(at), f"{at:g}") for at in inside)


def scatter_plot(
    points: Sequence[Mapping[str, Any]], target: str, members: Sequence[Member]
) -> ScatterPlot:
    """Ratio against an outcome, both between 0 and 1."""

    def x(share: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * share, 1)

    fine = [one for one in points if one["ratio"] is not None and one[target] is not None]
    signs, told = [], []
    for member in members:
        own = [one for one in fine if one["writer"] == member.name]
        if own:
            ratio, outcome = (
                sum(one[name] for one in own) / len(own) for name in ("ratio", target)
            )
            text = f"{member.label}: ratio {ratio:.3f}, {target.replace('_', ' ')} {outcome:.3f}"
            signs.append(Point(x(ratio), _y(outcome), member, text))
            told.append(text)
    places = dict.fromkeys((x(one["ratio"]), _y(one[target])) for one in fine)
    return ScatterPlot(
        "".join(f"M{a} {b}h0" for a, b in places),
        tuple(signs),
        tuple((Tick(x(at), f"{at:g}"), Tick(_y(at), f"{at:g}")) for at in ticks(1, HALVES)),
        f"Ratio against {target.replace('_', ' ')}. {'; '.join(told)}.",
    )
