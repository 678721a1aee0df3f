"""Cells to be labelled: which they are, and that a filled in sheet judges the stores it is of."""

import csv
import re
from pathlib import Path

import pytest

from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import named_filter
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import MemoryText, NotJudged
from memaudit.kernel.score.package_scores import score_package
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_files import read_frame, read_label_sets, write_labels
from memaudit.lab.labels.store_cells import SHARES_NOTHING, store_cells, write_store_cells
from tests.kernel.score.small_stores import exported

PACKAGE = Package.model_validate(
    {
        "name": "p",
        "cost_rule": "words",
        "experiences": [{"id": "e"}],
        "candidates": [
            {
                "id": "guess",
                "experience": "e",
                "kind": "fact",
                "text": "Ann may eat fish",
                "cost": 4,
            },
            {"id": "known", "experience": "e", "kind": "fact", "text": "Bo has a dog", "cost": 4},
        ],
        "units": [
            {"id": "-fish", "kind": "fact", "text": "Ann eats fish now.", "weight": 1},
            {"id": "dog", "kind": "fact", "text": "Bo has a dog called Rex.", "weight": 1},
            {"id": "idle", "kind": "fact", "text": "Ann eats fish with Bo.", "weight": 0},
        ],
        "coverage": [
            {"candidate": "guess", "unit": "dog", "value": "1/2", "provenance": "heuristic:x"},
            {"candidate": "known", "unit": "dog", "value": 1, "provenance": "exact:statement"},
        ],
    }
)
FISH, DOG, NEITHER = "Ann eats fish and rice", "=Bo has a dog", "It rained."
ONE = exported(Memory(id="m1", text=FISH), Memory(id="m2", text=NEITHER), name="one")
TWO = exported(Memory(id="m1", text=DOG), Memory(id="m2", text=FISH), name="two")
TWO_TERMS = named_filter("two-terms")


def fill(path: Path, values: dict[tuple[str, str], str]) -> Path:
    """Fill in the sheet of a folder by text and unit, as a spreadsheet saves it, as ann.csv."""
    with (path / "sheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (path / "ann.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        for row in rows:
            texts = row["memory_text"].removeprefix("'"), row["unit_id"].removeprefix("'")
            table.writerow({**row, "label": row["label"] or values[texts]})
    return path / "ann.csv"


def scored(path: Path, *stores: ExportedStore) -> ScoreResult:
    judge = LabelJudge(path)
    scoring = Scoring(asked_budgets(20), {store.name: judge for store in stores})
    return score_package(PACKAGE, stores, scoring)


VALUES = {
    (FISH, "-fish"): "full",
    (DOG, "dog"): "partial",
    ("Ann may eat fish", "-fish"): "0.5",
    ("Ann may eat fish", "dog"): "no",
}


def test_which_cells() -> None:
    """Each text once, in the order of the stores, with the weighted units that it may cover; a
    candidate of the package if a rule gave it a cell. A text like no unit has one cell of none."""
    found = store_cells(PACKAGE, [ONE, TWO], TWO_TERMS)
    assert [(cell.id, cell.candidate, cell.unit) for cell in found.cells] == [
        ("c0001", "one/m1", "-fish"),
        ("c0002", "one/m2", "-fish"),
        ("c0003", "two/m1", "dog"),
        ("c0004", "guess", "-fish"),
        ("c0005", "guess", "dog"),
    ]
    assert found.filled == {"c0002": SHARES_NOTHING}
    first = found.cells[0]
    assert (first.candidate_text, first.unit_text) == (FISH, "Ann eats fish now.")
    assert len(store_cells(PACKAGE, [ONE, TWO], named_filter("all")).cells) == 4 * 2
    idle = PACKAGE.replace(
        units=tuple(unit.model_copy(update={"weight": 0}) for unit in PACKAGE.units)
    )
    with pytest.raises(MemAuditError, match="'p' has no unit that a query needs; nothing to lab"):
        store_cells(idle, [ONE], TWO_TERMS)


def write(folder: Path, *stores: ExportedStore) -> Path:
    write_store_cells(folder, PACKAGE, stores, TWO_TERMS)
    return folder


def test_a_filled_in_sheet_judges_both_stores(tmp_path: Path) -> None:
    """They share ids, and the labels hold for texts. So do those of the package's own guess. A
    text that looks like a formula is not one in the table, and is itself again when it is read."""
    folder = tmp_path / "sheets"
    said = write_store_cells(folder, PACKAGE, [ONE, TWO], TWO_TERMS)
    assert said == f"wrote 5 cells of 4 texts in {folder}"
    text = (folder / "sheet.csv").read_text()
    assert "'=Bo has a dog" in text
    assert not any(
        cell.startswith(("=", "-", "+", "@"))
        for row in csv.reader(text.splitlines())
        for cell in row
    )
    path = fill(folder, VALUES)
    result = scored(path, ONE, TWO)
    assert [row.numbers.written.value for row in result] == [1, 1.5]
    assert result.package_cells == "judged"
    guess = {cell.unit: cell.value for cell in result.package.coverage if cell.candidate == "guess"}
    assert guess == {"-fish": 0.5}
    assert not result.is_estimate
    (cell,) = result.stores[0].memories[0].coverage.values()
    assert cell.provenance == "pass:ann"
    alone = scored(path, exported(Memory(id="other", text=FISH), name="three"))
    assert alone.rows[0].numbers.written.value == 1


def test_every_front_end_gives_the_same_labels(tmp_path: Path) -> None:
    """The filled in table, lines of Markdown, and labels by cell as the browser exports them."""
    folder = write(tmp_path / "sheets", ONE, TWO)
    frame = read_frame(folder)
    (by_table,) = read_label_sets(fill(folder, VALUES), frame)
    lines = (f"- **{id.upper()}**: {label}." for id, label in by_table.labels.items())
    (folder / "ben.md").write_text("Here are the labels:\n" + "\n".join(lines))
    (by_line,) = read_label_sets(folder / "ben.md", frame)
    assert by_line.labels == by_table.labels
    write_labels(by_line, folder / "ben.csv")
    for name in ("ann.csv", "ben.csv"):
        result = scored(folder / name, ONE, TWO)
        assert [row.numbers.written.value for row in result] == [1, 1.5]
    (tmp_path / "away").mkdir()
    away = tmp_path / "away" / "ben.csv"
    write_labels(by_line, away)
    with pytest.raises(MemAuditError, match=r"labels name cells; put cells\.jsonl or"):
        LabelJudge(away)
    judge = LabelJudge(away, folder / "cells.csv")
    result = score_package(PACKAGE, [ONE], Scoring(asked_budgets(20), {ONE.name: judge}))
    assert result.rows[0].numbers.written.value == 1


def test_no_cell_is_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "sheets", ONE, TWO)
    with pytest.raises(MemAuditError, match=r"^sheet\.csv:2: has nothing in the field 'label"):
        LabelJudge(folder / "sheet.csv")
    frame = read_frame(folder)
    labels = read_label_sets(fill(folder, VALUES), frame)[0].labels
    few = {id: label for id, label in labels.items() if id != "c0003"}
    write_labels(LabelSet("ann", few), folder / "few.csv")
    with pytest.raises(MemAuditError, match=r"1 cell of cells\.jsonl without a label, .* c0003"):
        LabelJudge(folder / "few.csv")
    write_labels(LabelSet("ann", {**labels, "c9": "full"}), folder / "more.csv")
    with pytest.raises(MemAuditError, match=r"more\.csv:7: names a cell that cells\.jsonl"):
        LabelJudge(folder / "more.csv")
    (folder / "ann.md").write_text("c0001: full\n")
    with pytest.raises(MemAuditError, match=r"4 pairs without a line, the first is c0002"):
        read_label_sets(folder / "ann.md", frame)
    for line, message in {
        "c0001: maybe": "ann.md:1: expected full, partial or none",
        "c9: full": "begins with 'C9'; expected a number from c0001 to c0005",
        "c0001 is full": "expected a line such as",
    }.items():
        (folder / "ann.md").write_text(line)
        with pytest.raises(MemAuditError, match=re.escape(message)):
            read_label_sets(folder / "ann.md", frame)


def test_cannot_tell_is_counted(tmp_path: Path) -> None:
    path = fill(write(tmp_path / "sheets", ONE), {**VALUES, (FISH, "-fish"): "cannot_tell"})
    judgement = LabelJudge(path).judge([MemoryText("x", FISH)], PACKAGE.units)
    assert judgement.left_out["cells that nobody could tell"] == 1
    assert not judgement.cells["x"]


def test_a_text_that_is_not_on_the_sheet_is_refused(tmp_path: Path) -> None:
    path = fill(write(tmp_path / "sheets", ONE), VALUES)
    with pytest.raises(NotJudged, match=r"1 of 2 memories are not among the texts .* 'm1'; label"):
        scored(path, TWO)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """It may hold labels. The same cells again are no error."""
    folder = write(tmp_path / "sheets", ONE)
    fill(folder, VALUES)
    assert write_store_cells(folder, PACKAGE, [ONE], TWO_TERMS).startswith("already exists: 4 cel")
    with pytest.raises(MemAuditError, match=r"sheets: already holds another frame"):
        write_store_cells(folder, PACKAGE, [TWO], TWO_TERMS)
    assert (folder / "ann.csv").is_file()


def test_ids_of_stores_are_distinguished(tmp_path: Path) -> None:
    """`a/b` of store `s` is not `b` of store `s/a`."""
    stores = (
        exported(Memory(id="a/b", text=FISH), name="s"),
        exported(Memory(id="b", text=DOG), name="s/a"),
    )
    path = fill(write(tmp_path / "sheets", *stores), VALUES)
    assert [row.numbers.written.value for row in scored(path, *stores)] == [1, 0.5]
