"""Writers by group, and charts in coordinates. The templates draw them, so that all text is
escaped there.

Rows of bars and intervals use percentages of the width, so their text keeps its size on a phone.
Plots use the coordinates of a picture of fixed size.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol

from memaudit.show.encoding import AreaLook, Look, looks
from memaudit.show.page_numbers import amount, percent
from memaudit.show.svg_charts import ticks

Group = Literal["deployable", "proxy", "reference"]
GROUPS: tuple[Group, ...] = ("deployable", "proxy", "reference")
GROUP_TITLES: Mapping[Group, str] = {
    "deployable": "Deployable writers",
    "proxy": "Proxies: stand-ins for families of systems",
    "reference": "Package-oracle references",
}
GROUP_NOTES: Mapping[Group, str] = {
    "deployable": "see the stream and the candidates, nothing more",
    "proxy": "deployable too; they imitate how a family of systems decides, and are not it",
    "reference": "look at the hidden units and weights, so no product could run them",
}
OPT = "opt"


@dataclass(frozen=True, slots=True)
class Member:
    """One writer or store, and how it is drawn."""

    name: str
    label: str
    about: str
    group: Group
    look: Look


class Described(Protocol):
    """A writer as the registry knows it."""

    @property
    def label(self) -> str: ...

    @property
    def about(self) -> str: ...


def members_by_name(
    peeks: Mapping[str, bool], writers: Mapping[str, Described]
) -> dict[str, Member]:
    """The writers of a run, in its order. One that is no longer registered is shown by its name."""
    members: dict[str, Member] = {}
    look = looks(peeks)
    for name, sees_all in peeks.items():
        known = writers.get(name)
        label = known.label if known else name
        group: Group = "proxy" if "(proxy)" in label else "deployable"
        if sees_all:
            group = "reference"
        about = known.about if known else "a writer this version does not know"
        own = look[name] if known else replace(look[name], hollow=sees_all)
        members[name] = Member(name, label, about, group, own)
    return members


def grouped(members: Sequence[Member]) -> list[tuple[Group, list[Member]]]:
    """The writers by group, in the order given, without empty groups."""
    groups = [(group, [member for member in members if member.group == group]) for group in GROUPS]
    return [(group, own) for group, own in groups if own]


WIDTH, HEIGHT = 340, 236
LEFT, RIGHT, TOP, BOTTOM = 30, 10, 12, 36
DODGE = 6
"""Markers closer than this would hide each other."""


@dataclass(frozen=True, slots=True)
class StackedBar:
    """A piece of a stacked bar, in percent of the width."""

    start: float
    width: float
    look: AreaLook
    name: str
    value: float


def stack(
    values: Sequence[float], names: Sequence[str], largest: float, look: Callable[[str], AreaLook]
) -> list[StackedBar]:
    """One bar, piece after piece. `look` is that of a piece by its name."""
    bars, so_far = [], 0.0
    for name, value in zip(names, values, strict=True):
        if value > 0:
            start, width = percent(so_far, largest), percent(value, largest)
            bars.append(StackedBar(start, width, look(name), name, value))
            so_far += value
    return bars


@dataclass(frozen=True, slots=True)
class Tick:
    """A position on an axis and its text."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class WriterPoint:
    """The value of one writer at one budget; None where it failed."""

    member: Member
    budget: Fraction
    value: float | None


@dataclass(frozen=True, slots=True)
class FrontierCurve:
    """One package: the budgets at which OPT rises, and every writer's values."""

    distribution: str
    seed: int
    steps: tuple[tuple[int, float], ...]
    last: int
    optima: tuple[tuple[Fraction, float], ...]
    reached: tuple[WriterPoint, ...]

    @property
    def name(self) -> str:
        return f"{self.distribution}, seed {self.seed}"

    @property
    def top(self) -> float:
        """The largest value shown."""
        values = [value for _, value in (*self.steps, *self.optima)]
        return max(values, default=0.0)


@dataclass(frozen=True, slots=True)
class Point:
    """A writer's point in a frontier plot."""

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


def plot(curve: FrontierCurve) -> Plot:
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
    curve: FrontierCurve, x: Callable[[float], float], y: Callable[[float], float]
) -> Iterator[Point]:
    """References first, the others over them. A marker that would hide another is moved to the
    right. OPT only rises to the right, so no marker ends up above its line.
    """
    taken: set[tuple[float, float]] = set()
    # Drawn later is drawn above.
    for point in sorted(curve.reached, key=lambda point: point.member.group != "reference"):
        if point.value is None:
            continue
        at, height = x(float(point.budget)), y(point.value)
        if point.member.group != "reference":
            while any(abs(at - a) < DODGE and abs(height - h) < DODGE for a, h in taken):
                at = round(at + DODGE, 1)
            taken.add((at, height))
        text = (
            f"{point.member.label}: {amount(point.value)} at budget {amount(float(point.budget))}"
        )
        yield Point(at, height, point.member, text)


def _description(curve: FrontierCurve) -> str:
    """The plot in one sentence, for screen readers."""
    parts = [f"{float(budget):g}: {amount(value)}" for budget, value in curve.optima]
    return f"Optimum of {curve.name} by budget. {'; '.join(parts)}. Writers lie on or below it."
