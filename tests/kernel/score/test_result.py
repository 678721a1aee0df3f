"""What a scoring returns: rows by store and budget, one line each, frames, files and warnings."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MissingTool
from memaudit.kernel.io.score_file import read_score_run
from memaudit.kernel.io.store_file import ImportCount, Memory
from memaudit.kernel.losses import LOSS_STEPS
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Experience
from memaudit.kernel.score.package_scores import score_judged_stores, score_package
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.kernel.score.score_json import cells_data, lost_data, package_scores_data
from tests.kernel.score.small_stores import CAT, DOG, PETS, F, exported, fish_package, meals_scores


def pets(*budgets: object) -> ScoreResult:
    """Two stores: at 3 words OPT of all is 4, of which the one keeps 3 and the other 1."""
    scoring = Scoring(asked_budgets(budgets), {"dog": LexicalJudge(), "cat": LexicalJudge()})
    scoring = replace(scoring, trust_package_cells=True)
    return score_judged_stores(
        PETS, [exported(name="dog"), exported(name="cat")], [DOG, CAT], scoring
    )


def test_rows_by_budget() -> None:
    """Of a single store by the budget as it was asked for, or by the cost that it means."""
    result = meals_scores(5, "own")
    first, own = result.rows
    assert list(result) == [first, own]
    assert len(result) == 2
    keys: dict[Any, object] = dict.fromkeys((5, "5", 5.0, F(5), " 5 ", ("long", 5)), first)
    keys |= dict.fromkeys(("own", 7, ("long", "own"), ("long", 7)), own)
    assert all(result[key] is row for key, row in keys.items())
    wrong: tuple[tuple[Any, str], ...] = (
        (9, "no score of 'long' at 9; known budgets: 5, own"),
        ("10%", "no score of 'long' at '10%'; known budgets: 5, own"),
        ("six", "'six' is not a number; write a cost such as 250"),
        (None, "budget 'None': "),
        (("other", 5), "no store is called 'other'; known stores: long"),
    )
    for key, message in wrong:
        with pytest.raises(KeyError) as caught:
            result[key]
        assert message in str(caught.value)


def test_rows_of_several_stores() -> None:
    """A budget alone does not say which; the message says how to ask."""
    result = pets(3, "own")
    rows = [(row.store, row.budget) for row in result]
    assert rows == [("dog", 3), ("cat", 3), ("dog", 3), ("cat", 1)]
    assert (result["dog", 3].exact, result["cat", 3].exact) == (F(3, 4), F(1, 4))
    assert result["cat", "own"].budget == result["cat", 1].budget == 1
    with pytest.raises(KeyError, match=r"2 stores are scored; ask for result\['dog', 3\]"):
        result[3]


def test_one_line_per_budget() -> None:
    """The score, how it was kept, what was lost, and whether it is proven and an estimate."""
    result = meals_scores(5, "own", 0)
    verdict, *rows = repr(result).splitlines()
    assert verdict == (
        "long says 57% of everything that could be said, in 1.8 times the units of cost it needs: "
        "the same fits in 4 of 7 units of cost"
    )
    assert rows == [
        "long at 5: score 0.143, cut by recency, loses extraction 42.9%, cost 14.3%, selection "
        "28.6%, certified, an ESTIMATE",
        "long at own (7): score 0.571, everything fits, loses extraction 42.9%, certified, an "
        "ESTIMATE",
        "long at 0: score undefined (optimum is 0), cut by recency, certified, an ESTIMATE",
    ]
    assert [repr(row) for row in result] == rows
    (row,) = meals_scores(5).rows
    strange = replace(row, numbers=replace(row.numbers, store="a\nb\x1b[31m"))
    assert repr(strange).startswith(r"a\nb\x1b[31m at 5: score 0.143, ")


def test_numbers_of_a_row() -> None:
    """As a float and exactly, with the losses that sum to 1 with it; none where OPT is 0."""
    result = meals_scores(5, 0)
    row, nothing = result.rows
    assert (row.score, row.exact, row.between, row.undefined) == (1 / 7, F(1, 7), None, "")
    assert list(row.losses) == list(LOSS_STEPS)
    assert row.exact is not None
    assert row.exact + sum(row.losses.values()) == 1
    assert (row.optimum.value, row.kept_by, row.at) == (7, "recency", "5")
    assert nothing.score is nothing.exact is None
    assert (nothing.losses, nothing.lost, nothing.undefined) == ({}, (), "optimum is 0")


def test_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column once, numbers as floats, and nothing where there is no score; without pandas,
    how to install it."""
    pytest.importorskip("pandas")
    result = meals_scores(5, "own", 0)
    frame = result.to_frame()
    columns = "store,asked,budget,store_cost,kept_by,score,low,high"
    assert ",".join(frame.columns) == f"{columns},{','.join(LOSS_STEPS)},certified,is_estimate"
    assert frame.columns.is_unique
    assert list(frame["asked"]) == ["5", "own", "0"]
    assert list(frame["score"][:2]) == [1 / 7, 4 / 7]
    assert list(frame["cost"][:2]) == [1 / 7, 0]
    assert frame["score"].isna().tolist() == frame["cost"].isna().tolist() == [False, False, True]
    lost = result[5].lost.to_frame()
    assert list(lost["unit"]) == ["ended", "once", "now", "once"]
    assert list(lost["lost"]) == [3, 1, 3, -1]
    assert list(lost["asked_by"]) == ["q", "p", "q", "p"]
    monkeypatch.setitem(sys.modules, "pandas", None)  # an import of it fails
    for make in (result.to_frame, result[5].lost.to_frame):
        with pytest.raises(MissingTool, match=r"^to_frame needs pandas: pip install pandas$"):
            make()


def test_saved_files_are_score_files(tmp_path: Path) -> None:
    """With cells and lost units, as the command prints them; read back number for number."""
    result = meals_scores(5, "own")
    result.save(tmp_path / "scores.json")
    data = json.loads((tmp_path / "scores.json").read_text())
    assert data == json.loads(json.dumps(result.to_json(cells=True)))
    (file,) = read_score_run(data, "scores.json").packages
    assert (file.package, file.digest) == ("meals", result.digest)
    assert file.union_digest == result.union_digest
    for read, row in zip(file.scores, result, strict=True):
        assert (read.store, read.asked, read.budget) == (row.store, row.numbers.asked, row.budget)
        assert read.score == pytest.approx(row.score)
        assert read.loss_diagnosis is not None
        assert {name: loss.share for name, loss in read.loss_diagnosis.losses.items()} == row.losses
        assert read.lost_units is not None
        assert [(one.unit, one.step, one.lost) for one in read.lost_units] == [
            (one.unit, one.step, float(one.lost)) for one in row.lost
        ]
    assert [cell.unit for cell in file.cells["long"]] == ["once", "now"]


def test_what_scores_rest_on_and_do_not_see() -> None:
    """A line each: assumed cells by budget, copies of a text, rows that were not read."""
    assert meals_scores(5).warnings == ()
    texts = ("Ann eats fish now", "Ann eats fish now")
    store = exported(
        *(Memory(id=f"m{n}", text=text) for n, text in enumerate(texts)),
        count=ImportCount(read=3, kept=2, skipped={"no text": 1}),
    )
    package = fish_package("p").replace(experiences=(Experience(id="e", index=0, text="x " * 40),))
    result = score_package(package, [store], Scoring(asked_budgets("8,20%"), {"s": LexicalJudge()}))
    assert result.warnings == (
        "s at 8, 20% (8): 0.0% of OPT and 100.0% of what is kept rest on assumed cells: an "
        "ESTIMATE",
        "s: 1 memory with the text of another one, each counted; cost 4",
        "s: PARTLY READ: 1 row of the export is not in the store",
    )
    assert result.is_estimate
    (kept,) = {line for line in pets(3).warnings if "were kept" in line}
    assert kept == "the package's own assumed cells were kept: the judge did not judge them"


def test_in_a_notebook() -> None:
    """Texts of anybody are escaped, in the table, in the picture of losses and in warnings."""
    (row,) = meals_scores(5).rows
    named = replace(row, numbers=replace(row.numbers, store="<script>"))
    result = replace(meals_scores(5), rows=(named,))
    for html in (result._repr_html_(), named._repr_html_()):
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
    assert "<svg" in named._repr_html_()
    assert "14.3%" in named._repr_html_()
    (nothing,) = meals_scores(0).rows
    assert "<svg" not in nothing._repr_html_()
    lost = replace(row.lost[0], text="<script>")
    assert "&lt;script&gt;" in type(row.lost)((lost,))._repr_html_()


def test_cells() -> None:
    """Every cell that is not 0, in the order of writing; listed only where asked for."""
    scores = meals_scores(5)
    first, second = cells_data(scores)["long"]
    assert (first["id"], first["unit"], first["text"]) == ("m1", "once", "text of m1")
    assert (second["id"], second["unit"], second["value"]) == ("m2", "now", 1)
    data = package_scores_data(scores, cells=True)
    assert data["cells"] == cells_data(scores)
    lost = data["scores"][0]["lost_units"]
    assert lost == [lost_data(unit) for unit in scores.rows[0].lost]
    assert (lost[0]["kind"], lost[0]["weight"]) == ("supersession", 3)
    assert [query["id"] for query in lost[0]["asked_by"]] == ["q"]
    without = package_scores_data(scores)
    assert "cells" not in without
    assert "lost_units" not in without["scores"][0]
