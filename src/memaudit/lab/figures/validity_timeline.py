"""A package over time: stale and current units of each candidate, and what OPT keeps."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import significant
from memaudit.kernel.package.objective import covered
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.package.package import (
    ABSTENTION,
    CURRENT,
    DELETION,
    STALE,
    SUPERSESSION,
    TEMPORAL,
    Candidate,
    EvidenceUnit,
    Experience,
    Package,
)
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.figures.run_summary import FigureRun, nearest
from memaudit.lab.figures.stress_heatmap import BUDGET
from memaudit.lab.figures.style import (
    FAINT,
    LARGE,
    LINE,
    MUTED,
    NORMAL,
    PAPER,
    PRINT_WIDTH,
    SMALL,
    fitted,
    fitted_name,
    house_style,
    inches,
    note,
    note_lines,
    shown,
    wrapped,
)
from memaudit.show.encoding import INK, STATE_MARKERS, kind_look

MOST_ROWS, MOST_UNITS = 42, 26
"""A figure shows at most this many candidates and units. The others are counted."""

STATES = (STALE, CURRENT, SUPERSESSION, DELETION, TEMPORAL, ABSTENTION)
OTHER = "other"


@dataclass(frozen=True, slots=True)
class Step:
    """One experience and the candidates that can be kept of it."""

    experience: Experience
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class TimelineTable:
    """The drawn part of a package at one budget, and how much of it is not drawn."""

    package: Package
    optimum: Optimum
    steps: tuple[Step, ...]
    units: tuple[EvidenceUnit, ...]
    cells: dict[tuple[str, str], Fraction]
    covered: dict[str, Fraction]
    undrawn_experiences: int
    undrawn_units: int

    @property
    def rows(self) -> int:
        """How many candidates are drawn."""
        return sum(max(1, len(step.candidates)) for step in self.steps)


def state_of(unit: EvidenceUnit) -> str:
    """The state of a unit. Kinds of units that are not about time count as OTHER."""
    return unit.kind if unit.kind in STATES else OTHER


def timeline_table(package: Package, budget: Any) -> TimelineTable:
    """Experiences in stream order with their candidates, and what OPT keeps at the budget."""
    if not package.candidates:
        raise MemAuditError(f"package {package.name!r} has no candidates to draw")
    optimum = solve(package, budget)
    of: dict[str, list[Candidate]] = {experience.id: [] for experience in package.experiences}
    for candidate in package.candidates:
        of[candidate.experience].append(candidate)
    steps: list[Step] = []
    rows = 0
    for experience in sorted(package.experiences, key=lambda e: e.index):
        rows += max(1, len(of[experience.id]))
        # Whole experiences only: half a group would hide what OPT chose from.
        if rows > MOST_ROWS:
            break
        steps.append(Step(experience, tuple(of[experience.id])))
    if not steps:
        raise MemAuditError(
            f"the first experience of package {package.name!r} has more than {MOST_ROWS} "
            "candidates; a timeline cannot show them"
        )
    order = {state: place for place, state in enumerate((*STATES, OTHER))}
    units = sorted(package.units, key=lambda unit: order[state_of(unit)])
    return TimelineTable(
        package=package,
        optimum=optimum,
        steps=tuple(steps),
        units=tuple(units[:MOST_UNITS]),
        cells={(cell.candidate, cell.unit): cell.value for cell in package.coverage},
        covered=covered(package, optimum.store),
        undrawn_experiences=len(package.experiences) - len(steps),
        undrawn_units=max(0, len(units) - MOST_UNITS),
    )


ROW, TALLEST_NAME = 0.175, 1.25
TEXT, KIND, COST, MATRIX = 0.32, 2.16, 3.68, 3.86
"""Inches from the left where the columns start; COST is the right edge of the costs."""

LARGEST = 6.6
"""Points: the marker of a fully covered unit, if columns are wide enough."""

KEPT = "#fff3c4"


@house_style()
def validity_timeline_of_run(run: FigureRun) -> Figure:
    """The first distribution's package, at the budget of the heat map or the nearest to it."""
    budget = nearest(run.budgets, Fraction(BUDGET))
    return validity_timeline(run.package(run.distributions[0]), budget)


def validity_timeline(package: Package, budget: Any) -> Figure:
    """Time runs down. A marker is as large as the share of the unit the candidate preserves."""
    drawing = _Drawing(timeline_table(package, budget))
    drawing.title()
    drawing.header()
    y = drawing.top
    for step in drawing.table.steps:
        y = drawing.step(step, y)
    drawing.sums(y)
    drawing.legend()
    note(drawing.figure, drawing.small_print)
    return drawing.figure


def _sign(state: str) -> tuple[str, str]:
    """Marker and colour of a sort of unit."""
    if state == OTHER:
        return ".", INK
    return STATE_MARKERS[state], kind_look(state).line


class _Drawing:
    """Draws the figure. All lengths are inches from the lower left corner."""

    def __init__(self, table: TimelineTable) -> None:
        self.table = table
        self.labels = [self._unit_label(place) for place in range(len(table.units))]
        names = max((inches(label, SMALL) for label in self.labels), default=0.3)
        lines = len(note_lines(self.small_print, PRINT_WIDTH))
        foot = 0.1 + lines * LINE + 0.26
        self.height = 0.34 + names + 0.16 + ROW * (table.rows + 1.4) + foot
        self.top = self.height - 0.34 - names - 0.16
        self.legend_at = 0.14 + lines * LINE
        self.figure = Figure(figsize=(PRINT_WIDTH, self.height))
        self.inch = self.figure.dpi_scale_trans
        self.column = (PRINT_WIDTH - 0.12 - MATRIX) / max(1, len(table.units))
        self.column = min(self.column, 0.3)
        self.largest = min(LARGEST, self.column * 72 * 0.55)

    @property
    def small_print(self) -> str:
        """How to read the figure, and what is not drawn."""
        table = self.table
        text = (
            "Time runs down. Columns are evidence units with their weights. The filled part of a "
            "marker is the share of the unit that is preserved. Shaded: what OPT keeps, at most "
            f"{table.optimum.group_cap} of one experience. Last row: empty rims are units OPT "
            "leaves out."
        )
        if table.undrawn_experiences or table.undrawn_units:
            text += (
                f" Not drawn: {table.undrawn_experiences} later experiences, "
                f"{table.undrawn_units} units."
            )
        return text

    def _unit_label(self, place: int) -> str:
        unit = self.table.units[place]
        weight = f" ({significant(self.table.package.weights[unit.id])})"
        return fitted_name(unit.id, TALLEST_NAME - inches(weight, SMALL), SMALL) + weight

    def x(self, place: int) -> float:
        """The middle of a unit's column."""
        return MATRIX + self.column * (place + 0.5)

    def text(self, x: float, y: float, text: str, **how: Any) -> None:
        style = {"fontsize": SMALL, "va": "center_baseline", "transform": self.inch, **how}
        self.figure.text(x, y, text, **style)

    def rule(self, y: float, colour: str = FAINT) -> None:
        """A thin horizontal line."""
        line = Line2D([0.1, PRINT_WIDTH - 0.1], [y, y], color=colour, linewidth=0.6)
        line.set_transform(self.inch)
        self.figure.add_artist(line)

    def title(self) -> None:
        """The package, and what OPT keeps."""
        best = self.table.optimum
        tail = (
            f": OPT at budget {plain(best.budget)} keeps {len(best.store)} of "
            f"{len(self.table.package.candidates)} candidates, value {significant(best.value)}"
            + (", certified" if best.certified else ", not certified")
        )
        name = fitted_name(best.package, PRINT_WIDTH - 0.2 - inches(tail, LARGE), LARGE)
        self.text(0.1, self.height - 0.16, name + tail, fontsize=LARGE)

    def header(self) -> None:
        """Names of columns. Those of units are vertical."""
        y = self.top + 0.09
        self.text(TEXT, y, "experience", color=MUTED)
        self.text(KIND, y, "candidate", color=MUTED)
        self.text(COST, y, "cost", color=MUTED, ha="right")
        for place, label in enumerate(self.labels):
            self.text(self.x(place), self.top + 0.07, label, rotation=90, ha="center", va="bottom")
        self.rule(self.top, MUTED)

    def step(self, step: Step, y: float) -> float:
        """Draws one experience and its candidates. Returns the height where the next begins."""
        many = max(1, len(step.candidates))
        experience = step.experience
        self.text(0.1, y - ROW / 2, fitted(experience.index + 1, 0.2, SMALL), color=MUTED)
        when = f"{experience.timestamp}: " if experience.timestamp else ""
        words = when + (experience.text or experience.id)
        for place, line in enumerate(wrapped(words, KIND - TEXT - 0.15, SMALL, min(many, 3))):
            self.text(TEXT, y - ROW * (place + 0.5), line)
        for place, candidate in enumerate(step.candidates):
            middle = y - ROW * (place + 0.5)
            in_opt = candidate.id in self.table.optimum.store
            if in_opt:
                self._shade(middle)
            kind = fitted_name(candidate.kind, COST - KIND - 0.32, SMALL, bold=in_opt)
            weight = "bold" if in_opt else "normal"
            self.text(KIND, middle, kind, fontweight=weight, gid=shown(candidate.id))
            cost = fitted(plain(candidate.cost), 0.3, SMALL, bold=in_opt)
            self.text(COST, middle, cost, ha="right", fontweight=weight)
            for column, unit in enumerate(self.table.units):
                share = self.table.cells.get((candidate.id, unit.id), Fraction(0))
                if share:
                    self._mark(column, middle, share, f"{candidate.id}/{unit.id}")
        self.rule(y - ROW * many)
        return y - ROW * many

    def sums(self, y: float) -> None:
        """How much of each unit the optimum preserves."""
        middle = y - ROW * 0.8
        self.text(KIND, middle, "OPT preserves", fontweight="bold")
        for column, unit in enumerate(self.table.units):
            share = min(Fraction(1), self.table.covered[unit.id])
            self._mark(column, middle, share, f"OPT/{unit.id}")

    def legend(self) -> None:
        """The sorts of units that are drawn."""
        x = 0.18
        drawn = {state_of(unit) for unit in self.table.units}
        for state in (*STATES, OTHER):
            if state in drawn:
                marker, colour = _sign(state)
                self._marker(x, self.legend_at + 0.06, marker, colour, LARGEST, full=True)
                name = "unit of any other kind" if state == OTHER else state
                self.text(x + 0.1, self.legend_at + 0.06, name, fontsize=NORMAL)
                x += inches(name, NORMAL) + 0.38

    def _shade(self, middle: float) -> None:
        band = Rectangle(
            (KIND - 0.07, middle - ROW / 2),
            PRINT_WIDTH - 0.1 - KIND + 0.07,
            ROW,
            facecolor=KEPT,
            edgecolor=INK,
            linewidth=0.6,
            transform=self.inch,
            zorder=0.5,
        )
        self.figure.add_artist(band)

    def _mark(self, column: int, middle: float, share: Fraction, gid: str) -> None:
        """A rim of full size around a marker whose area is the share."""
        marker, colour = _sign(state_of(self.table.units[column]))
        self._marker(self.x(column), middle, marker, colour, self.largest, full=False)
        if share:
            size = self.largest * float(share) ** 0.5
            self._marker(self.x(column), middle, marker, colour, size, full=True, gid=gid)

    def _marker(
        self, x: float, y: float, marker: str, colour: str, size: float, full: bool, gid: str = ""
    ) -> None:
        dot = Line2D([x], [y], linestyle="none", marker="o" if marker == "." else marker)
        dot.set_transform(self.inch)
        dot.set_markersize(size * (0.62 if marker == "." else 1))
        dot.set_markeredgecolor(colour)
        dot.set_markerfacecolor(colour if full else PAPER)
        dot.set_markeredgewidth(0.0 if full else 0.6)
        dot.set_zorder(3 if full else 2)
        if gid:
            dot.set_gid(shown(gid))
        self.figure.add_artist(dot)
