"""`memaudit label sheets`: cells as Markdown and CSV, and what becomes of the answers."""

import csv
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from memaudit.building.named_packages import short_set
from memaudit.kernel.package.labels import Label
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_files import read_frame, read_label_sets, write_frame, write_labels
from tests.boards import UNITS, answer_sheet, make_board
from tests.cli.running import done, failure, import_texts, printed_json
from tests.lab.labels.small_frames import frame


def test_cells_of_stores(hotel_files: tuple[Path, Path], tmp_path: Path) -> None:
    """Written, filled in, and scored with: two stores that share their ids."""
    raw = [one.text for one in short_set()[0].candidates if one.kind == "raw"][:3]
    turns = import_texts(tmp_path / "turns.json", raw)
    folder = tmp_path / "sheets"
    words = ("label", "sheets", *hotel_files, turns, "--out", folder)
    text = done(*words).stdout
    assert text.startswith(f"wrote 10 cells of 7 texts in {folder}\n")
    assert text.endswith(f"  --judge labels:{folder / 'NAME.csv'}\n")
    table = folder / "ann.csv"
    judge = ("score", *hotel_files, turns, "--budget", "40", "--judge", f"labels:{table}")
    with (folder / "sheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["memory_id"].partition("/")[0] for row in rows} == {"export", "turns"}
    for row in rows:
        row["label"] = row["label"] or ("full" if row["unit_id"] == "u1" else "partial")
    with table.open("w", newline="") as file:
        filled = csv.DictWriter(file, rows[0].keys())
        filled.writeheader()
        filled.writerows(rows)
    data = printed_json(*judge)
    assert (data["judge"], data["coverage_is_an_estimate"]) == ("labels ann", False)
    value = {"full": Fraction(1), "partial": Fraction(1, 2), "none": Fraction(0)}
    expected: dict[str, Fraction] = {}
    for name in ("export", "turns"):
        covered: dict[str, Fraction] = defaultdict(Fraction)
        for row in rows:
            if row["memory_id"].startswith(f"{name}/"):
                covered[row["unit_id"]] += value[row["label"]]
        expected[name] = sum((min(Fraction(1), share) for share in covered.values()), Fraction(0))
    assert {row["store"]: row["written"]["value"] for row in data["scores"]} == expected
    (folder / "ann.csv").unlink()
    assert done(*words).stdout.startswith("already exists: 10 cells")
    every = ("label", "sheets", *hotel_files, turns, "--out", tmp_path / "every")
    assert done(*every, "--filter", "all").stdout.startswith("wrote 35 cells of 7 texts")


def test_sheets_of_a_frame(tmp_path: Path) -> None:
    """Texts on one line each, and no key; the answers are labels of the frame."""
    own = frame(3, "fpn")
    write_frame(own, tmp_path / "frame")
    out = tmp_path / "sheets"
    said = done("label", "sheets", tmp_path / "frame", "--out", out).stdout
    assert said == f"3 cells in {out}: sheet.csv, sheet.md\n"
    assert sorted(path.name for path in out.iterdir()) == ["sheet.csv", "sheet.md"]
    text = (out / "sheet.md").read_text()
    assert text.startswith("# Guideline")
    assert text.count("\n    Memory: ") == 3
    ids = [cell.id for cell in own.cells]
    answer = tmp_path / "ann.md"
    answer.write_text(f"{ids[0]}: full\n{ids[1]}: none\n{ids[2]}: cannot_tell\n")
    (said_labels,) = read_label_sets(answer, own)
    assert list(said_labels.labels.values()) == ["full", "none", "cannot_tell"]
    words = ("audit", "agreement", tmp_path / "frame", answer, "--set", "score.draws=10")
    assert printed_json(*words)["pairs"][0]["scales"]["labels"]["cells"] == 2
    assert "already exists" in failure("label", "sheets", tmp_path / "frame", "--out", out)


def test_a_grid_answered_by_cell(tmp_path: Path) -> None:
    """One reader writes lines, the other labels the same cells in a browser: both are read."""
    board = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]}, conversations=1)
    vendor, folder = tmp_path / "vendor", tmp_path / "sheets"
    vendor.mkdir()
    import_texts(vendor / "talk0.json", ["Nights are for work"])
    words = ("label", "sheets", board, "--add", f"x={vendor}", "--out", folder)
    done(*words)
    keeps = {"Nights are for work": {"u2"}}
    for sheet in folder.glob("*.md"):
        answer_sheet(sheet, keeps)
    cells = read_frame(folder / "talk0.b.cells.jsonl")
    assert not cells.key
    kept = {"Nights are for work": "Ann works nights", **{text: text for text in UNITS}}
    own: dict[str, Label] = {
        cell.id: "full" if kept.get(cell.candidate_text) == cell.unit_text else "none"
        for cell in cells.cells
    }
    label_set = LabelSet("ben", own)
    write_labels(label_set, folder / "talk0.b.csv")
    assert "talk0.b.txt and talk0.b.csv answer the same sheet" in failure(*words)
    (folder / "talk0.b.txt").unlink()
    said = done(*words).stdout
    assert "talk0: 4 pairs, 1 full and 0 partial in both, 0 differ" in said
    assert "kappa 1.00 with the board's labels on 4 controls" in said
    first = next(iter(own))
    write_labels(LabelSet("ben", {**own, first: "cannot_tell"}), folder / "talk0.b.csv")
    assert f"1 cell without full, partial or none, the first is {first}" in failure(*words)


def test_wrong_sources(tmp_path: Path) -> None:
    assert "give --add NAME=DIR or a board's folder" in failure("label", "sheets")
    assert "gone: does not exist" in failure("label", "sheets", tmp_path / "gone")
