"""`memaudit label annotate`: what it prints, how it ends, and how it fails."""

import json
import signal
import sqlite3
from pathlib import Path

from memaudit.lab.labels.annotate.labelling import LabelDatabase, frame_digest
from memaudit.lab.labels.frame_files import read_label_sets
from memaudit.lab.serving import listen
from tests.cli.running import done, failure, run
from tests.lab.labels.annotate.small_frames import frame_folder, frame_of, served


def test_it_ends_cleanly(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 5)
    with served(folder, "ann") as server:
        assert server.first_line == "0 of 5 cells labelled by ann; press Ctrl-C to stop"
        server.post("/decisions", {"position": 1, "label": "full"})
        line = f"1 of 5 cells labelled by ann, saved in {folder / 'labels.sqlite'}\n"
        assert server.interrupt() == (0, line, "")
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
    for frame in (folder / "cells.csv", folder / "cells.jsonl"):
        done("label", "annotate", frame, "--annotator", "ann", *other)
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


def test_a_frame_without_a_key(tmp_path: Path) -> None:
    folder = frame_folder(tmp_path / "frame", 3)
    (folder / "key.csv").unlink()
    with served(folder, "ann", "--labels", str(tmp_path / "mine.sqlite")) as server:
        assert json.loads(server.get("/resume")[2])["progress"]["total"] == 3
    assert not (folder / "labels.sqlite").exists()


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
