"""Corrected evidence of LoCoMo, on the made-up fixture and on the real files where they are."""

import json
from pathlib import Path

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.natural.build_plan import BuildJob, plan_build
from memaudit.scoring.locomo_corrections import Correction, corrected_package, read_corrections
from tests.datasets.files import FIXTURES, real_file


def built(path: Path, conversation: str) -> Package:
    (made,) = plan_build(BuildJob(path, "locomo", conversations=(conversation,))).built()
    return made.package


def required(package: Package) -> dict[str, tuple[str, ...]]:
    return {query.id: query.required for query in package.queries}


def correction(id: str, *turns: str) -> Correction:
    return Correction(question_id=id, correct_evidence=turns)


def test_fixture() -> None:
    """qa0 moves from D1:1 to two turns, qa1 is as it was, D9:9 is no turn, others are not ours;
    without rows nothing changes.

    The file's ids are uneven, so the package calls D1:1, D1:2 and D2:1 by its own names.
    """
    package = built(FIXTURES["locomo"], "conv-a")
    rows = [
        correction("locomo_0_qa0", "D2:1", "D1:2", "D9:9"),
        correction("locomo_0_qa1", "D2:1", "D1:1"),
        correction("locomo_0_qa2", "D9:9"),
        correction("locomo_0_qa99", "D1:1"),
        correction("locomo_1_qa0", "D1:1"),
    ]
    found = corrected_package(package, rows, FIXTURES["locomo"])
    assert found.count == {
        "corrected": 1,
        "unchanged": 1,
        "no known turn": 1,
        "unknown question": 1,
        "unknown turns": 2,
    }
    before, after = required(package), required(found.package)
    assert before["qa0"] == ("s1:1",)
    assert after["qa0"] == ("s1:2", "s3:1")
    assert {id: units for id, units in after.items() if id != "qa0"} == {
        id: units for id, units in before.items() if id != "qa0"
    }
    assert found.package.candidates == package.candidates
    assert ("s1:2/raw", "s1:2") in {(row.candidate, row.unit) for row in found.package.coverage}
    same = corrected_package(package, [], FIXTURES["locomo"])
    assert (same.package, same.count) == (package, {})


def test_only_packages_of_the_annotations() -> None:
    package = built(FIXTURES["locomo"], "conv-a")
    for wrong, rows, message in (
        (package.replace(queries=()), [], "do not apply"),
        (package.replace(coverage=package.coverage[1:]), [], "do not apply"),
        (package.replace(name="x"), [], "has no conversation 'x'"),
        (package, [correction("qa0", "D1:1")], "not the id of a LoCoMo question"),
    ):
        with pytest.raises(MemAuditError, match=message):
            corrected_package(wrong, rows, FIXTURES["locomo"])


def test_reading(tmp_path: Path) -> None:
    """Fields for people are skipped; what is no list of corrections is one line."""
    path = tmp_path / "errors.json"
    row = {"question_id": "locomo_0_qa0", "correct_evidence": ["D1:1"], "reasoning": "so"}
    path.write_text(json.dumps([row]))
    assert read_corrections(path) == [correction("locomo_0_qa0", "D1:1")]
    for text, message in (
        (
            json.dumps([row, {"question_id": "x"}]),
            "errors.json: 1.correct_evidence: field required",
        ),
        ("{", "a JSON list of rows"),
    ):
        path.write_text(text)
        with pytest.raises(MemAuditError, match=message):
            read_corrections(path)
    with pytest.raises(MemAuditError, match=r"none.json: does not exist"):
        read_corrections(tmp_path / "none.json")


def test_real_corrections() -> None:
    """Of the 27 corrections of conv-26, 19 change its evidence; all their turns are there."""
    conversations = real_file("locomo/locomo10.json")
    rows = read_corrections(real_file("locomo/audit_errors.json"))
    assert len(rows) == 156
    package = built(conversations, "conv-26")
    found = corrected_package(package, rows, conversations)
    assert found.count == {"corrected": 19, "unchanged": 8}
    assert required(package)["qa1"] == ("D1:12",)
    assert required(found.package)["qa1"] == ("D1:14",)
