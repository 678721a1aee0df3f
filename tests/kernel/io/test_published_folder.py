"""The published layout: many examples in a folder, extra fields kept, problems in its own words."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.io.packages import problems_at, read_packages
from tests.published_layout import write_artifact

Rows = dict[str, list[dict[str, Any]]]


def example(name: str) -> Rows:
    return {
        "experiences.jsonl": [
            {
                "experience_id": f"{name}::e{i}",
                "session_id": i,
                "timestamp": "2023",
                "text": "hi",
                "turns": [1, 0.5],
            }
            for i in (1, 0)
        ],
        "evidence_units.jsonl": [
            {
                "unit_id": f"{name}::u1",
                "kind": "fact",
                "canonical_text": "tea",
                "source_spans": [{"span_id": "s1", "session_id": "1", "text": "t", "turn": 3}],
                "timestamp": None,
                "state": "valid",
                "proposition_id": "p1",
                "annotator_ids": ["a"],
                "adjudication_status": "agreed",
                "unit_weight": 0.7,
            }
        ],
        "queries.jsonl": [
            {
                "query_id": name,
                "question": "What?",
                "answer": 3,
                "category": "single",
                "required_unit_ids": [f"{name}::u1"],
                "answer_session_ids": ["1"],
                "annotation_rationale": "because",
            }
        ],
        "candidate_memories.jsonl": [
            {
                "candidate_id": f"{name}::e1::raw",
                "experience_id": f"{name}::e1",
                "candidate_group": f"{name}::e1",
                "representation_type": "raw",
                "text": "tea tea",
                "serialized": "[raw]",
                "cost": 20,
                "cost_tokens": 31,
                "generator_id": "g",
                "confidence": 0.9,
                "time_index": 4,
            },
            {
                "candidate_id": f"{name}::e0::fact",
                "candidate_group": f"{name}::e0",
                "representation_type": "fact",
                "text": "tea",
                "cost": 1.5,
            },
        ],
        "coverage_matrix.jsonl": [
            {
                "candidate_id": f"{name}::e1::raw",
                "unit_id": f"{name}::u1",
                "coverage": 0.5,
                "coverage_label": "partial",
                "rationale": "r",
                "source_span_ids": ["s1"],
                "annotator_ids": ["a", "b"],
                "adjudication_status": "adjudicated",
            }
        ],
        "annotation_decisions.jsonl": [{"cell_id": 1, "unit_id": f"{name}::u1", "label": "yes"}],
    }


def publish(folder: Path, *examples: Rows) -> Path:
    folder.mkdir()
    for file in examples[0]:
        rows = [json.dumps(row) for rows in examples for row in rows[file]]
        (folder / file).write_text("".join(f"{row}\n" for row in rows))
    manifest = {"counts": {"anything": 1}, "prompt_hashes": {"x": "y"}, "usage": {"cost": 0.25}}
    (folder / "candidate_generation_manifest.json").write_text(json.dumps(manifest))
    return folder


def test_fields_are_mapped_and_extras_kept(tmp_path: Path) -> None:
    first, second = read_packages(publish(tmp_path / "a", example("q1"), example("q2")))
    assert (first.name, second.name) == ("q1", "q2")
    assert [row.id for row in first.experiences] == ["q1::e1", "q1::e0"]
    assert [row.index for row in first.experiences] == [0, 1]
    assert first.experiences[0].session == "1"
    assert first.experiences[0].attributes == {"turns": [1, 0.5]}
    raw, fact = first.candidates
    assert (raw.kind, raw.cost, raw.confidence, raw.generator) == ("raw", 20, Fraction(9, 10), "g")
    assert raw.attributes == {"serialized": "[raw]", "cost_tokens": 31, "time_index": 4}
    assert (fact.experience, fact.cost, fact.attributes) == ("q1::e0", Fraction(3, 2), {})
    (unit,) = first.units
    assert (unit.text, unit.weight, unit.sources[0].session) == ("tea", Fraction(7, 10), "1")
    assert unit.attributes["state"] == "valid"
    assert unit.attributes["source_spans"][0]["turn"] == 3  # type: ignore[index, call-overload]
    (query,) = first.queries
    assert (query.text, query.answer, query.kind) == ("What?", "3", "single")
    assert query.attributes["annotation_rationale"] == "because"
    (cell,) = first.coverage
    assert (cell.value, cell.label) == (Fraction(1, 2), "partial")
    assert cell.provenance == "a, b; adjudicated"
    assert cell.attributes["annotator_ids"] == ["a", "b"]
    assert first.cost_rule == "declared"
    assert first.attributes["annotation_decisions"][0]["label"] == "yes"  # type: ignore[index, call-overload]
    assert first.attributes["candidate_generation_manifest"]["usage"] == {"cost": 0.25}  # type: ignore[index, call-overload]


def test_folder_order_of_files_does_not_matter(tmp_path: Path) -> None:
    """Interleaved examples are distinguished; a query id may contain the separator."""
    packages = read_packages(publish(tmp_path / "a", example("q::1"), example("q")))
    assert [package.name for package in packages] == ["q::1", "q"]
    assert [len(package.candidates) for package in packages] == [2, 2]


CASES: list[tuple[str, str, str, str]] = [
    (
        "candidate_memories.jsonl",
        '"cost": 1.5',
        '"cost": "x"',
        "candidate_memories.jsonl:2: 'q1::e0::fact' has a bad field 'cost': 'x' is not a number",
    ),
    (
        "candidate_memories.jsonl",
        '"representation_type": "fact", ',
        "",
        "candidate_memories.jsonl:2: 'q1::e0::fact' lacks the field 'representation_type'",
    ),
    (
        "coverage_matrix.jsonl",
        '"coverage": 0.5',
        '"coverage": 1.4',
        "coverage_matrix.jsonl:1: 'q1::e1::raw x q1::u1' has coverage 1.4 "
        "(coverage lies in [0, 1])",
    ),
    (
        "evidence_units.jsonl",
        '"unit_id": "q1::u1", ',
        "",
        "evidence_units.jsonl:1: lacks the field 'unit_id'",
    ),
    (
        "experiences.jsonl",
        "q1::e1",
        "zz::e1",
        "experiences.jsonl:1: 'zz::e1' belongs to no example (ids start with a query id and ::)",
    ),
    ("queries.jsonl", '"query_id": "q1", ', "", "queries.jsonl: holds no query, so no example"),
    (
        "candidate_generation_manifest.json",
        "{",
        "[{",
        "candidate_generation_manifest.json:1: is not valid JSON: "
        "Expecting ',' delimiter at column 83",
    ),
]


@pytest.mark.parametrize(("file", "old", "new", "expected"), CASES)
def test_problems_use_the_published_names(
    tmp_path: Path, file: str, old: str, new: str, expected: str
) -> None:
    folder = publish(tmp_path / "a", example("q1"))
    text = (folder / file).read_text()
    (folder / file).write_text(text.replace(old, new, 1))
    assert [str(problem) for problem in problems_at(folder)] == [expected]


def test_missing_tables_are_named(tmp_path: Path) -> None:
    """Decisions and manifest may be absent; tables may not."""
    folder = publish(tmp_path / "a", example("q1"))
    (folder / "annotation_decisions.jsonl").unlink()
    (folder / "candidate_generation_manifest.json").unlink()
    assert problems_at(folder) == []
    (folder / "coverage_matrix.jsonl").unlink()
    assert [str(problem) for problem in problems_at(folder)] == [
        "coverage_matrix.jsonl: does not exist (check the path)"
    ]


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    """What we wrote is compared with the hashes and the counts."""
    packages = read_packages(publish(tmp_path / "a", example("q1")))
    write_artifact(packages, tmp_path / "b")
    with (tmp_path / "b" / "queries.jsonl").open("a") as file:
        file.write('{"query_id": "q1::more"}\n')
    messages = [str(problem) for problem in problems_at(tmp_path / "b")]
    assert messages[0] == (
        "queries.jsonl: has 2 rows but the manifest counts 1 (rows were lost or added)"
    )
    assert messages[1].startswith("queries.jsonl: has SHA-256 ")
