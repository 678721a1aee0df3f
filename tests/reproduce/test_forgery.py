"""Forgeries of numbers with everything rebuilt that follows from them, and how rows are drawn."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memaudit.experiments.artifact.verify import Effort, verify_all

from memaudit.reproduce.verify.chosen import draw, drawn
from memaudit.reproduce.verify.sense import malformed, nonsense
from tests.reproduce.tampering import edit_json, edit_manifest, edit_rows, rebuild, rehash

NATURAL = "natural/rows.jsonl"


@pytest.mark.slow
def test_a_headline_row_is_forged_throughout(copied: Path) -> None:
    """Summary, tables, card, scoreboard, metadata and manifest say it too; a sample finds it."""

    def best(row: dict[str, Any]) -> None:
        if row["writer"] == "estimated_gvt" and row["budget"] == 100 and row["ratio"]:
            row["value"], row["ratio"] = row["optimum"], 1.0

    edit_rows(copied, NATURAL, best)
    rebuild(copied)
    table = (copied / "tables" / "writers-own-set.md").read_text()
    (line,) = (one for one in table.splitlines() if one.startswith("| estimated_gvt |"))
    assert line.endswith("| 1.000 [1.000, 1.000] |")
    assert verify_all(copied, Effort(sample=0)).problems == []
    found = verify_all(copied, Effort(sample=1, seed=1)).problems
    assert found
    assert all(one.startswith(f"{NATURAL}, line ") for one in found)


@pytest.mark.slow
def test_a_budget_as_given_is_not_taken_from_the_row(copied: Path) -> None:
    """What a row is compared with comes from the settings alone."""
    edit_rows(copied, NATURAL, lambda row: row.update(budget_as_given="ten"), only=3)
    rebuild(copied)
    (line,) = verify_all(copied, Effort(sample=1)).problems
    assert line == f"{NATURAL}, line 4: budget_as_given is 'ten', computed again None"


@pytest.mark.slow
def test_a_version_that_did_not_make_it(copied: Path) -> None:
    """Rows name the version as well; with all of them changed, what cannot be derived is told."""

    def later(data: dict[str, Any]) -> None:
        data["identity"].update(memaudit="9.9", source="0" * 64)
        data["versions"]["memaudit"] = "9.9"

    edit_manifest(copied, later)
    found = verify_all(copied, Effort(sample=0)).problems
    assert f"{NATURAL}: is not of the version that the manifest names" in found
    for run in ("controlled/sweep", "controlled/stress", "natural"):
        edit_rows(copied, f"{run}/rows.jsonl", lambda row: row.update(version="9.9"))
        if run != "natural":
            edit_json(copied / run / "run.json", lambda run: run["versions"].update(memaudit="9.9"))
            text = (copied / run / "run.json").read_text().replace("\n ", "\n  ")
            (copied / run / "run.json").write_text(text)
            rehash(copied, f"{run}/run.json")
    rebuild(copied)
    edit_manifest(copied, later)
    report = verify_all(copied, Effort(sample=0))
    assert report.problems == []
    assert "card.md" not in report.unverified  # derived with the version that is stated
    card = copied / "card.md"
    card.write_text(card.read_text().replace("0 not certified", "0 not certified, as people saw"))
    rehash(copied, "card.md")
    report = verify_all(copied, Effort(sample=0))
    assert report.problems == []
    assert report.unverified["card.md"].startswith("memaudit 9.9 made it, ")
    assert report.headline.startswith("holds, with ")


def row(**changes: Any) -> dict[str, Any]:
    """A row in which half of the optimum is reached."""
    return {
        "distribution": "base", "seed": 0, "package": "p", "digest": "d", "budget": 2,
        "writer": "gvt", "peeks": True, "value": 1.0, "optimum": 2.0, "ratio": 0.5, "cost": 2,
        "store": [], "kinds": {}, "unit_values": {}, "invalidation": 0.0, "current": 0.0,
        "stale": 0.0, "certificate": "c", "version": "1", **changes,
    }  # fmt: skip


def test_a_row_that_makes_sense() -> None:
    """So does one of a writer that failed, and one whose optimum is 0 or not certified."""
    assert malformed(row()) == ""
    for changes in (
        {},
        {"value": 2.0, "ratio": 1.0, "writer": "opt"},
        {"value": None, "ratio": None, "failed": "it broke the rules"},
        {"value": 0.0, "optimum": 0.0, "ratio": None},
        {"certificate": None, "ratio": None},
    ):
        assert nonsense(row(**changes)) == ""


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"value": 2.5, "ratio": 1.25}, "the value is not between 0 and the optimum"),
        ({"value": -1.0, "ratio": -0.5}, "the value is not between 0 and the optimum"),
        ({"ratio": 0.7}, "the ratio is not value / optimum"),
        ({"writer": "opt"}, "the best store does not reach the optimum"),
        ({"ratio": None}, "a ratio is there if and only if"),
        ({"certificate": None}, "a ratio is there if and only if"),
        ({"value": 0.0, "optimum": 0.0, "ratio": 1.0}, "a ratio is there if and only if"),
        ({"value": None, "ratio": None}, "a writer has a value, or has failed"),
        ({"failed": "no"}, "a writer has a value, or has failed"),
    ],
)
def test_numbers_that_cannot_be(changes: dict[str, Any], problem: str) -> None:
    """Each is found without computing anything again."""
    assert nonsense(row(**changes)).startswith(problem)


@pytest.mark.parametrize("name", ["value", "optimum", "ratio", "cost", "stale"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, "1/0", "many", True, []])
def test_numbers_that_are_none(name: str, number: object) -> None:
    """They would end in means, or in a traceback."""
    assert malformed(row(**{name: number})) == f"{name}: is not a finite number"


cells = st.lists(
    st.tuples(st.sampled_from(["base", "other"]), st.integers(0, 2), st.sampled_from(["a", "b"])),
    max_size=40,
)


@given(cells, st.integers(0, 60), st.integers(0, 5))
def test_no_mean_goes_without_a_row(
    found: list[tuple[str, int, str]], size: int, seed: int
) -> None:
    """A draw has as many rows as it should, more where a cell needs one, and none twice."""
    rows = [
        {"distribution": name, "budget": budget, "writer": writer} for name, budget, writer in found
    ]
    places = draw("controlled/sweep", rows, size, seed)
    assert places == sorted(set(places)) == draw("controlled/sweep", rows, size, seed)
    if size:
        assert {found[place] for place in places} == set(found)
        assert len(places) == min(len(rows), max(size, len(set(found))))
    else:
        assert places == []


def test_seeds_choose_and_small_parts_are_made_in_full() -> None:
    """Other seeds, other rows; the natural set is never sampled, unless nothing is made again."""
    rows = {
        part: [{"distribution": "base", "budget": 1, "writer": "w"}] * 1000
        for part in ("controlled/sweep", "natural")
    }
    ten = [drawn(rows, 10, seed) for seed in (0, 1)]
    assert [len(one["controlled/sweep"]) for one in ten] == [10, 10]
    assert ten[0]["controlled/sweep"] != ten[1]["controlled/sweep"]
    assert [len(one["natural"]) for one in ten] == [1000, 1000]
    assert [len(places) for places in drawn(rows, None, 0).values()] == [1000, 1000]
    assert list(drawn(rows, 0, 0).values()) == [[], []]
