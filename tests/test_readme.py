"""What README and docs show is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.candidates import EXTRACT_RULES
from memaudit.building.coverage_rules import RULE_TEXTS
from memaudit.kernel.checker import verify
from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import ground
from memaudit.kernel.solvers.registry import SOLVERS
from memaudit.kernel.solvers.solve import solve

ROOT = Path(__file__).parents[1]
DOCS = sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", *DOCS]


def block(page: str, kind: str) -> str:
    found = re.search(
        rf"^```{kind}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    )
    assert found, f"{page} has no {kind} block"
    return found[1]


def package_of(page: str, folder: Path) -> Package:
    """The package a page shows, read from a file as a user would."""
    (folder / "p.json").write_text(block(page, "json package"))
    return read_package(folder / "p.json")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / page).read_text())
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []


def test_the_layout_map_is_complete() -> None:
    """Every part of src/memaudit, of the kernel and of the lab is on it, and nothing else."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    layout = re.search(r"^src/memaudit/\n(.*?)^bench/", page, re.S | re.M)
    assert layout
    named: set[str] = set()
    above = ""
    for line in layout[1].splitlines():
        name = line.split()[0].rstrip("/")
        above = above if line.startswith("    ") else name
        named.add(f"{above}/{name}" if line.startswith("    ") else name)
    source = ROOT / "src" / "memaudit"
    there = {path.name for path in source.iterdir()}
    for floor in ("kernel", "lab"):
        there |= {f"{floor}/{path.name}" for path in (source / floor).iterdir() if path.is_dir()}
    there = {name for name in there if not name.rpartition("/")[2].startswith(("_", "."))}
    assert named - {"kernel/checker.py"} == there - {"py.typed"}


def test_the_package_page(tmp_path: Path) -> None:
    """Its example is valid, and worth what the README says."""
    package = package_of("docs/packages.md", tmp_path)
    assert [solve(package, budget).value for budget in package.budgets] == [3, 6]


def test_the_certificate_page(tmp_path: Path) -> None:
    """Its certificate holds, its other tree holds, and its weak proof is refused as it says."""
    package = package_of("docs/certificates.md", tmp_path)
    shown: dict[str, Any] = json.loads(block("docs/certificates.md", "json certificate"))
    assert solve(package, 3).value == 4
    assert solve(package, 3, solver="reference").certificate == Certificate.from_json(shown)
    verdict = verify(package, Certificate.from_json(shown))
    assert (verdict.valid, verdict.leaves) == (True, 1)
    text = " ".join((ROOT / "docs" / "certificates.md").read_text().split())
    tree, weak = "[1, 2, 1, 1, 2, 0, 0, 2, 0, 0, 2, 0, 0]", "[2, 0, 0]"
    assert f"`{tree}`" in text
    assert f"With `{weak}` the certificate is refused" in text
    branched = verify(package, Certificate.from_json({**shown, "proof": json.loads(tree)}))
    assert (branched.valid, branched.leaves) == (True, 3)
    refused = verify(package, Certificate.from_json({**shown, "proof": json.loads(weak)}))
    assert not refused.valid
    assert f'"{refused.reason}"' in text


def first_cells(page: str) -> list[str]:
    """The first cell of every row of its tables, where it is one word in code style."""
    return re.findall(r"^\| `([^`]+)`(?: \(default\))? \|", (ROOT / page).read_text(), re.MULTILINE)


def test_the_page_of_natural_packages_names_every_rule() -> None:
    """The extracts, and every provenance that a build gives."""
    assert {*EXTRACT_RULES, *RULE_TEXTS} <= set(first_cells("docs/natural.md"))


def test_what_cells_rest_on_is_what_the_page_says() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (`.*?) \|", (ROOT / "docs/optima.md").read_text(), re.MULTILINE
    )
    named = {prefix: rests_on for rests_on, cell in rows for prefix in re.findall(r"`(\S+)`", cell)}
    assert {rests_on for rests_on, _ in rows} == {"judged", "exact", "assumed"}
    assert len(named) == 14
    assert {prefix: ground(f"{prefix}x").value for prefix in named} == named


def test_the_solver_page_names_every_solver() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "solvers.md").read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(SOLVERS)
