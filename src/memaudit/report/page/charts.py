"""Where things stand in the charts; the templates draw them, so that all text is escaped there.

Rows of bars and intervals use percentages of the width, so their text keeps its size on a phone.
Frontier plots use the coordinates of a fixed picture.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memaudit.report.page.cast import Member
from memaudit.report.page.curves import Curve
from memaudit.report.page.numbers import amount, percent

WIDTH, HEIGHT = 340, 236
LEFT, RIGHT, TOP, BOTTOM = 30, 10, 12, 36
DODGE = 6
"""Signs closer than this would hide one another."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A piece of a stacked bar, in percent of the width; `tone` numbers its kind from 1."""

    start: float
    width: float
    tone: int
    kind: str
    value: float


def stack(values: Sequence[float], kinds: Sequence[str], largest: float) -> list[Bar]:
    """One bar, piece after piece."""
    bars, so_far = [], 0.0
    for tone, (kind, value) in enumerate(zip(kinds, values, strict=True), start=1):
        if value > 0:
            bars.append(Bar(percent(so_far, largest), percent(value, largest), tone, kind, value))
            so_far += value
    return bars


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and its text."""

    at: float
    text: str


def ticks(largest: float, about: int = 4) -> list[float]:
    """Round numbers from 0 up to the largest, some `about` of them."""
    if largest <= 0:
        return [0.0]
    rough = largest / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * f for f in (1, 2, 2.5, 5, 10) if power * f >= rough * 0.999)
    return [round(step * i, 10) for i in range(int(largest / step + 1e-9) + 1)]


@dataclass(frozen=True, slots=True)
class Point:
    """Where a writer stands in a frontier plot."""

    x: float
    y: float
    member: Member
    text: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A frontier plot: OPT's steps as a line, or dots where the line is not known."""

    line: str
    dots: tuple[tuple[float, float], ...]
    points: tuple[Point, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    description: str


def plot(curve: Curve) -> Plot:
    """The picture of a curve."""
    top = curve.top or 1.0

    def x(budget: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * budget / curve.last, 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top, 1)

    words = []
    for number, (budget, value) in enumerate(curve.steps):
        words.append(f"H{x(budget)}V{y(value)}" if number else f"M{x(budget)} {y(value)}")
    line = "".join(words) + f"H{x(curve.last)}" if words else ""
    return Plot(
        line,
        tuple((x(float(budget)), y(value)) for budget, value in curve.optima),
        tuple(_points(curve, x, y)),
        tuple(Tick(x(at), f"{at:g}") for at in ticks(curve.last)),
        tuple(Tick(y(at), f"{at:g}") for at in ticks(top)),
        _description(curve),
    )


def _points(
    curve: Curve, x: Callable[[float], float], y: Callable[[float], float]
) -> Iterator[Point]:
    """References first, the others over them; who would hide another stands to the right of it.

    To the right, never to the left: OPT only rises there, so no sign is lifted above its line.
    """
    taken: set[tuple[float, float]] = set()
    for one in sorted(curve.reached, key=lambda one: (one.member.tone > 0, one.member.tone)):
        if one.value is None:
            continue
        at, height = x(float(one.budget)), y(one.value)
        if one.member.tone:
            while any(abs(at - a) < DODGE and abs(height - h) < DODGE for a, h in taken):
                at = round(at + DODGE, 1)
            taken.add((at, height))
        text = f"{one.member.label}: {amount(one.value)} at budget {amount(float(one.budget))}"
        yield Point(at, height, one.member, text)


def _description(curve: Curve) -> str:
    """The plot in one sentence, for those who cannot see it."""
    parts = [f"{float(budget):g}: {amount(value)}" for budget, value in curve.optima]
    return f"Optimum of {curve.name} by budget. {'; '.join(parts)}. Writers lie on or below it."
