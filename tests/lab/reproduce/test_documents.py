"""The card, the tables and the Croissant metadata of a run."""

import hashlib
import itertools
import json
import re
from pathlib import Path

import pytest

from memaudit.building.data_card import template
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import files_in

pytestmark = pytest.mark.slow
mlcroissant = pytest.importorskip("mlcroissant")


def test_croissant_is_valid(finished: Path) -> None:
    """mlcroissant has nothing to say against it, and every file is described with its hash."""
    dataset = mlcroissant.Dataset(jsonld=finished / "croissant.json")
    assert dataset.metadata.ctx.issues.errors == set()
    assert dataset.metadata.ctx.issues.warnings == set()
    described = {file.name: file.sha256 for file in dataset.metadata.file_objects}
    assert described.keys() == set(files_in(finished)) - {"manifest.json", "croissant.json"}
    for name, sha256 in described.items():
        assert hashlib.sha256((finished / name).read_bytes()).hexdigest() == sha256
    assert dataset.metadata.date_published.date().isoformat() == "1970-01-02"


@pytest.mark.parametrize("name", template()["records"])
def test_croissant_reads_the_rows(finished: Path, name: str) -> None:
    """The records are the rows, column by column."""
    dataset = mlcroissant.Dataset(jsonld=finished / "croissant.json")
    about = template()["records"][name]
    text = (finished / about["file"]).read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    records = list(itertools.islice(dataset.records(name), 10_000))
    assert len(records) == len(rows)
    for record, row in zip(records, rows, strict=True):
        for column in template()["columns"][about["columns"]]:
            found = record[f"{name}/{column}"]
            found = found.decode() if isinstance(found, bytes) else found
            if row[column] is None:
                assert found != found  # not a number: undefined
            elif isinstance(row[column], float):
                assert found == pytest.approx(row[column], rel=1e-12)  # pandas reads it
            else:
                assert found == row[column]


def test_the_card_says_what_it_must(finished: Path) -> None:
    """Every section, filled in from the run."""
    card = (finished / "card.md").read_text()
    assert re.findall("^## (.+)$", card, re.MULTILINE) == [
        "What is measured",
        "Intended use",
        "Not intended use",
        "Denominators",
        "Packages",
        "Annotation status",
        "The paper's numbers",
        "Limits",
        "Licences",
    ]
    assert "$" not in card
    # base at five budgets and eight distributions at one, two of which are one package each:
    # 3 x 5 + 6 x 3 + 2; three natural packages at three budgets; the same in three variants.
    assert "| controlled runs | 35 optima, 0 not certified |" in card
    assert "| own natural set | 9 optima, 0 not certified |" in card
    assert "| sensitivity | 27 optima, 0 not certified |" in card
    assert "| update_chain | 3 | 1 | generator, by seed |" in card
    assert "54 need the published archive" in card
    assert "CC BY-NC 4.0" in card


def test_own_numbers_are_marked_as_such(finished: Path) -> None:
    """No table of the own set can be taken for one of Natural-87."""
    own = sorted((finished / "tables").glob("*-own-set.md"))
    assert len(own) == 7
    for path in own:
        assert "This is not the paper's Natural-87" in path.read_text()


def test_tables_hold_what_rows_hold(finished: Path) -> None:
    """One cell, worked out from the rows."""
    rows = [
        row
        for row in read_journal(finished / "controlled" / "sweep" / "rows.jsonl")
        if (row["writer"], row["budget"]) == ("density_only", 4)
    ]
    mean = sum(row["ratio"] for row in rows) / len(rows)
    table = (finished / "tables" / "budget-sweep.md").read_text()
    (line,) = re.findall(r"^\| density_only .*\[.*$", table, re.MULTILINE)
    assert line.split("|")[4].strip().startswith(f"{mean:.3f} [")
