"""Stores of many packages: scores of each, and everything without scores counted."""

import json
from pathlib import Path

import pytest

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.scoring.judges import Judge, LexicalJudge
from memaudit.scoring.label_judges import PublishedJudge
from memaudit.scoring.package_scores import (
    PackageScores,
    Scoring,
    Unscored,
    score_packages,
)
from memaudit.scoring.score_json import package_scores_data
from tests.scoring.small_stores import F


def package(name: str, **attributes: object) -> Package:
    """One unit of weight 1, `Ann eats fish now.`, and a candidate of 4 words that says it."""
    text = "Ann eats fish now."
    return Package.model_validate(
        {
            "name": name, "cost_rule": "words", "attributes": attributes,
            "experiences": [{"id": "e"}],
            "candidates": [
                {"id": "c", "experience": "e", "kind": "fact", "text": text, "cost": 4}
            ],
            "units": [{"id": "u", "kind": "fact", "text": text, "weight": 1}],
            "coverage": [{"candidate": "c", "unit": "u", "value": 1}],
        }
    )  # fmt: skip


def store(folder: Path, name: str, **examples: list[str]) -> ExportedStore:
    """Memories by example, as the published layout has them."""
    rows = [
        {"instance_id": example, "memories": [
            {"memory_id": f"m{n}", "text": text, "memory_index": n} for n, text in enumerate(texts)
        ]}
        for example, texts in examples.items()
    ]  # fmt: skip
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_store([path])


def all_of(
    packages: list[Package], stores: list[ExportedStore], judge: Judge
) -> tuple[list[PackageScores], list[Unscored]]:
    scoring = Scoring((F(4),), {one.name: judge for one in stores})
    found = list(score_packages(packages, stores, scoring))
    return (
        [one for one in found if isinstance(one, PackageScores)],
        [one for one in found if isinstance(one, Unscored)],
    )


def test_each_package_with_its_own_memories(tmp_path: Path) -> None:
    """An example that wrote nothing is worth 0; one a store was not written for has no row."""
    one = store(tmp_path, "one", p=["Ann eats fish now"], q=[], z=["x"])
    two = store(tmp_path, "two", p=["Bo has a dog", "Ann eats fish now"])
    packages = [package("p"), package("q"), package("r"), package("s", scoring_pool=False)]
    found, missing = all_of(packages, [one, two], LexicalJudge())
    assert [scores.package.name for scores in found] == ["p", "q"]
    assert [(row.score.name, row.score.memories, row.score.score.value) for row in found[0].rows
            ] == [("one", 1, 1), ("two", 2, 1)]  # fmt: skip
    ((score,),) = [[row.score for row in found[1].rows]]
    assert (score.name, score.memories, score.common_ratio.value) == ("one", 0, 0)
    assert missing == [
        Unscored("z", "one", "no such package"),
        Unscored("r", None, "no store was written for it"),
        Unscored("s", None, "out of the scoring pool"),
    ]
    assert package_scores_data(found[0])["scores"][1]["memories"] == 2


def test_an_example_that_was_not_judged_is_counted(tmp_path: Path) -> None:
    """A failed call of one example is no zero of it, and the others are scored."""
    one = store(tmp_path, "one", p=["Ann eats fish now"], q=["Ann eats fish now"])
    calls = tmp_path / "calls.jsonl"
    edge = {"memory_id": "m0", "unit_id": "u", "coverage": 0.5}
    calls.write_text(
        json.dumps({"instance_id": "p", "coverage_edges": [edge]})
        + "\n"
        + json.dumps({"instance_id": "q", "error": "timeout"})
        + "\n"
    )
    found, missing = all_of([package("p"), package("q")], [one], PublishedJudge(calls))
    (scores,) = found
    assert scores.rows[0].score.score.value == F(1) / 2
    assert scores.stores[0].caveats.left_out == {"calls that failed or could not be read": 1}
    (lost,) = missing
    assert (lost.package, lost.store) == ("q", "one")
    assert "has no call about 'q'" in lost.reason


def test_a_store_that_names_no_package_is_refused(tmp_path: Path) -> None:
    """It would be scored on every package as if it were written for it."""
    (tmp_path / "a.txt").write_text("Ann eats fish now\n")
    plain = import_store([tmp_path / "a.txt"])
    with pytest.raises(MemAuditError, match="does not say which package"):
        all_of([package("p"), package("q")], [plain], LexicalJudge())


def test_memories_that_name_no_package_are_counted(tmp_path: Path) -> None:
    """In a store that names one for others."""
    rows = [{"text": "Ann eats fish now", "example": "p"}, {"text": "Bo has a dog"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, _ = all_of([package("p")], [import_store([tmp_path / "a.jsonl"])], LexicalJudge())
    (caveats,) = [store.caveats for store in found[0].stores]
    assert list(caveats.left_out.values()) == [1]
    assert "name no package" in next(iter(caveats.left_out))
