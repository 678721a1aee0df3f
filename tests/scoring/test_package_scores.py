"""Stores of many packages: scores of each, and everything without scores counted."""

from pathlib import Path

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import ExportedStore
from memaudit.core.package import Package
from memaudit.scoring.judges import Judge, LexicalJudge
from memaudit.scoring.label_judges import PublishedJudge
from memaudit.scoring.package_scores import PackageScores, Scoring, Unscored, score_packages
from memaudit.scoring.score_json import package_scores_data
from tests.cli.running import write_rows
from tests.scoring.small_stores import F, fish_package


def store(folder: Path, name: str, **examples: list[str]) -> ExportedStore:
    """Memories by example, as the published layout has them."""
    rows = [
        {"instance_id": example, "memories": [
            {"memory_id": f"m{n}", "text": text, "memory_index": n} for n, text in enumerate(texts)
        ]}
        for example, texts in examples.items()
    ]  # fmt: skip
    return import_store([write_rows(folder / f"{name}.jsonl", *rows)])


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
    packages = [*map(fish_package, "pqr"), fish_package("s", scoring_pool=False)]
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
    edge = {"memory_id": "m0", "unit_id": "u", "coverage": 0.5}
    calls = write_rows(tmp_path / "calls.jsonl", {"instance_id": "p", "coverage_edges": [edge]},
                       {"instance_id": "q", "error": "timeout"})  # fmt: skip
    found, missing = all_of([*map(fish_package, "pq")], [one], PublishedJudge(calls))
    (scores,) = found
    assert scores.rows[0].score.score.value == F(1) / 2
    assert scores.stores[0].caveats.left_out == {"calls that failed or could not be read": 1}
    (lost,) = missing
    assert (lost.package, lost.store) == ("q", "one")
    assert "has no call about 'q'" in lost.reason


def test_memories_that_name_no_package_are_counted(tmp_path: Path) -> None:
    """In a store that names one for others."""
    rows = [{"text": "Ann eats fish now", "example": "p"}, {"text": "Bo has a dog"}]
    plain = import_store([write_rows(tmp_path / "a.jsonl", *rows)])
    found, _ = all_of([fish_package("p")], [plain], LexicalJudge())
    (caveats,) = [store.caveats for store in found[0].stores]
    assert list(caveats.left_out.values()) == [1]
    assert "name no package" in next(iter(caveats.left_out))
