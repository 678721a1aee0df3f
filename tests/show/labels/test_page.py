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
    assert run("label", "frame", *packages, "--passes", "--out", folder / "frame").exit_code == 0
    labels = folder / "frame" / "passes.csv"
    agreement = run(
        "audit", "agreement", folder / "frame", labels, "--set", "score.draws=50", "--json"
    )
    (folder / "agreement.json").write_text(agreement.stdout)
    passes = ("--labels", "pass:blind_a", "--labels", "pass:blind_b")
    few = (
        "--budget",
        "12,24",
        "--writer",
        "gvt",
        "--writer",
        "recency_raw",
        "--set",
        "score.draws=1",
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
    kappa = data["pairs"][0]["scales"]["labels"]["as_drawn"]["kappa"]["value"]
    assert f"<strong>{kappa:.3f}</strong> (" in text
    assert "pass:coverage - pass:blind_a" in text
    moved: dict[str, Any] = json.loads((audit / "ratios.json").read_text())
    for row in moved["ratios"]:
        assert f"<strong>{row['ratios']['package']['mean']:.3f}</strong>" in text
    assert "all certified" in text
    assert text.count(">all</td>") == len(moved["label_sets"])


def test_alpha_and_agreement_on_each_side(audit: Path) -> None:
    """Krippendorff's alpha of every level, and positive and negative agreement, as in the JSON."""
    text = page(audit, audit / "agreement.json")
    data: dict[str, Any] = json.loads((audit / "agreement.json").read_text())
    assert "Krippendorff's \N{GREEK SMALL LETTER ALPHA} of 3 annotators" in text
    assert len(data["alpha"]) > 3
    for one in data["alpha"]:
        ends = one[data["interval"]]
        interval = f"({ends['low']:.3f} to {ends['high']:.3f})"
        assert f"<strong>{one['value']:.3f}</strong> {interval}</td>" in text
    for pair in data["pairs"]:
        own = pair["scales"]["covered"]["as_drawn"]["specific_agreement"]
        positive, negative = own["covered"]["value"], own["not covered"]["value"]
        assert f'<td class="n">{positive:.3f}</td><td class="n">{negative:.3f}</td></tr>' in text


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
    assert f"{name}, full, partial, none: {total} disagreements in {data['cells']} cells" in text
    for one in kinds:
        share = f"<strong>{100 * one['disagreements'] / total:.0f}%</strong>"
        row = rf"<td>{one['group']}</td><td class=\"n\">{one['cells']}</td>.*{share}"
        assert re.search(row, text)
    assert "candidate kind</th>" in text
    assert "stratum</th>" not in text


def test_the_scale_that_is_fair(audit: Path) -> None:
    """Whoever never says partial is compared by covered or not; equal labels have no table."""
    data: dict[str, Any] = json.loads((audit / "agreement.json").read_text())
    data["raters"][1]["labels"]["partial"] = 0
    file = audit / "binary.json"
    file.write_text(json.dumps(data))
    assert re.search(r"<caption>pass:coverage - \S+, covered at all, or not: ", page(audit, file))
    data["pairs"][0]["scales"]["covered"]["as_drawn"]["confusion"] = [[9, 0], [0, 9]]
    file.write_text(json.dumps(data))
    assert "Where labels disagree</h3>" not in page(audit, file)


def test_draws_and_both_correlations(audit: Path) -> None:
    """Spearman's interval stands beside Kendall's; one draw is called a range, and notes stay."""
    text = page(audit, audit / "ratios.json")
    data: dict[str, Any] = json.loads((audit / "ratios.json").read_text())
    ranking = data["label_sets"][0]["shifts"][0]["ranking"]
    both = [
        f"<strong>{one['value']:.3f}</strong> ({one['low']:.2f} to {one['high']:.2f})</td>"
        for one in (ranking["tau_b"], ranking["spearman_rho"])
    ]
    assert f'{both[0]}<td class="n">{both[1]}</tr>' in text
    assert "Labels drawn, range" in text
    assert "the range of 1 draw of the" in text
    data["ratios"][0]["label_draws"]["interval"] = "middle 95%"
    del data["notes"]  # as earlier versions wrote it
    (audit / "earlier.json").write_text(json.dumps(data))
    text = page(audit, audit / "earlier.json")
    assert "Labels drawn, middle 95%" in text
    assert "Note:" not in text


def test_one_half(audit: Path) -> None:
    assert "Ratio change" not in page(audit, audit / "agreement.json")
    assert "Audit pair" not in page(audit, audit / "ratios.json")


def test_texts_are_escaped(audit: Path) -> None:
    """Markup and what cannot be seen in a memory stays text."""
    data = json.loads((audit / "agreement.json").read_text())
    data["disputed"] = [
        {
            "package": "p",
            "candidate_id": "m",
            "unit_id": "u",
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
        ('{"format": "memaudit-agreement"}', "incomplete label audit"),
        ('{"format": "memaudit-label-ratios", "label_sets": 3}', "incomplete label audit"),
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
