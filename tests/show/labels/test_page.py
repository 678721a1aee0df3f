"""The page of a label audit, from what the audit commands print."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from tests.cli.running import failure, run


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both halves of the audit of two shipped packages."""
    folder = tmp_path_factory.mktemp("audit")
    (folder / "packages").mkdir()
    for package in short_set()[:2]:
        write_package(package, folder / "packages" / f"{package.name}.json")
    packages = sorted((folder / "packages").iterdir())
    three = ("pass:coverage", "pass:blind_a", "pass:blind_b")
    words = (folder / "packages", *three, "--set", "score.draws=50", "--json")
    agreement = run("audit", "agreement", *words)
    (folder / "agreement.json").write_text(agreement.stdout)
    passes = ("--labels", "pass:blind_a", "--labels", "pass:blind_b")
    few = (
        "--budget",
        "12,24",
        "--writer",
        "gvt",
        "--writer",
        "recency_raw",
    )
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
    for pair in data["pairs"]:
        kappa = pair["scales"]["labels"]["as_drawn"]["kappa"]
        ends = kappa["over_packages"]
        assert f"{kappa['value']:.3f} [{ends['low']:.3f}, {ends['high']:.3f}]</td>" in text
    assert "pass:coverage - pass:blind_a" in text
    moved: dict[str, Any] = json.loads((audit / "ratios.json").read_text())
    for row in moved["ratios"]:
        for mean in row["ratios"].values():
            assert f"{mean['mean']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]</td>" in text
    assert "all certified" in text
    assert text.count(">all</td>") == len(moved["label_sets"])


def test_where_labels_disagree(audit: Path) -> None:
    """The groups of the first pair with their share of its disagreements; strata are left out."""
    text = page(audit, audit / "agreement.json")
    data: dict[str, Any] = json.loads((audit / "agreement.json").read_text())
    (first, *_) = data["pairs"]
    groups = first["scales"]["labels"]["groups"]
    kinds = [group for group in groups if group["by"] == "candidate kind"]
    assert len(kinds) > 1
    total = sum(group["disagreements"] for group in kinds)
    name = f"{first['first']['name']} - {first['second']['name']}"
    assert f"{name}, Labels: full, partial, none: {total} disagreements in" in text
    for one in kinds:
        share = f'<td class="n">{100 * one["disagreements"] / total:.0f}%</td>'
        row = (
            rf"<td class=\"words\">{one['group']}</td><td class=\"n\">{one['cells']}</td>.*{share}"
        )
        assert re.search(row, text)
    assert "candidate kind</th>" in text
    assert "stratum</th>" not in text


def test_the_scale_that_is_fair(audit: Path) -> None:
    """Whoever never says partial is compared by covered or not; equal labels have no table."""
    data: dict[str, Any] = json.loads((audit / "agreement.json").read_text())
    data["raters"][1]["labels"]["partial"] = 0
    file = audit / "binary.json"
    file.write_text(json.dumps(data))
    assert re.search(
        r"<caption>pass:coverage - \S+, Covered at all .*, or not: ", page(audit, file)
    )
    data["pairs"][0]["scales"]["covered"]["as_drawn"]["confusion"] = [[9, 0], [0, 9]]
    file.write_text(json.dumps(data))
    assert "pass:coverage - pass:blind_a, " not in page(audit, file)


def test_files_of_earlier_versions(audit: Path) -> None:
    """They have more: alpha, draws of labels, intervals of correlations; and may lack notes."""
    data = json.loads((audit / "ratios.json").read_text())
    del data["notes"]
    data |= {"draws": 100, "confusion": [], "doubt": {}}
    for own in data["label_sets"]:
        for shift in own["shifts"]:
            shift["ranking"]["tau_b"] |= {"low": 0.5, "high": None}
    for row in data["ratios"]:
        row["label_draws"] = {"draws": 100, "low": 0.1, "high": 0.2}
    (audit / "earlier.json").write_text(json.dumps(data))
    text = page(audit, audit / "earlier.json")
    assert "Ratio MAD</th>" in text
    assert "Note:" not in text


def test_one_half(audit: Path) -> None:
    assert "Ratio MAD" not in page(audit, audit / "agreement.json")
    assert "Audit pair" not in page(audit, audit / "ratios.json")


def test_texts_are_escaped(audit: Path) -> None:
    """Markup and what cannot be seen in a memory stays text."""
    data = json.loads((audit / "agreement.json").read_text())
    data["disputed"] = [
        {
            **data["disputed"][0],
            "labels": {"<b>": "full"},
            "candidate_text": "<script>alert(1)</script>\u202e",
            "unit_text": "<img src=x>",
        }
    ]
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
        ("{}", "not a file of memaudit audit"),
        ('{"format": "memaudit-agreement"}', "x.json: cells: field required; write it again"),
        ('{"format": "memaudit-label-ratios", "label_sets": 3}', "write it again with --json"),
    ],
)
def test_other_files(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "x.json").write_text(content)
    out = tmp_path / "page.html"
    assert said in failure("audit", "report", tmp_path / "x.json", "--out", out)
    assert not out.exists()


def test_the_same_twice(audit: Path) -> None:
    """Two files of one kind would contradict each other."""
    said = failure("audit", "report", audit / "ratios.json", audit / "ratios.json")
    assert "second file of the same audit" in said
