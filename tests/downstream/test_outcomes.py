"""The decision table, cell by cell, and what holds for the whole of it."""

from itertools import product

import pytest

from memaudit.downstream.answers import Verdict
from memaudit.downstream.chain import LOST, Stage
from memaudit.downstream.outcomes import TABLE, decide
from memaudit.formats.diagnosis_files import Layer, Outcome

VERDICTS = ("right", "stale", "wrong", "abstained", "unclear")
GRID = {
    "no_evidence": "uncertain/uncertain " * 5,
    "nothing_needed": "answered_right/answered stale_answer/reader "
    "answered_without_support/reader answered_right/answered uncertain/uncertain",
    "never_written": "answered_without_support/unsupported stale_answer/write "
    + "evidence_never_written/write " * 3,
    "pruned": "answered_without_support/unsupported stale_answer/write "
    + "written_but_pruned/write " * 3,
    "not_retrieved": "answered_without_support/unsupported stale_answer/retrieval "
    + "kept_not_retrieved/retrieval " * 3,
    "retrieved": "answered_right/answered stale_answer/reader retrieved_but_wrong/reader "
    "retrieved_but_abstained/reader uncertain/uncertain",
}
"""The whole table once more, written out: outcome and layer by stage and verdict."""

CELLS = list(product(Stage, Verdict))


@pytest.mark.parametrize(("stage", "verdict"), CELLS)
def test_every_cell(stage: Stage, verdict: Verdict) -> None:
    """30 cells, each with the decision the grid gives it."""
    outcome, _, layer = GRID[stage].split()[VERDICTS.index(verdict)].partition("/")
    found = decide(stage, verdict)
    assert (found.outcome.value, found.layer.value) == (outcome, layer)


def test_exhaustive() -> None:
    """Every stage and verdict has a cell, and every outcome and layer is reached."""
    assert set(TABLE) == set(Stage)
    assert all(set(row) == set(Verdict) for row in TABLE.values())
    decisions = [decide(*cell) for cell in CELLS]
    assert len(CELLS) == 30
    assert {one.outcome for one in decisions} == set(Outcome)
    assert {one.layer for one in decisions} == set(Layer)


@pytest.mark.parametrize(("stage", "verdict"), CELLS)
def test_evidence_first(stage: Stage, verdict: Verdict) -> None:
    """Only complete evidence, or none needed, is answered right; luck is never a layer's loss."""
    found = decide(stage, verdict)
    complete = stage in (Stage.RETRIEVED, Stage.NOTHING_NEEDED)
    assert (found.outcome is Outcome.RIGHT) == (found.layer is Layer.NONE)
    assert found.outcome is not Outcome.RIGHT or complete
    if stage in LOST:
        lost_by = Layer.RETRIEVAL if stage is Stage.NOT_RETRIEVED else Layer.WRITE
        assert found.layer is (Layer.LUCK if verdict is Verdict.RIGHT else lost_by)
    if verdict is Verdict.STALE and stage is not Stage.NO_EVIDENCE:
        assert found.outcome is Outcome.STALE
