"""The picture of scores over all budgets: what its lines hold, and that its texts can be read."""

from dataclasses import replace
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.report.figures.score_curve import LEGEND, score_curve_figure, write_score_curve
from memaudit.scoring.score_curve import ScoreCurve, StoreCurve, score_curve
from tests.report.figures.drawing import assert_readable
from tests.scoring.small_stores import F, meals_scores


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


def test_lines_and_markers() -> None:
    """The score, the best subset and the own cost of a store, and OPT; nothing where OPT is 0."""
    curve = score_curve(meals_scores(5))
    (axes,) = score_curve_figure(curve).axes[:1]
    lines = {line.get_gid(): line for line in axes.lines}
    (line,) = curve.stores
    for gid, values in (("score/long", line.scores), ("best/long", line.best)):
        assert list(lines[gid].get_xdata()) == [1, 2, 3, 4, 5, 6, 7]
        assert tuple(lines[gid].get_ydata()) == values[1:]
    assert (list(lines["own/long"].get_xdata()), list(lines["own/long"].get_ydata())) == (
        [7],
        [4 / 7],
    )
    assert axes.get_xlim() == (0, 7)
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] >= 1


@pytest.mark.parametrize(
    "names",
    [
        ("letta-1", "mem0-1", "langmem-1"),
        ("one",),
        tuple(f"a-store-whose-name-is-far-too-long-for-any-figure-{n}" for n in range(12)),
        ("$x^2$", "a\u202eb", "<b>"),
    ],
    ids=["three", "one", "many", "hostile"],
)
def test_texts_can_be_read(names: tuple[str, ...]) -> None:
    """No label on another, none cut off, and the legend in full; also if all lines end at once."""
    texts = assert_readable(score_curve_figure(curve_of(*names)))
    upwards = " ".join(" ".join(reversed(texts)).split())  # a note is written from its last line on
    legend = " ".join(LEGEND.format(policy="recency").split())
    for part in ("Score over all budgets: conv-26", "budget (words)", legend):
        assert part in upwards
    if len(names) == 3 and "mem0-1" in names:
        assert set(names) <= set(texts)
    curve = curve_of(*names)
    same = tuple(replace(one, scores=curve.stores[0].scores) for one in curve.stores)
    assert_readable(score_curve_figure(replace(curve, stores=same, package="p" * 300)))


def test_a_package_of_which_nothing_is_worth_anything() -> None:
    curve = curve_of("one", "two")
    nothing = tuple(None for _ in curve.budgets)
    empty = replace(
        curve,
        optimum=tuple(0.0 for _ in curve.budgets),
        stores=tuple(replace(one, scores=nothing, best=nothing) for one in curve.stores),
    )
    assert "one" in assert_readable(score_curve_figure(empty))


def test_files(tmp_path: Path) -> None:
    """In the format of the name; another one is refused before anything is solved."""
    result = meals_scores(5)
    for name, start in (("a.svg", b"<?xml"), ("a.png", b"\x89PNG"), ("a.pdf", b"%PDF")):
        write_score_curve(result, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)

    def never(done: int) -> None:
        raise AssertionError(f"solved {done}")

    with pytest.raises(MemAuditError, match=r"a\.gif"):
        write_score_curve(result, tmp_path / "a.gif", never)
    assert not (tmp_path / "a.gif").exists()
