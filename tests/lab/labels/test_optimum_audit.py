"""A second look at optima."""

import json
from fractions import Fraction
from pathlib import Path

from memaudit.building.named_packages import short_set
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.lab.labels.frame import LabelSet
from memaudit.lab.labels.frame_files import read_frame, write_labels
from memaudit.lab.labels.optimum_audit import JudgesAgain, audit_optimum, cross_fit
from tests.cli.running import run as command
from tests.kernel.score.small_stores import memory

F = Fraction
PACKAGE = Package.model_validate(
    {
        "name": "pets",
        "cost_rule": "words",
        "experiences": [{"id": "e"}, {"id": "f"}, {"id": "g"}],
        "candidates": [
            {
                "id": "cut",
                "experience": "e",
                "kind": "sentence",
                "text": "5 years already!",
                "cost": 3,
            },
            {"id": "fact", "experience": "f", "kind": "fact", "text": "Ann has a dog", "cost": 4},
            {
                "id": "other",
                "experience": "g",
                "kind": "fact",
                "text": "Ann wed in 2018",
                "cost": 4,
            },
        ],
        "units": [
            {"id": "u", "kind": "fact", "text": "Ann has been married for 5 years", "weight": 4},
            {"id": "v", "kind": "fact", "text": "Ann has a dog", "weight": 1},
        ],
        "coverage": [
            {"candidate": "cut", "unit": "u", "value": 1, "provenance": "heuristic:containment-v1"},
            {"candidate": "fact", "unit": "v", "value": 1, "provenance": "pass:a"},
            {"candidate": "other", "unit": "u", "value": 0.5, "provenance": "pass:a"},
        ],
    }
)


def labels(folder: Path, *rows: tuple[str, str, float]) -> Path:
    path = folder / "again.jsonl"
    fields = ("memory_id", "unit_id", "coverage")
    path.write_text("".join(json.dumps(dict(zip(fields, row, strict=True))) + "\n" for row in rows))
    return path


def test_what_does_not_survive_is_replaced(tmp_path: Path) -> None:
    """The optimum claims 5 at 7 words. The cut sentence states nothing, so `other` takes its place:
    2, and the fact does not fit beside it within 7."""
    again = labels(tmp_path, ("cut", "u", 0), ("fact", "v", 1), ("other", "u", 0.5))
    store = JudgedStore("s", (memory("m", 2, "a dog", v="0.5"),))
    audit = audit_optimum(PACKAGE, [store], F(7), JudgesAgain(LabelJudge(again)))
    assert (audit.claimed.value, audit.surviving, audit.survival) == (5, 1, F(1, 5))
    assert (audit.corrected.value, audit.corrected.certified) == (F(5, 2), True)
    assert audit.looked_at == 3
    assert audit.not_looked_at == 1, "the memory is not in the labels"
    assert [(row.provenance, row.kind, row.claimed, row.surviving) for row in audit.groups] == [
        ("heuristic:containment-v1", "sentence", 4, 0),
        ("pass:a", "fact", 1, 1),
    ]
    (row,) = audit.stores
    assert row.best_ratio == (F(1, 10), F(1, 5))
    assert row.score == row.best_ratio


def test_the_store_of_one_pass_is_valued_under_the_other() -> None:
    package = next(package for package in short_set() if package.name == "hotel-rooms")
    fits = {(fit.chosen, fit.valued): fit for fit in cross_fit(package, F(30))}
    assert len(fits) == 6
    for fit in fits.values():
        assert fit.worth <= fit.optimum
    assert cross_fit(PACKAGE, F(30)) == []


def test_people_label_just_the_cells_of_an_optimum(tmp_path: Path) -> None:
    write_package(PACKAGE, tmp_path / "pets.json")
    frame, label_file = tmp_path / "frame", tmp_path / "ann.csv"
    args = ("audit", "optimum", tmp_path / "pets.json", "--budget", "7", "--frame", frame)
    assert command(*args).exit_code == 0
    cells = read_frame(frame).cells
    assert {(cell.candidate, cell.unit) for cell in cells} == {("cut", "u"), ("fact", "v")}
    given = {cell.id: "full" if cell.candidate == "fact" else "none" for cell in cells}
    write_labels(LabelSet("Ann", given), label_file)  # type: ignore[arg-type]
    done = command(*args, "--labels", label_file, "--json")
    data = json.loads(done.stdout)["audit"]
    assert (data["claimed"], data["surviving"], data["corrected"]) == (5, 1, 2)
    assert data["cells_not_looked_at"] == 1, "the frame does not hold the new optimum's cell"


def test_the_command_prints_claims_and_what_survives(tmp_path: Path) -> None:
    write_package(PACKAGE, tmp_path / "pets.json")
    again = labels(tmp_path, ("cut", "u", 0), ("fact", "v", 1))
    done = command(
        "audit", "optimum", tmp_path / "pets.json", "--budget", "7", "--judge", f"labels:{again}"
    )
    assert "the optimum claims 5; the same store is worth 1 by the second look" in done.stdout
    assert "(20.0% survives)" in done.stdout
    nothing = command("audit", "optimum", tmp_path / "pets.json", "--budget", "7")
    assert nothing.exit_code == 1
    assert "has no two label passes; give a --judge" in nothing.stderr
