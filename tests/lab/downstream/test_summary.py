"""Sums, means, differences and the curve of evidence against words, worked by hand."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from memaudit.kernel.stats.bootstrap import resample_counts
from memaudit.lab.downstream.diagnosis_files import MEASURES
from memaudit.lab.downstream.outcomes import curve, depths, summarise

RIGHT = ("answered_right", "answered")
WRITE = ("evidence_never_written", "write")
READER = ("retrieved_but_wrong", "reader")


def row(
    package: str, store: str, query: str, decided: tuple[str, str], recall: str | int | None
) -> dict[str, Any]:
    """A row with a recall and a kind."""
    outcome, layer = decided
    measures: dict[str, Any] = dict.fromkeys(MEASURES) | {
        "answered": int(decided == RIGHT),
        "evidence_recall": recall,
    }
    return {
        "package": package,
        "store": store,
        "query": query,
        "kind": query,
        "outcome": outcome,
        "layer": layer,
        "why": ["abstained"] if decided == WRITE else [],
        "measures": measures,
        "retrieved": [],
        "evidence": [],
        "texts": {},
    }


ROWS = [
    row("p", "a", "q1", RIGHT, 1),
    row("p", "a", "q2", RIGHT, "1/3"),
    row("p", "b", "q1", WRITE, 0),
    row("p", "b", "q2", RIGHT, "1/3"),
    row("r", "a", "q1", READER, 1),
    row("r", "a", "q2", WRITE, None),
    row("r", "b", "q1", WRITE, 0),
    row("r", "b", "q2", READER, 0),
]


def test_losses_and_kinds() -> None:
    """a: 2 of 4 right, one lost in writing, one in reading; exact shares sum to 1."""
    found = summarise(ROWS, ["a", "b"])
    a, b = found["summaries"]
    assert (a["answered"], a["losses"]["write"], a["losses"]["reader"]) == ("1/2", "1/4", "1/4")
    assert (b["answered"], b["losses"]["write"]) == ("1/4", "1/2")
    for one in (a, b, *a["kinds"].values(), *b["kinds"].values()):
        assert sum(map(Fraction, one["losses"].values())) == 1 - Fraction(one["answered"])
        assert sum(one["outcomes"].values()) == one["questions"]
    assert a["kinds"]["q2"]["outcomes"]["evidence_never_written"] == 1
    assert (a["why"], b["why"]) == ({"abstained": 1}, {"abstained": 2})
    assert (found["questions"], found["packages"], found["clusters"]) == (4, 2, "packages")


def test_means_and_intervals() -> None:
    """Over questions, with packages drawn whole; what is undefined is counted."""
    a, b = summarise(ROWS, ["a", "b"])["summaries"]
    recall = a["measures"]["evidence_recall"]
    # (1 + 1/3 + 1) / 3. Packages: p twice 2/3, r twice 1, so all resamples lie between.
    assert recall["mean"] == pytest.approx(7 / 9)
    assert (recall["n"], recall["undefined"]) == (3, 1)
    assert (recall["ci_low"], recall["ci_high"]) == pytest.approx((2 / 3, 1))
    assert a["measures"]["answered"]["mean"] == 0.5
    # Drawn question by question the answered share could be 1/4; by package it is 0, 1/2 or 1.
    assert (a["measures"]["answered"]["ci_low"], a["measures"]["answered"]["ci_high"]) == (0, 1)
    f1 = b["measures"]["token_f1"]
    assert (f1["n"], f1["undefined"], f1["mean"], f1["ci_low"]) == (0, 4, None, None)


def test_differences() -> None:
    """a - b: answered 1, 0 in p and 0, 0 in r; recall 1, 0 and 1, the fourth pair undefined."""
    rows = {one["measure"]: one for one in summarise(ROWS, ["a", "b"])["differences"]}
    assert rows["answered"]["mean_difference"] == 0.25
    # Sums by package 1 and 0: of four flips all have |sum| = 1, so p is 1.
    assert rows["answered"]["p"] == 1
    assert (rows["evidence_recall"]["n"], rows["evidence_recall"]["mean_difference"]) == (
        3,
        pytest.approx(2 / 3),
    )
    # Sums 1 and 1: two of four flips are as far from 0.
    assert rows["evidence_recall"]["p"] == rows["evidence_recall"]["p_holm"] == 0.5
    assert rows["token_f1"]["p"] is None


def test_signs_flip_by_package() -> None:
    """Ten questions of one conversation are one piece of evidence, not ten."""
    many = [
        row(package, store, f"q{at}", RIGHT if store == "a" else WRITE, None)
        for package, store, at in product("pr", "ab", range(10))
    ]
    (answered,) = [
        one for one in summarise(many, ["a", "b"])["differences"] if one["measure"] == "answered"
    ]
    assert (answered["n"], answered["mean_difference"], answered["p"]) == (20, 1, 0.5)


def test_holm_goes_over_pairs_of_stores() -> None:
    """Three stores, three pairs of one measure."""
    many = [
        row(f"p{at}", store, "q", RIGHT if store == "a" else WRITE, None)
        for at, store in product(range(6), "abc")
    ]
    found = [
        one for one in summarise(many, list("abc"))["differences"] if one["measure"] == "answered"
    ]
    # All six signs alike: 2 of 64 flips, three times as much after the correction; b - c is 0.
    assert [one["p"] for one in found] == [2 / 64, 2 / 64, 1]
    assert [one["p_holm"] for one in found] == [6 / 64, 6 / 64, 1]


def test_one_package_goes_by_question() -> None:
    """Two of three answered: a bootstrap over questions has some width, and says what it is."""
    rows = [row("p", "a", q, RIGHT if q != "q3" else WRITE, None) for q in ("q1", "q2", "q3")]
    found = summarise(rows, ["a"])
    answered = found["summaries"][0]["measures"]["answered"]
    assert found["clusters"] == "questions"
    assert math.isclose(answered["mean"], 2 / 3, abs_tol=1e-8)
    assert answered["ci_low"] < answered["mean"] < answered["ci_high"]
    assert found["differences"] == []


def test_one_alone_has_no_interval() -> None:
    """One question, one package of a kind, or one defined value cannot be resampled."""
    (one,) = summarise([row("p", "a", "q", RIGHT, 1)], ["a"])["summaries"]
    answered = one["measures"]["answered"]
    assert (answered["n"], answered["mean"], answered["ci_low"]) == (1, 1, None)
    found = summarise(ROWS, ["a", "b"])
    # q2 of store a is defined in package p only.
    recall = found["summaries"][0]["kinds"]["q2"]["measures"]["evidence_recall"]
    assert (recall["n"], recall["ci_low"]) == (1, None)
    alone = [row("p", store, "q", RIGHT, 1) for store in "ab"]
    (gap, *_) = summarise(alone, ["a", "b"])["differences"]
    assert (gap["mean_difference"], gap["ci_low"], gap["p"]) == (0, None, 1)


def curve_row(retrieved: dict[str, str], *units: list[tuple[int | None, str]]) -> dict[str, Any]:
    """A row: memories with their texts, and for each unit who covers how much at which rank."""
    return {
        "retrieved": list(retrieved),
        "texts": retrieved,
        "evidence": [
            {"needs": 1, "memories": [{"rank": rank, "covers": covers} for rank, covers in unit]}
            for unit in units
        ],
    }


CURVE_ROWS = [
    # Two halves at ranks 1 and 3; a whole one at rank 2; one that was not retrieved.
    curve_row(
        {"a": "one two", "b": "three", "c": "four five six"},
        [(1, "1/2"), (3, "1/2")],
        [(2, "1")],
        [(None, "1")],
    ),
    curve_row({"a": "one"}, [(1, "1")]),
    curve_row({}),
]


def test_points() -> None:
    """Words 2, 3, 6 and 1, 1, 1 and 0; recall 0, 1/3, 2/3 and 1, 1, 1; the third has none."""
    found = curve(CURVE_ROWS, depths(CURVE_ROWS), np.arange(3), resample_counts(3))
    assert [point["first"] for point in found] == [1, 2, 3]
    assert [point["words"] for point in found] == pytest.approx([3 / 3, 4 / 3, 7 / 3])
    recalls = [point["evidence_recall"] for point in found]
    assert [one["mean"] for one in recalls] == pytest.approx([1 / 2, 2 / 3, 5 / 6])
    assert {one["n"] for one in recalls} == {2}
    assert recalls[0]["ci_low"] <= recalls[0]["mean"] <= recalls[0]["ci_high"]
    # With halves counted as halves: 1/6, 1/2, 2/3 of the first row.
    coverage = [point["evidence_coverage"]["mean"] for point in found]
    assert coverage == pytest.approx([7 / 12, 3 / 4, 5 / 6])


def test_nothing_retrieved() -> None:
    """No depth, no point; without evidence there is no recall."""
    assert curve([curve_row({})], 0, np.zeros(1, int), resample_counts(1)) == []
    (one,) = curve([curve_row({"a": "one"})], 1, np.zeros(1, int), resample_counts(1))
    assert one["evidence_recall"]["mean"] is None
