"""`memaudit audit agreement` on a small frame, from its files."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import write_package
from memaudit.lab.labels.frame import Frame, LabelSet
from memaudit.lab.labels.frame_files import write_frame, write_labels
from tests.cli.running import done, failure, printed_json
from tests.golden_files import check_golden
from tests.lab.labels.small_frames import frame, labels, plain_cell
from tests.lab.labels.test_package_cells import package_with_passes

KEY = "fffppnnnnnnnnn"
ANN = "ffpppnnnnnfnn?"
BEN = "fffppnnnnnnpn."
BOT = "ffnnpnnnnnfnnn"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    held = frame(14, KEY, {place: Fraction(7, 2) for place in range(5, 14)})
    cells = tuple(
        replace(
            plain_cell(place, f"p{place // 7}", "fact" if place % 2 else "summary"),
            candidate_text=f"memory \x1b[31m{place} [red]",
        )
        for place in range(14)
    )
    write_frame(Frame(cells, held.key), tmp_path / "frame")
    for name, said in (("ann", ANN), ("ben", BEN), ("model:bot", BOT)):
        write_labels(labels(name, said), tmp_path / f"{name.rpartition(':')[2]}.csv")
    return tmp_path


def arguments(folder: Path, *more: object) -> tuple[object, ...]:
    files = (folder / "frame", folder / "ann.csv", folder / "ben.csv")
    return ("audit", "agreement", *files, "--set", "score.draws=100", *more)


def test_printed(folder: Path) -> None:
    result = done(*arguments(folder, folder / "bot.csv"))
    assert "\x1b" not in result.stdout
    masked = re.sub(r"\[-?\d\.\d+, -?\d\.\d+\]", "[low, high]", result.stdout)
    check_golden("audit_agreement.txt", masked)
    assert "memaudit audit report shows where disagreements are" in result.stdout


def test_json(folder: Path) -> None:
    """Complete, and the same every time.

    Thirteen cells are compared, c013 is in doubt for one and missing for the other: f-f 2, p-f 1,
    p-p 2, n-n 6, f-n 1, n-p 1; so rows and columns are none 7, partial 3, full 3, expected
    (49 + 9 + 9) / 169, observed 10/13, and kappa (130 - 67) / (169 - 67).
    """
    words = arguments(folder)
    data = printed_json(*words)
    assert (data["cells"], data["packages"], data["interval"]) == (14, 2, "over_packages")
    first = data["pairs"][0]
    assert (first["first"]["name"], first["second"]["name"]) == ("ann", "ben")
    found = first["scales"]["labels"]
    assert found["cells"] + sum(found["left_out"].values()) == 14
    assert found["as_drawn"]["confusion"] == [[6, 1, 0], [0, 2, 1], [1, 0, 2]]
    assert found["as_drawn"]["kappa"]["value"] == pytest.approx(63 / 102)
    kinds = " ".join(one["kind"] for one in data["pairs"])
    package = "annotator-package"
    assert kinds == f"annotator-annotator consensus-package {package} {package}"
    assert len(data["disputed"]) == 3
    assert printed_json(*words) == data


def test_undefined_is_said(folder: Path) -> None:
    """Where all labels are the same, and, of what the frame was drawn from, where it has no key."""
    for name in ("x", "y"):
        write_labels(labels(name, "n" * 14), folder / f"{name}.csv")
    (folder / "frame" / "key.csv").unlink()
    files = (folder / "frame" / "cells.csv", folder / "x.csv", folder / "y.csv")
    words = ("audit agreement", *files, "--set score.draws=10")
    result = done(*words)
    row = next(line for line in result.stdout.splitlines() if line.strip().startswith("x - y"))
    assert "undefined" in row
    data = printed_json(*words)
    (pair,) = data["pairs"]
    kappa = pair["scales"]["labels"]["as_drawn"]["kappa"]
    assert kappa == {"value": None, "over_cells": None, "over_packages": None}
    assert pair["scales"]["labels"]["natural"] is None
    assert any("no key" in note for note in data["notes"])


def test_passes_of_a_package(tmp_path: Path) -> None:
    write_package(package_with_passes("session", 4), tmp_path / "p.json")
    words = ("audit", "agreement", tmp_path / "p.json")
    result = done(*words, "pass:a", "pass:b", "--set", "score.draws=10")
    assert "4 cells of 1 package" in result.stdout
    assert "the package's own labels are pass:a" in result.stdout


def test_wrong_input(folder: Path) -> None:
    ann = folder / "ann.csv"
    write_labels(LabelSet("eve", {"c999": "full"}), folder / "eve.csv")
    write_labels(labels("ann", "ff"), folder / "more.csv")
    for files, message in {
        (ann, "pass:a"): "give either files or passes",
        (ann, ann): "given twice",
        (folder / "eve.csv",): "'c999', which is not in the frame",
        (ann, folder / "more.csv"): "in two files",
        (folder / "gone.csv",): "gone.csv: does not exist (check the path)",
    }.items():
        assert message in failure("audit", "agreement", folder / "frame", *files)
    (folder / "frame" / "key.csv").unlink()
    cells = folder / "frame" / "cells.csv"
    assert "only 'ann' labelled" in failure("audit", "agreement", cells, ann)
