"""Parts of a run say what the summary and the ranking say."""

import json
from pathlib import Path

import pytest

from memaudit.lab.explorer.pages.run import Slice, slice_of
from memaudit.lab.sweeps.runs.report.run_grids import (
    FinishedRunData,
    WriterPair,
    open_run,
    rank_writers,
)
from memaudit.lab.sweeps.runs.summary import SUMMARY, ranking


@pytest.fixture(scope="module")
def folder(plain: Path) -> Path:
    return plain / "a-run"


@pytest.fixture(scope="module")
def run(folder: Path) -> FinishedRunData:
    return open_run(folder)


def pair(part: Slice, first: str, second: str) -> WriterPair:
    (pair,) = [
        pair for pair in part.pairs if {pair.first.name, pair.second.name} == {first, second}
    ]
    return pair


def test_the_whole_is_the_ranking(run: FinishedRunData) -> None:
    found = [
        (
            place.member.name,
            place.interval.n,
            *(round(x, 6) for x in (place.interval.mean, place.interval.low, place.interval.high)),
        )
        for place in slice_of(run).places
    ]
    assert found == [
        (row["writer"], row["n"], row["mean_ratio"], row["ci_low"], row["ci_high"])
        for row in ranking(run.grids)
    ]


def test_a_budget_is_the_reports(run: FinishedRunData) -> None:
    places = {place.member.name: place for place in rank_writers(run).places}
    for budget in range(2):
        for one in slice_of(run, budget=budget).places:
            assert one.interval == places[one.member.name].by_budget[budget]


def test_copies_are_no_evidence(run: FinishedRunData) -> None:
    """update_chain is one package under three seeds: its signs are flipped together."""
    part = slice_of(run)
    assert (part.packages, part.distinct) == (6, 4)
    assert all(pair.difference.p >= 2 / 2**4 for pair in part.pairs)
    chain = slice_of(run, "update_chain")
    assert (chain.packages, chain.distinct) == (3, 1)
    assert {pair.difference.p for pair in chain.pairs} == {1.0}
    assert all(
        place.interval.low == place.interval.mean == place.interval.high for place in chain.places
    )


def test_neighbours_are_the_reports(run: FinishedRunData) -> None:
    part = slice_of(run)
    for neighbours in rank_writers(run).neighbours:
        assert pair(part, neighbours.first.name, neighbours.second.name).difference == (
            neighbours.difference
        )


def test_a_distribution_at_a_budget_is_the_summarys(run: FinishedRunData, folder: Path) -> None:
    summary = json.loads((folder / SUMMARY).read_text())
    seen = 0
    for row in summary["differences"]:
        part = slice_of(run, row["distribution"], run.budgets.index(row["budget"]))
        found = pair(part, row["first"], row["second"])
        known = found.difference
        numbers = [known.mean, known.low, known.high, known.p]
        if found.first.name != row["first"]:  # the better one comes first on the page
            numbers = [-known.mean, -known.high, -known.low, known.p]
        expected = [row[name] for name in ("mean_difference", "ci_low", "ci_high", "p")]
        assert [round(number, 6) + 0 for number in numbers] == expected
        assert round(found.p_holm, 6) == row["p_holm"]
        seen += 1
    assert seen == 2 * 2 * 10  # distributions, budgets, pairs of five
