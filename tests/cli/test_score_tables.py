"""An optimum that is not certified is called a bound in every table."""

from dataclasses import replace
from fractions import Fraction

from memaudit.cli.score import diagnosis_sentence
from memaudit.cli.score_tables import open_optima, ratio_text
from memaudit.core.optimum import Optimum
from memaudit.scoring.loss_diagnosis import NoDiagnosis, diagnose_losses
from memaudit.scoring.package_scores import PackageScores
from memaudit.scoring.score import StoreScorer
from memaudit.scoring.score_json import score_row
from tests.scoring.small_stores import IRRATIONAL, LONG, MEALS
from tests.scoring.test_score_json import meals_scores

F = Fraction


def opened(optimum: Optimum) -> Optimum:
    """The same, unproven: worth 2 more at most."""
    return replace(optimum, status="bound", certificate=None, bound=optimum.value + 2)


def open_scores() -> PackageScores:
    """LONG on MEALS at 5, F(Y) = 4 of 7, with the union's optimum open."""
    found = meals_scores(5)
    (row,) = found.rows
    union = opened(row.score.union_ratio.optimum)
    score = replace(
        row.score,
        union_ratio=replace(row.score.union_ratio, optimum=union),
        common_ratio=replace(row.score.common_ratio, optimum=union),
    )
    lost = NoDiagnosis("long", F(5), "optimum not certified", "common union", union)
    return replace(found, rows=(replace(row, score=score, diagnosis=lost),))


def test_ratio_between_two_ends() -> None:
    """4 of 7 to 9: no single number is shown."""
    (row,) = open_scores().rows
    assert ratio_text(row.score.union_ratio) == "0.444..0.571"
    assert ratio_text(row.score.package_ratio) == "0.667"
    data = score_row(row.score)["union_ratio"]
    assert (data["value"], data["undefined"], data["status"]) == (
        None, "optimum not certified", "bound",
    )  # fmt: skip
    assert (data["optimum"], data["bound"], data["certified"]) == (7, 9, False)
    assert [round(end, 3) for end in data["between"]] == [0.444, 0.571]


def test_which_optimum_and_how_far() -> None:
    """Each once, with its gap; nothing where all is proven."""
    assert open_optima(meals_scores(5, 7)) == []
    assert open_optima(open_scores()) == [
        "bound: OPT of the union with long at 5 is not certified, it lies between 7 and 9",
        "bound: OPT of the common union at 5 is not certified, it lies between 7 and 9",
    ]


def test_an_irrational_h_is_said() -> None:
    """The sentence gives the precision of its shares; exact ones have none."""
    found = diagnose_losses(StoreScorer(IRRATIONAL, [LONG]), LONG, F(5))
    text = diagnosis_sentence(found)
    assert text.startswith("long at 5: keeps ")
    assert "some h is irrational" in text
    exact = diagnosis_sentence(diagnose_losses(StoreScorer(MEALS, [LONG]), LONG, F(5)))
    assert "irrational" not in exact
