"""The rows of a diagnosis summed up: outcomes, losses, evidence per word, differences."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from typing import Any

import numpy as np

from memaudit.core.cost import words
from memaudit.core.exact import exact
from memaudit.core.number_text import rounded
from memaudit.downstream.outcomes import LossCounts, count_losses
from memaudit.formats.diagnosis_files import MEASURES, Layer, Outcome
from memaudit.stats.bootstrap import Floats, Indices, Interval, mean_intervals, resample_counts
from memaudit.stats.paired_tests import holm, paired_differences


def spread(one: Interval, values: Floats, cluster: Indices) -> dict[str, Any]:
    """n, mean and interval; no interval where fewer than two clusters have a value to resample."""
    alone = len(np.unique(cluster[~np.isnan(values)])) < 2
    return {
        "n": one.n,
        "mean": rounded(one.mean),
        "ci_low": None if alone else rounded(one.low),
        "ci_high": None if alone else rounded(one.high),
    }


Row = dict[str, Any]
ONE = Fraction(1)


def depths(rows: Sequence[Row]) -> int:
    """How many memories were retrieved at most."""
    return max((len(row["retrieved"]) for row in rows), default=0)


def curve(rows: Sequence[Row], most: int, cluster: Indices, drawn: Floats) -> list[dict[str, Any]]:
    """One point a depth: mean words, and mean evidence recall and coverage with intervals."""
    lengths = np.array([_words(row, most) for row in rows]).reshape(len(rows), most)
    shares = np.array([_shares(row, most) for row in rows]).reshape(len(rows), 2 * most)
    found = mean_intervals(shares, drawn)
    return [
        {
            "first": depth + 1,
            "words": float(round(lengths[:, depth].mean(), 6)),
            "evidence_recall": spread(found[depth], shares[:, depth], cluster),
            "evidence_coverage": spread(found[most + depth], shares[:, most + depth], cluster),
        }
        for depth in range(most)
    ]


def _words(row: Row, most: int) -> list[int]:
    """Words of the first 1, 2, ... memories; where there are no more, all of them."""
    sums = list(accumulate(words(row["texts"][id]) for id in row["retrieved"])) or [0]
    return [sums[min(depth, len(sums) - 1)] for depth in range(most)]


def _shares(row: Row, most: int) -> list[float]:
    """Of the required units: the share covered in full at each depth, then the mean share."""
    units = row["evidence"]
    if not units:
        return [math.nan] * 2 * most
    held = [_held(unit, most) for unit in units]
    whole = [[share == 1 for share in one] for one in held]
    return [
        float(sum(column, Fraction(0)) / len(units))
        for table in (whole, held)
        for column in zip(*table, strict=True)
    ]


def _held(unit: dict[str, Any], most: int) -> list[Fraction]:
    """The share of a unit that the first 1, 2, ... memories cover, at most 1."""
    needs = exact(unit["needs"])
    links = [(link["rank"], exact(link["covers"])) for link in unit["memories"] if link["rank"]]
    return [
        min(sum((covers for rank, covers in links if rank <= depth), Fraction(0)) / needs, ONE)
        for depth in range(1, most + 1)
    ]


def summarise(rows: Sequence[Row], stores: Sequence[str]) -> dict[str, Any]:
    """Everything but the rows; every store has a row for every question."""
    by_store = {name: [row for row in rows if row["store"] == name] for name in stores}
    asked = by_store[stores[0]]
    packages = list(dict.fromkeys(row["package"] for row in asked))
    by_package = len(packages) > 1
    place = {name: at for at, name in enumerate(packages)}
    cluster = np.array([place[row["package"]] for row in asked] if by_package
                       else range(len(asked)))  # fmt: skip
    values = {
        measure: np.array([[_number(row["measures"][measure]) for row in by_store[name]]
                           for name in stores]).T
        for measure in MEASURES
    }  # fmt: skip
    drawn = resample_counts(int(cluster.max()) + 1)[:, cluster]
    found = {measure: mean_intervals(values[measure], drawn) for measure in MEASURES}
    return {
        "questions": len(asked),
        "packages": len(packages),
        "clusters": "packages" if by_package else "questions",
        "about": MEASURES,
        "summaries": [
            {
                "store": name,
                **_losses(_added(by_store[name])),
                "why": _remarks(by_store[name]),
                "kinds": _kinds(by_store[name], values, at, cluster, drawn),
                "measures": {
                    measure: _measured(found[measure][at], values[measure][:, at], cluster)
                    for measure in MEASURES
                },
                "curve": curve(by_store[name], depths(rows), cluster, drawn),
            }
            for at, name in enumerate(stores)
        ],
        "differences": [
            row
            for measure in MEASURES
            for row in _differences(measure, values[measure], cluster, drawn, stores)
        ],
    }  # fmt: skip


def _added(rows: Sequence[Row]) -> LossCounts:
    return count_losses((Outcome(row["outcome"]), Layer(row["layer"])) for row in rows)


def _losses(found: LossCounts) -> dict[str, Any]:
    """Counts, and exact shares as text: `answered` and `losses` sum to 1."""
    return {
        "questions": found.questions,
        "outcomes": {outcome.value: count for outcome, count in found.outcomes.items()},
        "answered": str(found.answered),
        "losses": {layer.value: str(share) for layer, share in found.losses.items()},
    }


def _remarks(rows: Sequence[Row]) -> dict[str, int]:
    return dict(sorted(Counter(why for row in rows for why in row["why"]).items()))


def _kinds(
    rows: Sequence[Row], values: dict[str, Floats], store: int, cluster: Indices, drawn: Floats
) -> dict[str, Any]:
    """Losses and measures by kind of question."""
    found = {}
    for kind in sorted({row["kind"] for row in rows}):
        here = np.array([row["kind"] == kind for row in rows])
        measures = {}
        for name, table in values.items():
            own_values = table[here][:, [store]]
            (found_one,) = mean_intervals(own_values, drawn[:, here])
            measures[name] = _measured(found_one, own_values[:, 0], cluster[here])
        own = [row for row in rows if row["kind"] == kind]
        found[kind] = {**_losses(_added(own)), "measures": measures}
    return found


def _measured(one: Interval, values: Floats, cluster: Indices) -> dict[str, Any]:
    found = spread(one, values, cluster)
    return {"n": found.pop("n"), "undefined": len(values) - one.n, **found}


def _differences(
    measure: str, values: Floats, cluster: Indices, drawn: Floats, stores: Sequence[str]
) -> list[dict[str, Any]]:
    """Every two stores over the questions where both are defined; Holm's correction over pairs."""
    pairs = list(combinations(range(len(stores)), 2))
    if not pairs:
        return []
    found = paired_differences(values, pairs, drawn, cluster)
    return [
        {
            "measure": measure,
            "first": stores[a],
            "second": stores[b],
            **_difference(one, values[:, a] - values[:, b], cluster),
            "p": rounded(one.p) if one.n else None,
            "p_holm": rounded(corrected) if one.n else None,
        }
        for (a, b), one, corrected in zip(pairs, found, holm([one.p for one in found]), strict=True)
    ]


def _difference(one: Interval, gaps: Floats, cluster: Indices) -> dict[str, Any]:
    found = spread(one, gaps, cluster)
    return {"n": found.pop("n"), "mean_difference": found.pop("mean"), **found}


def _number(value: int | float | str | None) -> float:
    return math.nan if value is None else float(exact(value))
