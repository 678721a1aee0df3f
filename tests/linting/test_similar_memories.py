"""Which memories are compared, which say the same, and which contradict each other."""

import json
from pathlib import Path

import numpy as np
import pytest

from memaudit.lab.studies.train_pairs import CONFLICT, SAME, fitted, labelled_pairs
from memaudit.linting.similar_memories import clusters, contradictions, pairs_to_compare
from memaudit.linting.statement_pairs import PairVerdict, compare, pair_model, statement

SAID = [
    "Ann is allergic to peanuts.",
    "ann is allergic to peanuts",
    "User works night shifts at the harbour clinic",
    "The user works night shifts at the harbour clinic.",
    "Bo collects stamps",
]


def test_pairs_share_rare_words() -> None:
    """Equal texts need no comparison, and memories without a common word are never
    compared. 2,000 memories with words of their own and one in common have a few partners
    each."""
    assert pairs_to_compare(SAID) == [(2, 3)]
    assert pairs_to_compare([]) == []
    assert pairs_to_compare(["alone"]) == []
    texts = [f"user item{n} group{n // 3}" for n in range(2000)]
    assert len(pairs_to_compare(texts)) == pytest.approx(2000, rel=0.1)


def test_clusters_do_not_chain() -> None:
    """b is like a, c like b but not like a: c stays outside. Equal texts are together
    anyway. Where a and its copy b both disagree with c there is one contradiction, the
    likeliest."""
    texts = ["a", "b", "c", "same", "Same."]
    verdicts = {
        (0, 1): PairVerdict(0.9, 0),
        (1, 2): PairVerdict(0.8, 0),
        (0, 2): PairVerdict(0.1, 0),
    }
    assert clusters(texts, verdicts, 0.5) == [(0, 1), (3, 4)]
    near = {**verdicts, (0, 2): PairVerdict(0.7, 0)}
    assert clusters(texts, near, 0.5) == [(0, 1, 2), (3, 4)]
    verdicts = {
        (0, 2): PairVerdict(0.1, 0.7),
        (1, 2): PairVerdict(0.1, 0.9),
        (0, 1): PairVerdict(1, 0),
    }
    assert contradictions(verdicts, 0.6, [(0, 1)]) == [(1, 2)]
    assert contradictions(verdicts, 0.95, []) == []


def test_the_same_in_either_order() -> None:
    pairs = [(row["first"], row["second"]) for row in labelled_pairs("held_out")[:60]]
    there, back = compare(pairs), compare([(second, first) for first, second in pairs])
    assert there == back


def rates(verdicts: list[str], what: str, labels: set[str]) -> tuple[float, float]:
    """Precision and recall on the held-out pairs."""
    truth = [row["label"] in labels for row in labelled_pairs("held_out")]
    said = [verdict == what for verdict in verdicts]
    hits = sum(map(lambda one, other: one and other, truth, said))
    return hits / sum(said), hits / sum(truth)


def test_by_words_on_pairs_that_were_never_seen() -> None:
    """As docs/lint.md says: what is called the same mostly is, but much is missed."""
    model = pair_model()
    said = [
        "same"
        if one.same >= model.same_from
        else "conflict"
        if one.conflict >= model.conflict_from
        else "other"
        for one in compare([(row["first"], row["second"]) for row in labelled_pairs("held_out")])
    ]
    precision, recall = rates(said, "same", SAME)
    assert precision >= 0.9
    assert recall >= 0.35
    precision, recall = rates(said, "conflict", CONFLICT)
    assert precision >= 0.8
    assert recall >= 0.2


def test_by_a_model_on_the_same_pairs() -> None:
    """Replies of a language model to the requests of the pass, recorded: the figures to reach."""
    path = Path(__file__).parent / "recorded_pair_verdicts.json"
    said = json.loads(path.read_text())["verdicts"]
    assert min(rates(said, "same", SAME)) >= 0.9
    assert min(rates(said, "conflict", CONFLICT)) >= 0.8


@pytest.mark.slow
def test_the_shipped_model_is_fitted_to_the_shipped_pairs() -> None:
    """Other machines differ in far digits."""
    model, shipped = fitted(labelled_pairs("training")), pair_model()
    np.testing.assert_allclose(model.same, shipped.same, atol=0.02)
    np.testing.assert_allclose(model.conflict, shipped.conflict, atol=0.02)
    assert model.same_from == pytest.approx(shipped.same_from, abs=0.02)
    assert model.conflict_from == pytest.approx(shipped.conflict_from, abs=0.02)


def test_statements() -> None:
    """Stamps and fillers are left out, dates and numbers are in one notation."""
    one = statement("[2024-05-03] The user mentioned that Ann's meeting is on 2024-06-09.")
    other = statement("User: Ann's meeting is on June 9th, 2024")
    assert one.terms == other.terms
    assert {"2024", "9"} <= one.times | one.numbers
    assert not one.negated
    assert statement("Ann can't swim").negated
