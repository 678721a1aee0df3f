"""`memaudit demo`: the output, and what it leaves on disk."""

import json
import re
from pathlib import Path

import pytest

from memaudit.kernel.io.packages import example_package, read_package
from memaudit.kernel.solvers.solve import solve
from tests.cli.running import done, failure
from tests.golden_files import check_golden


@pytest.mark.slow
def test_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranking, verdict, report and explanation, with times masked; a second run finds all rows."""
    monkeypatch.chdir(tmp_path)
    result = done("demo")
    check_golden("demo.txt", re.sub(r"\d+\.\d{3} s", "0.000 s", result.stdout))
    folder = tmp_path / "out" / "demo"
    assert sorted(path.name for path in folder.iterdir()) == [
        "certificate.json",
        "package.json",
        "report.html",
        "run",
        "stores",
    ]
    package = read_package(folder / "package.json")
    done("verify", folder / "package.json", folder / "certificate.json")
    certificate = json.loads((folder / "certificate.json").read_text())
    assert solve(package, int(certificate["budget"]), solver="reference").certified
    assert "<h1>" in (folder / "report.html").read_text()
    stores = folder / "stores"
    assert "Memory systems on the natural set" in (stores / "board.html").read_text()
    scored = done(
        "score",
        stores / "package.json",
        stores / "mem0.json",
        stores / "letta.json",
        f"--judge labels:{stores / 'coverage.jsonl'}",
        f"--set judge.memories={stores / 'memories.jsonl'} --budget 120",
    )
    assert "letta at 120" in scored.stdout
    again = done("demo")
    assert "1920 of 1920 rows already existed" in again.stderr


def test_where_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    line = failure("demo", "--out", tmp_path / "taken")
    assert line.startswith(f"error: cannot make {tmp_path / 'taken'}")


def test_the_example_is_hand_checked() -> None:
    """Quotes are in the stream, every cell has a reason, all validity kinds occur."""
    package = example_package()
    texts = {experience.id: experience.text for experience in package.experiences}
    for unit in package.units:
        assert all(source.text in texts[source.id] for source in unit.sources)
    assert package.cost_rule == "words"
    assert all(cell.rationale and cell.label and cell.provenance for cell in package.coverage)
    assert {"current", "supersession", "deletion", "abstention", "temporal"} < {
        unit.kind for unit in package.units
    }
