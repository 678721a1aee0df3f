"""`memaudit label`: frames, sheets, cells by a model, and the annotator."""

import csv
import json
import signal
import sqlite3
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.labels import Label
from memaudit.lab.labels.annotate.labelling import LabelDatabase, frame_digest
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_files import read_frame, read_label_sets, write_frame, write_labels
from memaudit.lab.serving import listen
from tests.boards import UNITS, answer_sheet, make_board
from tests.building.passes.fake_model import answer, instead, plays
from tests.building.talks import DIET, load
from tests.cli.running import done, failure, import_texts, printed_json, run
from tests.lab.labels.annotate.small_frames import frame_folder, frame_of, served
from tests.lab.labels.small_frames import frame, grid
from tests.lab.labels.test_model_labels import FRAME, SAID
from tests.models.server import serving


def test_the_shipped_set(tmp_path: Path) -> None:
    out = tmp_path / "f"
    asked = ("label", "frame", "short", "--skip-exact", "--out", out)
    result = done(*asked, "--seed", 1)
    frame = read_frame(out)
    assert {one.package for one in frame.cells} >= {"film-night", "hotel-rooms"}
    lines = result.stdout.splitlines()
    wrote = f"wrote {len(frame.cells):,} cells of 26 packages"
    assert any(line.startswith(wrote) for line in lines)
    assert lines[-1] == "hide from annotators: key.csv, frame.json"
    assert not any(line.startswith("left out") for line in lines)  # readers judged all its cells
    again = done(*asked, "--seed", 1)
    assert "already exists" in again.stdout
    assert "holds another frame" in failure(*asked, "--seed", 2)


def test_skipping_what_is_exact(tmp_path: Path) -> None:
    """Of the gold labels' 24 cells, two turns and two sessions state t1 and t3 word for word."""
    package = build_package(load(tmp_path, DIET), AnnotationRecipe("chat")).package
    write_package(package, tmp_path / "diet.json")
    asked = ("label", "frame", tmp_path / "diet.json", "--skip-exact", "--zero-rate", 1)
    lines = done(*asked, "--out", tmp_path / "f").stdout.splitlines()
    assert "left out: 4 cells exact" in lines
    shown = {(one.candidate, one.unit) for one in read_frame(tmp_path / "f").cells}
    exact = {("t1/raw", "t1"), ("s1/session", "t1"), ("t3/raw", "t3"), ("s2/session", "t3")}
    assert not shown & exact
    assert ("t3/raw", "supersession/q1") in shown


def test_how_it_was_drawn(tmp_path: Path) -> None:
    asked = ("label frame short --candidate-kind fact --zero-rate 1/2",)
    done(*asked, "--out", tmp_path / "f")
    data = json.loads((tmp_path / "f" / "frame.json").read_text())
    frame = read_frame(tmp_path / "f")
    assert data["cells"] == len(frame.cells)
    assert (data["seed"], data["zero_rate"], data["candidate_kinds"]) == (0, 0.5, ["fact"])
    for one in data["strata"]:
        assert one["drawn"] == -(-one["uncovered"] // 2)
    assert sum(one["covered"] + one["drawn"] for one in data["strata"]) == data["cells"]


def test_wrong_frames(tmp_path: Path) -> None:
    write_package(grid("tenth"), tmp_path / "g.json")
    asked = ("label", "frame", tmp_path / "g.json", "--out", tmp_path / "f")
    for options, message in {
        ("--zero-rate", "lots"): "--zero-rate: 'lots' is not a number",
        ("--zero-rate", "1.5"): "is not between 0 and 1",
        ("--candidate-kind", "x"): "of the kind 'x'",
    }.items():
        assert message in failure(*asked, *options)
    assert not (tmp_path / "f").exists()


def test_cells_of_stores(hotel_files: tuple[Path, Path], tmp_path: Path) -> None:
    """Written, filled in, and scored with: two stores that share their ids."""
    raw = [one.text for one in short_set()[0].candidates if one.kind == "raw"][:3]
    turns = import_texts(tmp_path / "turns.json", raw)
    folder = tmp_path / "sheets"
    asked = ("label", "sheets", *hotel_files, turns, "--out", folder)
    text = done(*asked).stdout
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
    assert done(*asked).stdout.startswith("already exists: 10 cells")
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
    asked = ("audit", "agreement", tmp_path / "frame", answer, "--set", "score.draws=10")
    assert printed_json(*asked)["pairs"][0]["scales"]["labels"]["cells"] == 2
    assert "already exists" in failure("label", "sheets", tmp_path / "frame", "--out", out)


def test_a_grid_answered_by_cell(tmp_path: Path) -> None:
    """One reader writes lines, the other labels the same cells in a browser: both are read."""
    board = make_board(tmp_path / "board", {"good": [list(UNITS[2:])]}, conversations=1)
    vendor, folder = tmp_path / "vendor", tmp_path / "sheets"
    vendor.mkdir()
    import_texts(vendor / "talk0.json", ["Nights are for work"])
    asked = ("label", "sheets", board, "--add", f"x={vendor}", "--out", folder)
    done(*asked)
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
    assert "talk0.b.txt and talk0.b.csv answer the same sheet" in failure(*asked)
    (folder / "talk0.b.txt").unlink()
    said = done(*asked).stdout
    assert "talk0: 4 pairs, 1 full and 0 partial in both, 0 differ" in said
    assert "kappa 1.00 with the board's labels on 4 controls" in said
    first = next(iter(own))
    write_labels(LabelSet("ben", {**own, first: "cannot_tell"}), folder / "talk0.b.csv")
    assert f"1 cell without full, partial or none, the first is {first}" in failure(*asked)


def test_wrong_sources(tmp_path: Path) -> None:
    assert "give --add NAME=DIR or a board's folder" in failure("label", "sheets")
    assert "gone: does not exist" in failure("label", "sheets", tmp_path / "gone")


def cells_words(folder: Path, *more: object) -> tuple[object, ...]:
    write_frame(FRAME, folder / "f")
    return (
        "label cells",
        folder / "f",
        "--model one --out",
        folder / "one.csv",
        f"--set model.cache={folder / 'cache'} --set model.yes=true",
        *more,
    )


def test_cells_by_a_model(tmp_path: Path) -> None:
    with serving(plays) as served:
        result = run(*cells_words(tmp_path, "--set", f"model.base_url={served.url}"))
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("one.csv: 1 full, 2 none, 1 partial\n")
    (found,) = read_label_sets(tmp_path / "one.csv", FRAME)
    assert (found.annotator, found.labels) == ("model:one:coverage/2", SAID)
    done(*cells_words(tmp_path, "--set", "model.provider=offline"))


def test_what_got_no_answer(tmp_path: Path) -> None:
    def lazy(body: dict[str, object]) -> str:
        found = answer(body)
        found["cells"] = [row for row in found["cells"] if row["label"] != "none"]
        return json.dumps(found)

    with serving(instead("coverage", lazy)) as served:
        shown = run(*cells_words(tmp_path, "--set", f"model.base_url={served.url}"))
    assert "2 cells without a label: the model gave no answer" in shown.stderr
    assert "wrote 2 of 4 labels" in shown.stdout
    assert set(read_label_sets(tmp_path / "one.csv")[0].labels) == {"c0000", "c0001"}
    with serving(instead("coverage", "no JSON")) as served:
        new = f"--set model.cache={tmp_path / 'new'}"
        result = run(*cells_words(tmp_path, f"--set model.base_url={served.url}", new))
    assert result.exit_code == 1
    assert "gave no answer for any cell" in result.stderr


def test_nobodys_labels_are_overwritten(tmp_path: Path) -> None:
    write_labels(LabelSet("human_a", {"c0000": "none"}), tmp_path / "one.csv")
    offline = "--set model.provider=offline"
    assert "holds labels of 'human_a'" in failure(*cells_words(tmp_path, offline))
    (tmp_path / "one.csv").unlink()
    for name, message in (("no/one.csv", "is not a folder"), ("one.txt", "written to a .csv")):
        assert message in failure(*cells_words(tmp_path, offline, "--out", tmp_path / name))


def test_it_ends_cleanly(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 5)
    with served(folder, "ann") as server:
        assert server.first_line == "0 of 5 cells labelled by ann; press Ctrl-C to stop"
        server.post("/decisions", {"position": 1, "label": "full"})
        line = f"1 of 5 cells labelled by ann, saved in {folder / 'labels.sqlite'}\n"
        assert server.interrupt() == (0, line, "")
    (folder / "key.csv").unlink()  # it is not needed
    with served(folder, "ann") as server:
        assert server.first_line == "1 of 5 cells labelled by ann; press Ctrl-C to stop"
        server.process.send_signal(signal.SIGTERM)
        assert server.process.communicate(timeout=30) == (line, "")
        assert server.process.returncode == 0
    assert [path.name for path in folder.glob("labels*")] == ["labels.sqlite"]


def test_export(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 5)
    cells = frame_of(5).cells
    for place, label in ((folder / "labels.sqlite", "full"), (tmp_path / "mine.sqlite", "none")):
        store = LabelDatabase(place, frame_digest(cells), 5)
        store.decide("ann", "c0003", "partial", "why")
        store.decide("ann", "c0001", label, "")  # type: ignore[arg-type]
        store.close()
    out = tmp_path / "labels.csv"
    result = run("label", "annotate", folder, "--annotator", "ann", "--export", out)
    assert result.stdout == f"2 of 5 cells labelled by ann, written to {out}\n"
    (found,) = read_label_sets(out)
    assert (found.labels, found.notes) == ({"c0001": "full", "c0003": "partial"}, {"c0003": "why"})
    other = ("--labels", tmp_path / "mine.sqlite", "--export", tmp_path / "mine.csv")
    for cells_file in (folder / "cells.csv", folder / "cells.jsonl"):
        done("label annotate", cells_file, "--annotator", "ann", *other)
    (found,) = read_label_sets(tmp_path / "mine.csv")
    assert found.labels == {"c0001": "none", "c0003": "partial"}
    line = failure("label", "annotate", folder, "--annotator", "ben", "--export", out)
    assert line.endswith("labels.sqlite: no labels by 'ben'; it holds: ann (2)")


def test_failures_are_one_line(tmp_path: Path) -> None:
    folder, other = frame_folder(tmp_path / "a", 3), frame_folder(tmp_path / "b", 4)

    def line(frame: Path, *options: object) -> str:
        return failure("label", "annotate", frame, "--annotator", "ann", "--no-browser", *options)

    assert "no labels here yet" in line(folder, "--export", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    assert not (folder / "labels.sqlite").exists()
    assert "nowhere" in line(tmp_path / "nowhere")
    LabelDatabase(folder / "labels.sqlite", frame_digest(frame_of(3).cells), 3).close()
    line_of_another = line(other, "--labels", folder / "labels.sqlite")
    assert "contains labels of another frame (3 cells" in line_of_another
    (tmp_path / "text").write_text("nothing to open " * 99)
    assert "file is not a database" in line(folder, "--labels", tmp_path / "text")
    assert "printable" in failure("label", "annotate", folder, "--annotator", "a\x1b[2J")
    with listen(0) as busy:
        port = busy.getsockname()[1]
        assert f"127.0.0.1 port {port}: address already in use" in line(folder, "--port", port)


def test_a_database_that_breaks_while_it_runs(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 3)
    with served(folder, "ann") as server:
        with sqlite3.connect(folder / "labels.sqlite") as link:
            link.execute("DROP TABLE drafts")
        link.close()
        body = json.dumps({"position": 1, "label": "full"}).encode()
        headers = {**server.cookie(), "origin": server.origin, "content-type": "application/json"}
        status, _, answer = server.send("POST", "/decisions", headers, body)
        assert status == 503
        error = json.loads(answer)["error"]
        assert error.startswith("cannot use the labels in ")
        assert error.endswith("no such table: drafts")
        with sqlite3.connect(folder / "labels.sqlite") as link:
            assert link.execute("SELECT count(*) FROM decisions").fetchone() == (0,)
        link.close()
