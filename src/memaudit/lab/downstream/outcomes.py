"""Exactly one outcome for every question and the layer that lost it, and the summary of them all.

Coverage and retrieval decide first (the stage), the text second (the verdict). Where the evidence
is incomplete an answer cannot be right and supported: whatever the reader said, the layer that lost
the evidence lost the answer. A right answer without it is luck, and counted separately. A stale
answer is named as one wherever it happens, and counts against the layer that lost the current
evidence.

Intervals and tests of the summary go by package: its questions are drawn and flipped together,
since they share a conversation. A run with one package goes by question instead, and says so. One
package or question alone has no interval.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations
from typing import Any

import numpy as np

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.cost import text_words
from memaudit.kernel.stats.bootstrap import (
    Floats,
    Indices,
    Interval,
    mean_intervals,
    resample_counts,
)
from memaudit.kernel.stats.paired_tests import holm, paired_differences
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.diagnosis_files import MEASURES, Layer, Outcome
from memaudit.lab.downstream.evidence_trace import EvidenceStage

LOSSES = tuple(layer for layer in Layer if layer is not Layer.NONE)
"""1 - answered = the sum of these, exactly."""


@dataclass(frozen=True, slots=True)
class OutcomeDecision:
    """An outcome and the layer it counts against."""

    outcome: Outcome
    layer: Layer


_LUCK = OutcomeDecision(Outcome.UNSUPPORTED, Layer.LUCK)
_UNCERTAIN = OutcomeDecision(Outcome.UNCERTAIN, Layer.UNCERTAIN)
_RIGHT = OutcomeDecision(Outcome.RIGHT, Layer.NONE)


def _lost(outcome: Outcome, layer: Layer) -> dict[AnswerVerdict, OutcomeDecision]:
    """The row of a stage at which evidence was lost."""
    lost = OutcomeDecision(outcome, layer)
    return {
        AnswerVerdict.RIGHT: _LUCK,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, layer),
        AnswerVerdict.WRONG: lost,
        AnswerVerdict.ABSTAINED: lost,
        AnswerVerdict.UNCLEAR: lost,
    }


TABLE: dict[EvidenceStage, dict[AnswerVerdict, OutcomeDecision]] = {
    # Nothing says what would support an answer, so nothing can be said about it.
    EvidenceStage.NO_EVIDENCE: dict.fromkeys(AnswerVerdict, _UNCERTAIN),
    # The reader alone decides: there is nothing to write or to retrieve.
    EvidenceStage.NOTHING_NEEDED: {
        AnswerVerdict.RIGHT: _RIGHT,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, Layer.READER),
        AnswerVerdict.WRONG: OutcomeDecision(Outcome.UNSUPPORTED, Layer.READER),
        AnswerVerdict.ABSTAINED: _RIGHT,
        AnswerVerdict.UNCLEAR: _UNCERTAIN,
    },
    EvidenceStage.NEVER_WRITTEN: _lost(Outcome.NEVER_WRITTEN, Layer.WRITE),
    EvidenceStage.PRUNED: _lost(Outcome.PRUNED, Layer.WRITE),
    EvidenceStage.NOT_RETRIEVED: _lost(Outcome.NOT_RETRIEVED, Layer.RETRIEVAL),
    EvidenceStage.RETRIEVED: {
        AnswerVerdict.RIGHT: _RIGHT,
        AnswerVerdict.STALE: OutcomeDecision(Outcome.STALE, Layer.READER),
        AnswerVerdict.WRONG: OutcomeDecision(Outcome.WRONG, Layer.READER),
        AnswerVerdict.ABSTAINED: OutcomeDecision(Outcome.ABSTAINED, Layer.READER),
        AnswerVerdict.UNCLEAR: _UNCERTAIN,
    },
}


def decide(stage: EvidenceStage, verdict: AnswerVerdict) -> OutcomeDecision:
    """The outcome and the layer of a question."""
    return TABLE[stage][verdict]


def is_decided(row: Mapping[str, Any]) -> bool:
    """Whether a row has the outcome and the layer that follow from its stage and its verdict."""
    try:
        decision = decide(EvidenceStage(row["stage"]), AnswerVerdict(row["verdict"]))
    except (KeyError, ValueError):
        return False
    measures = row.get("measures")
    answered = measures.get("answered") if isinstance(measures, dict) else None
    return (row.get("outcome"), row.get("layer")) == (
        decision.outcome,
        decision.layer,
    ) and answered == (decision == _RIGHT)


@dataclass(frozen=True, slots=True)
class LossCounts:
    """How many questions ended how. `answered` and the losses sum to 1."""

    questions: int
    outcomes: dict[Outcome, int]
    layers: dict[Layer, int]

    @property
    def answered(self) -> Fraction:
        """The share answered right with its evidence."""
        return Fraction(self.layers[Layer.NONE], self.questions)

    @property
    def losses(self) -> dict[Layer, Fraction]:
        """What each layer lost, as a share of all questions; they sum to 1 - answered."""
        return {layer: Fraction(self.layers[layer], self.questions) for layer in LOSSES}


def count_losses(decided: Iterable[tuple[Outcome, Layer]]) -> LossCounts:
    pairs = list(decided)
    if not pairs:
        raise MemAuditError("there are no questions to add up")
    outcomes = Counter(outcome for outcome, _ in pairs)
    layers = Counter(layer for _, layer in pairs)
    return LossCounts(
        len(pairs),
        {outcome: outcomes[outcome] for outcome in Outcome},
        {layer: layers[layer] for layer in Layer},
    )


RowData = dict[str, Any]
ONE = Fraction(1)


def summarise(rows: Sequence[RowData], stores: Sequence[str]) -> dict[str, Any]:
    """The summary of rows. Every store has a row for every question."""
    by_store = {name: [row for row in rows if row["store"] == name] for name in stores}
    asked = by_store[stores[0]]
    packages = list(dict.fromkeys(row["package"] for row in asked))
    by_package = len(packages) > 1
    place = {name: at for at, name in enumerate(packages)}
    cluster = np.array(
        [place[row["package"]] for row in asked] if by_package else range(len(asked))
    )
    values = {
        measure: np.array(
            [[_number(row["measures"][measure]) for row in by_store[name]] for name in stores]
        ).T
        for measure in MEASURES
    }
    drawn = resample_counts(int(cluster.max()) + 1)[:, cluster]
    means = {measure: mean_intervals(values[measure], drawn) for measure in MEASURES}
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
                    measure: _measured(means[measure][at], values[measure][:, at], cluster)
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
    }


def _added(rows: Sequence[RowData]) -> LossCounts:
    return count_losses((Outcome(row["outcome"]), Layer(row["layer"])) for row in rows)


def _losses(counts: LossCounts) -> dict[str, Any]:
    """Counts, and exact shares as text: `answered` and `losses` sum to 1."""
    return {
        "questions": counts.questions,
        "outcomes": {outcome.value: count for outcome, count in counts.outcomes.items()},
        "answered": str(counts.answered),
        "losses": {layer.value: str(share) for layer, share in counts.losses.items()},
    }


def _remarks(rows: Sequence[RowData]) -> dict[str, int]:
    return dict(sorted(Counter(why for row in rows for why in row["why"]).items()))


def _kinds(
    rows: Sequence[RowData], values: dict[str, Floats], store: int, cluster: Indices, drawn: Floats
) -> dict[str, Any]:
    """Losses and measures by kind of question."""
    kinds = {}
    for kind in sorted({row["kind"] for row in rows}):
        here = np.array([row["kind"] == kind for row in rows])
        measures = {}
        for name, table in values.items():
            own_values = table[here][:, [store]]
            (mean,) = mean_intervals(own_values, drawn[:, here])
            measures[name] = _measured(mean, own_values[:, 0], cluster[here])
        own = [row for row in rows if row["kind"] == kind]
        kinds[kind] = {**_losses(_added(own)), "measures": measures}
    return kinds


def _measured(mean: Interval, values: Floats, cluster: Indices) -> dict[str, Any]:
    data = with_bounds(mean, values, cluster)
    return {"n": data.pop("n"), "undefined": len(values) - mean.n, **data}


def _differences(
    measure: str, values: Floats, cluster: Indices, drawn: Floats, stores: Sequence[str]
) -> list[dict[str, Any]]:
    """Every two stores over the questions where both are defined, with Holm's correction."""
    pairs = list(combinations(range(len(stores)), 2))
    if not pairs:
        return []
    results = paired_differences(values, pairs, drawn, cluster)
    adjusted = holm([result.p for result in results])
    return [
        {
            "measure": measure,
            "first": stores[a],
            "second": stores[b],
            **_difference(result, values[:, a] - values[:, b], cluster),
            "p": rounded(result.p) if result.n else None,
            "p_holm": rounded(corrected) if result.n else None,
        }
        for (a, b), result, corrected in zip(pairs, results, adjusted, strict=True)
    ]


def _difference(mean: Interval, gaps: Floats, cluster: Indices) -> dict[str, Any]:
    data = with_bounds(mean, gaps, cluster)
    return {"n": data.pop("n"), "mean_difference": data.pop("mean"), **data}


def _number(value: int | float | str | None) -> float:
    return math.nan if value is None else float(exact(value))


def depths(rows: Sequence[RowData]) -> int:
    """The largest number of memories retrieved for a question."""
    return max((len(row["retrieved"]) for row in rows), default=0)


def curve(
    rows: Sequence[RowData], most: int, cluster: Indices, drawn: Floats
) -> list[dict[str, Any]]:
    """Evidence against words: one point per depth, what the first 1, 2, ... memories hold.

    A store of short memories and one of long ones retrieve the same number and very different
    amounts of text. At equal words they can be compared.
    """
    lengths = np.array([_words(row, most) for row in rows]).reshape(len(rows), most)
    shares = np.array([_shares(row, most) for row in rows]).reshape(len(rows), 2 * most)
    means = mean_intervals(shares, drawn)
    return [
        {
            "first": depth + 1,
            "words": float(round(lengths[:, depth].mean(), 6)),
            "evidence_recall": with_bounds(means[depth], shares[:, depth], cluster),
            "evidence_coverage": with_bounds(means[most + depth], shares[:, most + depth], cluster),
        }
        for depth in range(most)
    ]


def _words(row: RowData, most: int) -> list[int]:
    """Words of the first 1, 2, ... memories, at most of all of them."""
    sums = list(accumulate(text_words(row["texts"][id]) for id in row["retrieved"])) or [0]
    return [sums[min(depth, len(sums) - 1)] for depth in range(most)]


def _shares(row: RowData, most: int) -> list[float]:
    """Of the required units: the share covered in full at each depth, then the mean share."""
    units = row["evidence"]
    if not units:
        return [math.nan] * 2 * most
    covered = [_covered_shares(unit, most) for unit in units]
    in_full = [[share == 1 for share in shares] for shares in covered]
    return [
        float(sum(column, Fraction(0)) / len(units))
        for table in (in_full, covered)
        for column in zip(*table, strict=True)
    ]


def _covered_shares(unit: dict[str, Any], most: int) -> list[Fraction]:
    """The share of a unit that the first 1, 2, ... memories cover, at most 1."""
    needs = exact(unit["needs"])
    links = [(link["rank"], exact(link["covers"])) for link in unit["memories"] if link["rank"]]
    return [
        min(sum((covers for rank, covers in links if rank <= depth), Fraction(0)) / needs, ONE)
        for depth in range(1, most + 1)
    ]


def with_bounds(interval: Interval, values: Floats, cluster: Indices) -> dict[str, Any]:
    """n, mean and interval. With fewer than two clusters to resample there is no interval."""
    alone = len(np.unique(cluster[~np.isnan(values)])) < 2
    return {
        "n": interval.n,
        "mean": rounded(interval.mean),
        "ci_low": None if alone else rounded(interval.low),
        "ci_high": None if alone else rounded(interval.high),
    }
