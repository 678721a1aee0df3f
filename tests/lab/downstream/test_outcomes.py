"""One outcome for every question, and losses that add up."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.diagnosis_files import Layer, Outcome
from memaudit.lab.downstream.evidence_trace import EvidenceStage
from memaudit.lab.downstream.outcomes import LOSSES, TABLE, count_losses, decide

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

CELLS = list(product(EvidenceStage, AnswerVerdict))


@pytest.mark.parametrize(("stage", "verdict"), CELLS)
def test_every_cell(stage: EvidenceStage, verdict: AnswerVerdict) -> None:
    """30 cells, each with the decision the grid gives it."""
    outcome, _, layer = GRID[stage].split()[VERDICTS.index(verdict)].partition("/")
    found = decide(stage, verdict)
    assert (found.outcome.value, found.layer.value) == (outcome, layer)


def test_exhaustive() -> None:
    """Every stage and verdict has a cell, and every outcome and layer is reached."""
    assert set(TABLE) == set(EvidenceStage)
    assert all(set(row) == set(AnswerVerdict) for row in TABLE.values())
    decisions = [decide(*cell) for cell in CELLS]
    assert len(CELLS) == 30
    assert {one.outcome for one in decisions} == set(Outcome)
    assert {one.layer for one in decisions} == set(Layer)


@given(
    st.lists(
        st.tuples(st.sampled_from(list(EvidenceStage)), st.sampled_from(list(AnswerVerdict))),
        min_size=1,
        max_size=40,
    )
)
def test_they_sum_to_one(cells: list[tuple[EvidenceStage, AnswerVerdict]]) -> None:
    """1 - answered = write + retrieval + reader + unsupported + uncertain, in fractions."""
    decided = [decide(*cell) for cell in cells]
    found = count_losses((one.outcome, one.layer) for one in decided)
    assert 1 - found.answered == sum(found.losses.values())
    assert sum(found.outcomes.values()) == sum(found.layers.values()) == len(cells)
    assert set(found.losses) == set(LOSSES)


def test_by_hand() -> None:
    """Of three questions one is answered, one lost in writing, one in reading."""
    rows = [
        (Outcome.RIGHT, Layer.NONE),
        (Outcome.PRUNED, Layer.WRITE),
        (Outcome.STALE, Layer.READER),
    ]
    found = count_losses(rows)
    third = Fraction(1, 3)
    assert (found.answered, found.losses[Layer.WRITE], found.losses[Layer.READER]) == (third,) * 3
    assert found.losses[Layer.RETRIEVAL] == 0
    with pytest.raises(MemAuditError, match="no questions"):
        count_losses([])
