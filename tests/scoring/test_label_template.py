"""Cells to be labelled: which they are, and that a filled in table judges the stores it is of."""

import csv
import json
from pathlib import Path

import pytest

from memaudit.adapters.store import ExportedStore, Memory
from memaudit.core.budgets import asked_budgets
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.judge import NotJudged
from memaudit.scoring.label_judges import LabelJudge
from memaudit.scoring.label_template import SHARES_NOTHING, template_rows, write_label_template
from memaudit.scoring.package_scores import score_package
from memaudit.scoring.pair_filters import named_filter
from memaudit.scoring.result import ScoreResult, Scoring
from tests.scoring.small_stores import exported

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


def fill(path: Path, values: dict[tuple[str, str], str]) -> None:
    """Write coverage by text and unit, as a spreadsheet saves it."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys())
        table.writeheader()
        for row in rows:
            texts = row["memory"].removeprefix("'"), row["unit_id"].removeprefix("'")
            table.writerow({**row, "coverage": row["coverage"] or values[texts]})


def scored(path: Path, *stores: ExportedStore) -> ScoreResult:
    judge = LabelJudge(path)
    scoring = Scoring(asked_budgets(20), {store.name: judge for store in stores})
    return score_package(PACKAGE, stores, scoring)


VALUES = {
    (FISH, "-fish"): "1",
    (DOG, "dog"): "0.5",
    ("Ann may eat fish", "-fish"): "0.5",
    ("Ann may eat fish", "dog"): "0",
}


def test_which_cells() -> None:
    """Each text once, in the order of the stores, with the weighted units that it may cover; a
    candidate of the package if a rule gave it a cell. A text like no unit has one row of 0."""
    rows = list(template_rows(PACKAGE, [ONE, TWO], TWO_TERMS))
    assert [(row["memory_id"], row["unit_id"], row["coverage"], row["why"]) for row in rows] == [
        ("one/m1", "-fish", "", ""),
        ("one/m2", "-fish", "0", SHARES_NOTHING),
        ("two/m1", "dog", "", ""),
        ("guess", "-fish", "", ""),
        ("guess", "dog", "", ""),
    ]
    assert (rows[0]["memory"], rows[0]["unit"]) == (FISH, "Ann eats fish now.")
    all_pairs = list(template_rows(PACKAGE, [ONE, TWO], named_filter("all")))
    assert len(all_pairs) == 4 * 2
    idle = PACKAGE.replace(
        units=tuple(unit.model_copy(update={"weight": 0}) for unit in PACKAGE.units)
    )
    with pytest.raises(MemAuditError, match="'p' has no unit that a query needs; nothing to lab"):
        list(template_rows(idle, [ONE], TWO_TERMS))


def test_a_filled_in_table_judges_both_stores(tmp_path: Path) -> None:
    """They share ids, and the labels hold for texts. So do those of the package's own guess. A
    text that looks like a formula is not one in the table, and is itself again when it is read."""
    path = tmp_path / "labels.csv"
    said = write_label_template(path, PACKAGE, [ONE, TWO], TWO_TERMS)
    assert said == "5 cells of 4 texts"
    assert "'=Bo has a dog" in path.read_text()
    assert not any(
        cell.startswith(("=", "-", "+", "@"))
        for row in csv.reader(path.read_text().splitlines())
        for cell in row
    )
    fill(path, VALUES)
    result = scored(path, ONE, TWO)
    assert [row.numbers.written.value for row in result] == [1, 1.5]
    assert result.package_cells == "judged"
    guess = {cell.unit: cell.value for cell in result.package.coverage if cell.candidate == "guess"}
    assert guess == {"-fish": 0.5}
    assert not result.is_estimate
    (cell,) = result.stores[0].memories[0].coverage.values()
    assert cell.provenance == "pass:labels"
    alone = scored(path, exported(Memory(id="other", text=FISH), name="three"))
    assert alone.rows[0].numbers.written.value == 1


def test_as_jsonl(tmp_path: Path) -> None:
    """The same rows, with texts as they are."""
    path = tmp_path / "labels.jsonl"
    write_label_template(path, PACKAGE, [ONE, TWO], TWO_TERMS)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == list(template_rows(PACKAGE, [ONE, TWO], TWO_TERMS))
    for row in rows:
        row["coverage"] = row["coverage"] or VALUES[row["memory"], row["unit_id"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [row.numbers.written.value for row in scored(path, ONE, TWO)] == [1, 1.5]


def test_what_is_not_filled_in_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_label_template(path, PACKAGE, [ONE, TWO], TWO_TERMS)
    with pytest.raises(MemAuditError, match=r"^labels\.csv:2: has nothing in the field 'c"):
        LabelJudge(path)


def test_a_text_that_is_not_in_the_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    write_label_template(path, PACKAGE, [ONE], TWO_TERMS)
    fill(path, VALUES)
    with pytest.raises(NotJudged, match=r"1 of 2 memories are not among the texts .* 'm1'; label"):
        scored(path, TWO)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """It may hold labels."""
    path = tmp_path / "labels.csv"
    path.write_text("mine")
    with pytest.raises(MemAuditError, match=r"labels\.csv: already exists, and may hold labels"):
        write_label_template(path, PACKAGE, [ONE], TWO_TERMS)
    assert path.read_text() == "mine"
    with pytest.raises(MemAuditError, match=r"labels\.txt: a template is a \.csv or a \.jsonl"):
        write_label_template(tmp_path / "labels.txt", PACKAGE, [ONE], TWO_TERMS)
    assert [one.name for one in tmp_path.iterdir()] == ["labels.csv"]


def test_ids_of_stores_are_distinguished(tmp_path: Path) -> None:
    """`a/b` of store `s` is not `b` of store `s/a`."""
    stores = (
        exported(Memory(id="a/b", text=FISH), name="s"),
        exported(Memory(id="b", text=DOG), name="s/a"),
    )
    path = tmp_path / "labels.csv"
    write_label_template(path, PACKAGE, stores, TWO_TERMS)
    fill(path, VALUES)
    assert [row.numbers.written.value for row in scored(path, *stores)] == [1, 0.5]
