"""Charts as SVG text: what their lines hold, and that any text leaves them well formed."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.frontier import frontier
from memaudit.show.score_curve import ScoreCurve, StoreCurve, score_curve
from memaudit.show.svg_charts import (
    SCORE_NOTE,
    chart_svg,
    frontier_chart,
    score_chart,
    shown,
    write_score_chart,
)
from tests.kernel.score.small_stores import F, meals_scores

SVG = "{http://www.w3.org/2000/svg}"


def curve_of(*names: str) -> ScoreCurve:
    """Stores that are ever worse, with their own costs on the way."""
    budgets = tuple(range(201))
    return ScoreCurve(
        package="conv-26",
        union_digest="d",
        cost_rule="words",
        policy="recency",
        budgets=budgets,
        optimum=tuple(min(1.0, budget / 80) for budget in budgets),
        stores=tuple(
            StoreCurve(
                name,
                F(40 + 10 * n),
                (None, *(min(1.0, budget / 100) / (n + 1) for budget in budgets[1:])),
                (None, *(1 / (n + 1) for _ in budgets[1:])),
            )
            for n, name in enumerate(names)
        ),
    )


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_lines_and_markers() -> None:
    """The score, the best subset and the own cost of a store; nothing where OPT is 0."""
    curve = score_curve(meals_scores(5))
    chart = score_chart(curve)
    (store,) = curve.stores
    best, score = chart.lines
    assert (best.id, score.id, score.name) == ("best/long", "score/long", "long")
    assert list(score.points) == list(zip(range(1, 8), store.scores[1:], strict=True))
    assert list(best.points) == list(zip(range(1, 8), store.best[1:], strict=True))
    assert list(score.markers) == [(7, 4 / 7)]
    assert (chart.last, [value for _, value in chart.area]) == (7, list(curve.optimum))


def test_a_step_line_by_hand(tiny: Package) -> None:
    """Between 0 and 2 budgets the plot is 638 wide: from 62 to 700. OPT is 0, 1 and 1."""
    opt = replace(frontier(tiny, 2), values=(Fraction(0), Fraction(1), Fraction(1)))
    svg = chart_svg(frontier_chart([opt]))
    (line,) = re.findall(r'<path d="(M[^"]*)"[^>]*data-line', svg)
    # The chart is 330 high: 0 is at 330 - 46 = 284, and 1 is 246 / 1.04 above it.
    assert line == "M62.0 284.0H381.0V47.46H700.0"


@pytest.mark.parametrize(
    "names",
    [
        ("letta-1", "mem0-1", "langmem-1"),
        tuple(f"a-store-whose-name-is-far-too-long-for-any-figure-{n}" for n in range(12)),
        ('<b>&"', "a\u202eb", "\x1b[2J", "\u8bb0\u5fc6" * 30),
    ],
    ids=["three", "many", "hostile"],
)
def test_names_are_written_apart(names: tuple[str, ...]) -> None:
    """Every name once, a row apart and inside the picture, also if all lines end at once."""
    curve = curve_of(*names)
    same = tuple(replace(store, scores=curve.stores[0].scores) for store in curve.stores)
    for drawn in (curve, replace(curve, stores=same, package="p" * 300)):
        root = ElementTree.fromstring(chart_svg(score_chart(drawn)))
        width, height = (float(root.attrib[name]) for name in ("width", "height"))
        labels = [text for text in root.iter(f"{SVG}text") if text.get("text-anchor") == "start"]
        assert sorted(text.text or "" for text in labels) == sorted(map(shown, names))
        rows = sorted(float(text.attrib["y"]) for text in labels)
        assert all(below - above > 16.9 for above, below in pairwise(rows))
        assert rows[-1] < height
        assert max(float(text.attrib["x"]) for text in labels) < width
    for note in SCORE_NOTE:
        assert note.format(policy="recency") in texts(chart_svg(score_chart(curve)))


def test_names_are_cut_in_the_middle() -> None:
    assert shown("short") == "short"
    assert shown("a" * 40 + "-1") == "a" * 20 + "\u2026" + "a" * 7 + "-1"
    assert shown("e\u0301\u0302\u0303") == "\u00e9\u0302"
    assert shown("a\u202eb\x1b") == "a\ufffdb\ufffd"


def test_a_package_of_which_nothing_is_worth_anything() -> None:
    curve = curve_of("one", "two")
    nothing = tuple(None for _ in curve.budgets)
    stores = tuple(replace(store, scores=nothing, best=nothing) for store in curve.stores)
    empty = replace(curve, optimum=tuple(0.0 for _ in curve.budgets), stores=stores)
    assert {"one", "two"} <= set(texts(chart_svg(score_chart(empty))))


def test_many_frontiers_have_no_names(tiny: Package) -> None:
    """Up to 21 packages are named; none of one, since the title names it."""
    opt = frontier(tiny, 4)
    for count, named in ((1, 0), (2, 2), (21, 21), (22, 0)):
        svg = chart_svg(frontier_chart([opt] * count))
        assert texts(svg).count(opt.package) == named
        assert svg.count("data-line") == count
    with pytest.raises(MemAuditError, match="no frontier to draw"):
        frontier_chart([])


def test_files(tmp_path: Path) -> None:
    """Another format is refused before anything is solved."""
    result = meals_scores(5)
    write_score_chart(result, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<svg ")

    def never(done: int) -> None:
        raise AssertionError(f"solved {done}")

    with pytest.raises(MemAuditError, match=r"a\.png: the name must end in \.svg"):
        write_score_chart(result, tmp_path / "a.png", never)
    assert not (tmp_path / "a.png").exists()
