"""`memaudit label cells`."""

import json
from pathlib import Path

from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_files import read_label_sets, write_frame, write_labels
from tests.building.passes.fake_model import answer, instead, plays
from tests.cli.running import done, failure, run
from tests.lab.labels.test_model_labels import FRAME, SAID
from tests.models.server import serving


def words(folder: Path, *more: object) -> tuple[object, ...]:
    write_frame(FRAME, folder / "f")
    return (
        "label",
        "cells",
        folder / "f",
        "--model",
        "one",
        "--out",
        folder / "one.csv",
        "--set",
        f"model.cache={folder / 'cache'}",
        "--set",
        "model.yes=true",
        *more,
    )


def test_live(tmp_path: Path) -> None:
    with serving(plays) as served:
        result = run(*words(tmp_path, "--set", f"model.base_url={served.url}"))
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("one.csv: 1 full, 2 none, 1 partial\n")
    (found,) = read_label_sets(tmp_path / "one.csv", FRAME)
    assert (found.annotator, found.labels) == ("model:one:coverage/2", SAID)
    done(*words(tmp_path, "--set", "model.provider=offline"))


def test_what_got_no_answer(tmp_path: Path) -> None:
    def lazy(body: dict[str, object]) -> str:
        found = answer(body)
        found["cells"] = [row for row in found["cells"] if row["label"] != "none"]
        return json.dumps(found)

    with serving(instead("coverage", lazy)) as served:
        shown = run(*words(tmp_path, "--set", f"model.base_url={served.url}"))
    assert "2 cells without a label: the model gave no answer" in shown.stderr
    assert "wrote 2 of 4 labels" in shown.stdout
    assert set(read_label_sets(tmp_path / "one.csv")[0].labels) == {"c0000", "c0001"}
    with serving(instead("coverage", "no JSON")) as served:
        other = words(
            tmp_path,
            "--set",
            f"model.base_url={served.url}",
            "--set",
            f"model.cache={tmp_path / 'new'}",
        )
        result = run(*other)
    assert result.exit_code == 1
    assert "gave no answer for any cell" in result.stderr


def test_nobodys_labels_are_overwritten(tmp_path: Path) -> None:
    write_labels(LabelSet("human_a", {"c0000": "none"}), tmp_path / "one.csv")
    assert "holds labels of 'human_a'" in failure(
        *words(tmp_path, "--set", "model.provider=offline")
    )
    (tmp_path / "one.csv").unlink()
    assert "is not a folder" in failure(
        *words(tmp_path, "--set", "model.provider=offline", "--out", tmp_path / "no" / "one.csv")
    )
    assert "written to a .csv" in failure(
        *words(tmp_path, "--set", "model.provider=offline", "--out", tmp_path / "one.txt")
    )
