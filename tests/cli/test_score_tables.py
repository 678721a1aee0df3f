"""Tables of scores: an open optimum is a bound without a single number; what is explained."""

from dataclasses import replace

import pytest
from rich.console import Console

from memaudit.cli.explanation import explanation
from memaudit.cli.score_tables import (
    advice_lines,
    all_numbers_table,
    lost_table,
    score_lines,
    scores_table,
)
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.optimum import Optimum
from memaudit.kernel.score.loss_diagnosis import LostUnits, NoDiagnosis, diagnose_losses
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import ScoreResult, Scoring, open_optima
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.score.score_json import score_row
from tests.kernel.score.small_stores import IRRATIONAL, LONG, F, exported, meals_scores
from tests.kernel.score.test_unit_parts import PACKAGE, STORE, Says


def opened(optimum: Optimum) -> Optimum:
    """The same, unproven: worth 2 more at most."""
    return replace(optimum, status="bound", certificate=None, bound=optimum.value + 2)


def open_scores() -> ScoreResult:
    """LONG on MEALS at 7, F(kept) = 4 of 7, with the union's optimum open."""
    found = meals_scores(7)
    (row,) = found.rows
    union = opened(row.optimum)
    numbers = replace(
        row.numbers,
        kept=replace(
            row.numbers.kept,
            ratio=replace(row.numbers.kept.ratio, optimum=union),
            union_ratio=replace(row.numbers.kept.union_ratio, optimum=union),
        ),
    )
    why = NoDiagnosis("long", F(7), "optimum not certified", "common union", union)
    return replace(found, rows=(replace(row, numbers=numbers, diagnosis=why, lost=LostUnits()),))


def printed(*tables: object) -> str:
    screen = Console(width=120, highlight=False)
    with screen.capture() as text:
        for table in tables:
            screen.print(table)
    return text.get()


def test_a_score_between_two_ends() -> None:
    """4 of 7 to 9: no single number is shown, and there are no losses. Over the package's
    own OPT, which is proven, it is 0.571."""
    result = open_scores()
    (row,) = result.rows
    assert (row.score, row.score_text, row.losses) == (None, "0.444..0.571", {})
    first, others = (
        printed(scores_table(score_lines(result), False)),
        printed(all_numbers_table(score_lines(result), False)),
    )
    open_score = "0.444..0.571"
    shown = first.splitlines()[-2].split()
    assert shown[:4] == ["long", "7", "all", open_score]
    assert others.splitlines()[-2].split()[2:6] == ["4", "4", "0.571", open_score]
    data = score_row(row)
    assert data["score"] is data["exact"] is None
    assert data["undefined"] == "optimum not certified"
    assert [round(end, 3) for end in data["between"]] == [0.444, 0.571]
    optimum = data["optimum"]
    assert (optimum["value"], optimum["bound"], optimum["status"]) == (7, 9, "bound")
    assert not optimum["certified"]


def test_which_optimum_and_how_far() -> None:
    """Each once, with its gap; nothing where all is proven."""
    assert open_optima(meals_scores(5, 7)) == []
    lines = [
        "bound: OPT of the union with long at 7 is not certified, it lies between 7 and 9",
        "bound: OPT of the common union at 7 is not certified, it lies between 7 and 9",
    ]
    assert open_optima(open_scores()) == lines
    assert set(lines) <= set(open_scores().warnings)
    assert advice_lines(open_scores().rows) == [
        "no diagnosis of 'long' at budget 7: the optimum of the common union is not certified, it "
        "lies between 7 and 9"
    ]


def test_gains_are_marked() -> None:
    """At 5 `now` is lost at selection for `once`, which is kept instead."""
    (row,) = meals_scores(5).rows
    cells = [line.split()[:4] for line in printed(lost_table(row.lost)).splitlines()[3:-1]]
    assert cells == [
        ["extraction", "ended", "supersession", "3"],
        ["cost", "once", "stale", "1"],
        ["selection", "now", "current", "3"],
        ["selection", "once", "stale", "+1"],
    ]
    assert repr(row.lost) == "3 losses and 1 gain of units"


def test_an_irrational_h_is_said() -> None:
    """The advice gives the precision of the losses; exact ones have none."""
    (row,) = meals_scores(5).rows
    (exact,) = advice_lines([row])
    assert exact.startswith("long at 5: improve ")
    assert "irrational" not in exact
    found = diagnose_losses(StoreScorer(IRRATIONAL, [LONG]), LONG, F(5))
    (line,) = advice_lines([replace(row, diagnosis=found)])
    assert line.startswith("long at 5: improve ")
    assert "some h is irrational" in line


def test_lost_parts_share_the_row_of_their_statement() -> None:
    """The store keeps the city and loses who and when, a quarter of 4 each."""
    result = score_package(
        PACKAGE.replace(candidates=(), coverage=()),
        [exported(Memory(id="m", text="to Lisbon"), name="one"), STORE],
        Scoring(
            asked_budgets(40),
            {
                "one": Says({"m": {"u7#what": F(1)}}),
                "s": Says({"all": {"u7#what": F(1), "u7#who": F(1), "u7#when": F(1)}}),
            },
        ),
    )
    text = " ".join(printed(lost_table(result.rows[0].lost)).split())
    assert "generation u7 fact 2 Ana moved to Lisbon in May 2023 (who, when) -" in text
    assert text.count("Lisbon") == 1


def test_a_unit_explained() -> None:
    """Who covers it, in the store and in the package, and what became of it at each budget."""
    data = explanation("now", meals_scores(5, 7, 0))
    unit = data["unit"]
    assert data["memories"] == []
    assert (unit["kind"], unit["weight"]) == ("current", 3)
    assert [query["id"] for query in unit["queries"]] == ["q"]
    (row,) = unit["memories"]
    assert (row["store"], row["id"], row["value"]) == ("long", "m2", 1)
    assert [(row["store"], row["id"]) for row in unit["candidates"]] == [(None, "both")]
    assert [(row["budget"], row["kept"], row["parts"]) for row in unit["scores"]] == [
        (5, 0, {"selection": 3}),
        (7, 3, {}),
        (0, None, None),
    ]


@pytest.mark.parametrize("id", ["m2", "long/m2"])
def test_a_memory_explained(id: str) -> None:
    """By its own id or as a candidate: what it covers, and when it was kept."""
    data = explanation(id, meals_scores(5, 7))
    assert data["unit"] is None
    (memory,) = data["memories"]
    assert (memory["store"], memory["memory"], memory["cost"]) == ("long", "m2", 5)
    assert [(cell["unit"], cell["value"]) for cell in memory["cells"]] == [("now", 1)]
    assert memory["scores"] == [
        {"budget": 5, "in_best_subset": True, "kept": False},
        {"budget": 7, "in_best_subset": True, "kept": True},
    ]
