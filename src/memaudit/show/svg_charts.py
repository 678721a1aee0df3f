"""Line charts as SVG text, without a drawing library: OPT and scores over all budgets."""

import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.score.result import ScoreResult
from memaudit.kernel.solvers.frontier import Frontier
from memaudit.show.encoding import INK, Look, looks, nth_look
from memaudit.show.score_curve import Progress, ScoreCurve, score_curve
from memaudit.workspace.overwrite import may_write

WIDTH = 720.0
LEFT, HEAD, FOOT = 62.0, 38.0, 46.0
LEAST_HEIGHT = 330.0
ROW = 17.0
"""From one name to the next."""

LEADER, SAMPLE, GAP = 26.0, 36.0, 7.0
"""From the end of a line to its name: a leader, a sample of the line, a gap."""

TEXT, TITLE, NOTE = 12, 14, 11
LETTER = 0.62
"""Width of a letter as a share of the text size, on the wide side: fonts differ by reader."""

MOST_LETTERS = 30
MUTED, FAINT, PAPER = "#5f5f5f", "#d9d9d9", "#ffffff"
MOST_NAMES = 21
"""More packages than this are drawn without names, since the lines cannot be distinguished."""

SCORE_NOTE = (
    "Lines: score; a store over budget is cut by {policy}.",
    "Thin lines: the best subset of each store. Markers: its own cost, where all of it fits.",
    "Grey: the share of OPT at the last budget that is possible at each budget.",
)

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class ChartLine:
    """A step line: it keeps its value from each point to the next one."""

    id: str
    points: Points
    look: Look
    width: float = 2.0
    name: str = ""
    """Written at its end; no name is written for a line without one."""
    markers: Points = ()


@dataclass(frozen=True, slots=True)
class LineChart:
    title: str
    x_label: str
    y_label: str
    last: float
    """The largest budget."""
    top: float
    lines: Sequence[ChartLine]
    area: Points = ()
    """Filled below, behind everything."""
    notes: Sequence[str] = ()


def ticks(largest: float, about: int = 4) -> list[float]:
    """About `about` round numbers from 0 up to the largest."""
    if largest <= 0:
        return [0.0]
    rough = largest / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * f for f in (1, 2, 2.5, 5, 10) if power * f >= rough * 0.999)
    return [round(step * i, 10) for i in range(int(largest / step + 1e-9) + 1)]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places closest to the wanted ones (least squares) that are at least a gap apart.

    They stay between low and high if there is room for all. Otherwise they start at low.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []
    for rank, i in enumerate(order):
        # Without the gaps, places must only ascend. Neighbours that do not are averaged.
        total, size = wanted[i] - rank * gap, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / size:
            before, many = blocks.pop()
            total, size = total + before, size + many
        blocks.append((total, size))
    rising = [total / size for total, size in blocks for _ in range(size)]
    ceiling = max(low, high - (len(wanted) - 1) * gap)
    places = [0.0] * len(wanted)
    for rank, (i, place) in enumerate(zip(order, rising, strict=True)):
        places[i] = min(max(place, low), ceiling) + rank * gap
    return places


def shown(text: str, most: int = MOST_LETTERS) -> str:
    """One line of text: no control characters, no stacked marks, the middle cut if too long."""
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", " ".join(text[:10_000].split())):
        if unicodedata.combining(letter) and letters and unicodedata.combining(letters[-1]):
            continue
        letters.append(letter if letter.isprintable() else "\ufffd")
    # A letter of Chinese or Japanese takes the room of two.
    room = most - sum(unicodedata.east_asian_width(letter) in "WF" for letter in letters)
    if len(letters) <= max(room, most // 2):
        return "".join(letters)
    kept = max(room, most // 2) - 1
    # Names often differ at the end, so that a third of what is kept comes from there.
    return "".join([*letters[: kept - kept // 3], "…", *letters[len(letters) - kept // 3 :]])


def text_width(text: str, size: float) -> float:
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return (len(text) * LETTER + wide * (1 - LETTER)) * size


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where budgets and values lie in the picture."""

    last: float
    top: float
    bottom: float
    end: float

    def x(self, budget: float) -> float:
        return round(LEFT + (self.end - LEFT) * budget / self.last, 2)

    def y(self, value: float) -> float:
        return round(self.bottom - (self.bottom - HEAD) * value / self.top, 2)

    def path(self, points: Points) -> str:
        words: list[str] = []
        before: float | None = None
        for budget, value in points:
            # Budgets at which nothing changes would make the file of a long frontier large.
            if before is None:
                words.append(f"M{self.x(budget)} {self.y(value)}")
            elif self.y(value) != before:
                words.append(f"H{self.x(budget)}V{self.y(value)}")
            before = self.y(value)
        return "".join(words) + (f"H{self.x(points[-1][0])}" if points else "")


def chart_svg(chart: LineChart) -> str:
    """The chart as an SVG document."""
    named = [line for line in chart.lines if line.name]
    names = {line.id: shown(line.name) for line in named}
    widest = max((text_width(name, TEXT) for name in names.values()), default=0.0)
    right = LEADER + SAMPLE + GAP + widest + 8 if named else 20.0
    below = NOTE * 1.45 * len(chart.notes) + (6 if chart.notes else 0)
    height = max(LEAST_HEIGHT, len(named) * ROW + HEAD + FOOT) + below
    frame = _Frame(chart.last or 1.0, chart.top or 1.0, height - FOOT - below, WIDTH - right)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" '
        f'width="{WIDTH:g}" height="{height:g}" role="img" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" font-size="{TEXT}" fill="{INK}">',
        *_background(chart, frame),
        *_lines(chart, frame),
        *_names(named, names, frame),
        *_notes(chart.notes, frame),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _background(chart: LineChart, frame: _Frame) -> Iterator[str]:
    """The title, the area behind the lines, and the axes."""
    bottom, end = frame.bottom, frame.end
    yield f"<title>{escape(shown(chart.title, 300))}</title>"
    yield f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    title = shown(chart.title, int((WIDTH - LEFT - 10) / (TITLE * LETTER)))
    yield f'<text x="{LEFT:g}" y="22" font-size="{TITLE}">{escape(title)}</text>'
    if chart.area:
        area = f"{frame.path(chart.area)}V{frame.y(0)}H{frame.x(chart.area[0][0])}Z"
        yield f'<path d="{area}" fill="{FAINT}" fill-opacity="0.6" data-line="opt"/>'
    for at in ticks(frame.last, 6):
        yield _rule(frame.x(at), HEAD, frame.x(at), bottom)
        yield _label(frame.x(at), bottom + 17, f"{at:g}", "middle")
    for at in ticks(frame.top):
        yield _rule(LEFT, frame.y(at), end, frame.y(at))
        yield _label(LEFT - 8, frame.y(at) + 4, f"{at:g}", "end")
    middle = (HEAD + bottom) / 2
    yield _label((LEFT + end) / 2, bottom + 36, chart.x_label, "middle")
    yield (
        f'<text transform="translate(16 {middle:g}) rotate(-90)" text-anchor="middle">'
        f"{escape(chart.y_label)}</text>"
    )


def _lines(chart: LineChart, frame: _Frame) -> Iterator[str]:
    """All lines, then all markers over them."""
    for line in chart.lines:
        yield (
            f'<path d="{frame.path(line.points)}" fill="none" {_stroke(line.look, line.width)} '
            f'data-line="{escape(shown(line.id, 300))}"/>'
        )
    for line in chart.lines:
        for budget, value in line.markers:
            yield _marker(frame.x(budget), frame.y(value), line.look, f"own/{line.name}")


def _names(named: Sequence[ChartLine], names: Mapping[str, str], frame: _Frame) -> Iterator[str]:
    """At the end of each line its name, spread where lines end close together."""
    ends = [frame.y(line.points[-1][1] if line.points else 0.0) for line in named]
    places = spread(ends, ROW, HEAD, frame.bottom)
    start = frame.end + LEADER
    for line, height, place in zip(named, ends, places, strict=True):
        yield (
            f'<path d="M{frame.end:g} {height:g}L{start - 3:g} {place:.2f}" fill="none" '
            f'stroke="{line.look.colour}" stroke-width="0.6"/>'
        )
        yield (
            f'<path d="M{start:g} {place:.2f}h{SAMPLE:g}" fill="none" '
            f"{_stroke(line.look, line.width)}/>"
        )
        if line.look.marker:
            yield _marker(start + SAMPLE / 2, place, line.look)
        yield _label(start + SAMPLE + GAP, place + 4, names[line.id], "start")


def _notes(notes: Sequence[str], frame: _Frame) -> Iterator[str]:
    for number, note in enumerate(notes):
        height = frame.bottom + FOOT + 6 + number * NOTE * 1.45 + 4
        yield (
            f'<text x="10" y="{height:.2f}" font-size="{NOTE}" fill="{MUTED}">'
            f"{escape(shown(note, 200))}</text>"
        )


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{FAINT}" stroke-width="0.7"/>'


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}">{escape(text)}</text>'


def _stroke(look: Look, width: float) -> str:
    dash = " ".join(f"{length * width:g}" for length in look.dash[1])
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{look.colour}" stroke-width="{width:g}"{dashes}'


def _marker(x: float, y: float, look: Look, id: str = "") -> str:
    data = f' data-line="{escape(shown(id, 300))}"' if id else ""
    return (
        f'<path d="{look.path}" transform="translate({x:.2f} {y:.2f})" fill="{look.inside}" '
        f'stroke="{PAPER}" stroke-width="0.7"{data}/>'
    )


def score_chart(curve: ScoreCurve) -> LineChart:
    """A line per store with that of its best subset, over the share of OPT that is possible."""
    styles = looks(store.store for store in curve.stores)
    lines = []
    for store in curve.stores:
        defined = [
            (float(budget), score, best)
            for budget, score, best in zip(curve.budgets, store.scores, store.best, strict=True)
            if score is not None and best is not None
        ]
        best_subset = tuple((budget, best) for budget, _, best in defined)
        scores = tuple((budget, score) for budget, score, _ in defined)
        own = [point for point in scores if point[0] >= store.cost][:1]
        look = styles[store.store]
        lines.append(ChartLine(f"best/{store.store}", best_subset, look, 0.8))
        lines.append(ChartLine(f"score/{store.store}", scores, look, name=store.store, markers=own))
    return LineChart(
        f"Score over all budgets: {curve.package}",
        f"budget ({curve.cost_rule})",
        "score",
        float(curve.budgets[-1]),
        1.04,
        lines,
        tuple(zip(map(float, curve.budgets), curve.optimum, strict=True)),
        [line.format(policy=curve.policy) for line in SCORE_NOTE],
    )


def frontier_chart(frontiers: Sequence[Frontier]) -> LineChart:
    """OPT for every budget, a line per package."""
    if not frontiers:
        raise MemAuditError("no frontier to draw")
    several = len(frontiers) > 1
    named = several and len(frontiers) <= MOST_NAMES
    lines = [
        ChartLine(
            frontier.digest,
            [(float(budget), float(value)) for budget, value in enumerate(frontier.values)],
            nth_look(place) if len(frontier.values) == 1 else replace(nth_look(place), marker=""),
            name=frontier.package if named else "",
            markers=[(0.0, float(frontier.values[0]))] if len(frontier.values) == 1 else (),
        )
        for place, frontier in enumerate(frontiers)
    ]
    about = f"{len(frontiers)} packages" if several else shown(frontiers[0].package, 40)
    highest = max(float(value) for frontier in frontiers for value in frontier.values)
    return LineChart(
        f"Best possible store of {about} at every budget",
        "budget (storage cost)",
        "optimum (weighted coverage)",
        float(max(1, *(len(frontier.values) - 1 for frontier in frontiers))),
        highest * 1.04,
        lines,
    )


def check_chart(path: Path) -> None:
    """Refuse a file that cannot be drawn, before any work is done."""
    if path.suffix.lower() != ".svg":
        raise MemAuditError(f"cannot draw {path}: the name must end in .svg")
    if not path.absolute().parent.is_dir():
        raise MemAuditError(f"cannot write {path}: its folder does not exist")
    may_write(path, "picture")


def write_score_chart(result: ScoreResult, path: Path, progress: Progress | None = None) -> None:
    """Draw a result's stores over all budgets."""
    check_chart(path)
    write_file(path, chart_svg(score_chart(score_curve(result, progress))))


def write_frontier_chart(frontiers: Sequence[Frontier], path: Path) -> None:
    """Draw OPT of every package for every budget."""
    check_chart(path)
    write_file(path, chart_svg(frontier_chart(frontiers)))
