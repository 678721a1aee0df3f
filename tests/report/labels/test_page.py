"""The page of a label audit, from what the audit commands print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memaudit.io.packages import write_package
from memaudit.natural.example import natural_set
from tests.cli.running import failure, run


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both halves of the audit of two shipped packages."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "packages").mkdir()
    for package in natural_set()[:2]:
        write_package(package, folder / "packages" / f"{package.name}.json")
    packages = sorted((folder / "packages").iterdir())
    assert run("audit", "frame", *packages, "--passes", "--out", folder / "frame").exit_code == 0
    labels = folder / "frame" / "passes.csv"
    agreement = run("audit", "agreement", folder / "frame", labels, "--draws", 50, "--json")
    (folder / "agreement.json").write_text(agreement.stdout)
    passes = ("--labels", "pass:blind_a", "--labels", "pass:blind_b")
    few = ("--budget", "12,24", "--writer", "gvt", "--writer", "recency_raw", "--draws", 1)
    ratios = run("audit", "ratios", *packages, *passes, *few, "--json")
    (folder / "ratios.json").write_text(ratios.stdout)
    return folder


def page(folder: Path, *files: Path) -> str:
    """The page of some files, without its style."""
    out = folder / "page.html"
    result = run("audit", "report", *files, "--out", out)
    assert result.exit_code == 0, result.output
    return re.sub(r"<style>.*?</style>", "", out.read_text(), flags=re.S)


def test_both_halves(audit: Path) -> None:
    """The table of the paper with our numbers, and the ratios of every store."""
    text = page(audit, audit / "agreement.json", audit / "ratios.json")
    data: dict[str, Any] = json.loads((audit / "agreement.json").read_text())
    kappa = data["pairs"][0]["scales"]["labels"]["as_drawn"]["kappa"]["value"]
    assert f"<strong>{kappa:.3f}</strong>" in text
    assert "pass:coverage - pass:blind_a" in text
    moved: dict[str, Any] = json.loads((audit / "ratios.json").read_text())
    for row in moved["ratios"]:
        assert f"<strong>{row['ratios']['package']['mean']:.3f}</strong>" in text
    assert "all certified" in text
    assert text.count(">all</td>") == len(moved["label_sets"])


def test_one_half(audit: Path) -> None:
    """Either file alone makes a page."""
    assert "Ratio change" not in page(audit, audit / "agreement.json")
    assert "Audit pair" not in page(audit, audit / "ratios.json")


def test_texts_are_escaped(audit: Path) -> None:
    """Markup and what cannot be seen in a memory stays text."""
    data = json.loads((audit / "agreement.json").read_text())
    data["disputed"] = [
        {"package": "p", "candidate_id": "m", "unit_id": "u", "labels": {"<b>": "full"},
         "candidate_text": "<script>alert(1)</script>\u202e", "unit_text": "<img src=x>"}
    ]  # fmt: skip
    file = audit / "hostile.json"
    file.write_text(json.dumps(data))
    text = page(audit, file)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in text
    assert "&lt;img src=x&gt;" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[1", "x.json:1: is not valid JSON"),
        ("{}", "is not what memaudit audit"),
        ('{"format": "memaudit-agreement"}', "lacks what a label audit holds"),
        ('{"format": "memaudit-label-ratios", "label_sets": 3}', "lacks what a label audit holds"),
    ],
)
def test_other_files(tmp_path: Path, content: str, said: str) -> None:
    """One line, and no page."""
    (tmp_path / "x.json").write_text(content)
    out = tmp_path / "page.html"
    assert said in failure("audit", "report", tmp_path / "x.json", "--out", out)
    assert not out.exists()


def test_the_same_twice(audit: Path) -> None:
    """Two files of one kind would contradict each other."""
    said = failure("audit", "report", audit / "ratios.json", audit / "ratios.json")
    assert "a second file of the same audit" in said
