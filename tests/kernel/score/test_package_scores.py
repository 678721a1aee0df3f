"""Stores of many packages: scores of each, and everything without scores counted."""

from pathlib import Path

import pytest

from memaudit.judges.label_judges import PublishedJudge
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.budgets import asked_budgets
from memaudit.kernel.package.package import Experience, Package
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.package_scores import (
    Unscored,
    score_matching_stores,
    score_package,
    unknown_examples,
    written_for,
)
from memaudit.kernel.score.result import ScoreResult, Scoring
from memaudit.kernel.score.score_json import package_scores_data
from memaudit.stores.registry import import_store
from tests.cli.running import write_rows
from tests.kernel.score.small_stores import F, exported, fish_package, meals_scores


def store(folder: Path, name: str, **examples: list[str]) -> ExportedStore:
    """Memories by example, as the published layout has them."""
    rows = [
        {"instance_id": example, "memories": [{"memory_id": text, "text": text} for text in texts]}
        for example, texts in examples.items()
    ]
    return import_store([write_rows(folder / f"{name}.jsonl", *rows)])


def all_of(
    packages: list[Package], stores: list[ExportedStore], judge: Judge
) -> tuple[list[ScoreResult], list[Unscored]]:
    scoring = Scoring(asked_budgets(4), {one.name: judge for one in stores})
    written = [written_for(package, stores) for package in packages]
    known = {(name, example) for own in written for name in own for example in own[name]}
    found: list[ScoreResult | Unscored] = [*unknown_examples(stores, known)]
    for package, own in zip(packages, written, strict=True):
        found += score_matching_stores(package, stores, own, scoring)
    return (
        [one for one in found if isinstance(one, ScoreResult)],
        [one for one in found if isinstance(one, Unscored)],
    )


def test_each_package_with_its_own_memories(tmp_path: Path) -> None:
    """An example that wrote nothing is worth 0; one a store was not written for has no row."""
    one = store(tmp_path, "one", p=["Ann eats fish now"], q=[], z=["x"])
    two = store(tmp_path, "two", p=["Bo has a dog", "Ann eats fish now"])
    packages = [*map(fish_package, "pqr"), fish_package("s", scoring_pool=False)]
    found, missing = all_of(packages, [one, two], LexicalJudge())
    assert [scores.package.name for scores in found] == ["p", "q"]
    assert [(row.store, row.numbers.memories, row.numbers.written.value) for row in found[0]] == [
        ("one", 1, 1),
        ("two", 2, 1),
    ]
    (row,) = found[1]
    assert (row.store, row.numbers.memories, row.exact) == ("one", 0, 0)
    assert missing == [
        Unscored("z", "one", "no such package"),
        Unscored("r", None, "no store was written for it"),
        Unscored("s", None, "out of the scoring pool"),
    ]
    assert package_scores_data(found[0])["scores"][1]["written"]["memories"] == 2


def test_an_example_that_was_not_judged_is_counted(tmp_path: Path) -> None:
    """A failed call of one example is no zero of it, and the others are scored."""
    one = store(tmp_path, "one", p=["Ann eats fish now"], q=["Ann eats fish now"])
    edge = {"memory_id": "Ann eats fish now", "unit_id": "u", "coverage": 0.5}
    calls = write_rows(
        tmp_path / "calls.jsonl",
        {"instance_id": "p", "coverage_edges": [edge]},
        {"instance_id": "q", "error": "timeout"},
    )
    found, missing = all_of([*map(fish_package, "pq")], [one], PublishedJudge(calls))
    (scores,) = found
    assert scores.rows[0].numbers.written.value == F(1) / 2
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


def test_budgets_of_each_store() -> None:
    """A share is of all turns, 40 words in whole costs; `own` is what each store costs. If none is
    given, the usual ones from tight to ample."""
    package = fish_package("p")
    turns = package.replace(
        experiences=(Experience(id="e", index=0, text=" ".join(["word"] * 40)),)
    )
    stores = [
        exported(Memory(id="m", text="Ann eats fish now"), name="one"),
        exported(Memory(id="m", text="fish"), Memory(id="n", text="Bo"), name="two"),
    ]
    judges = {one.name: LexicalJudge() for one in stores}
    found = score_package(turns, stores, Scoring(asked_budgets("6,6%,own"), judges))
    assert [(row.store, row.numbers.asked, row.budget, row.numbers.fits) for row in found] == [
        ("one", "6", 6, True),
        ("two", "6", 6, True),
        ("one", "6%", 2, False),
        ("two", "6%", 2, True),
        ("one", "own", 4, True),
        ("two", "own", 2, True),
    ]
    usual = score_package(turns, stores[:1], Scoring(None, judges))
    assert [(row.numbers.asked, row.budget) for row in usual] == [("10%", 4)]


def test_a_share_of_nothing_is_no_budget() -> None:
    """Of turns without texts, and of a package without a rule for costs. Nobody asked for a share
    where no budget is given: then losses are shown at the store's own cost."""
    store, judges = exported(Memory(id="m", text="fish")), {"s": LexicalJudge()}
    with pytest.raises(MemAuditError, match="the turns of 'p' have no cost, so a share of the"):
        score_package(fish_package("p"), [store], Scoring(asked_budgets("10%"), judges))
    usual = score_package(fish_package("p"), [store], Scoring(None, judges))
    assert [row.numbers.asked for row in usual] == ["own"]
    with pytest.raises(MemAuditError, match="the turns of 'meals' have no cost"):
        meals_scores("10%")
    assert [row.budget for row in meals_scores(5, "own")] == [5, 7]
