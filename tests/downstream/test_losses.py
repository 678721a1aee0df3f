"""Losses add up exactly."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.downstream.answers import Verdict
from memaudit.downstream.chain import Stage
from memaudit.downstream.outcomes import LOSSES, decide, losses
from memaudit.formats.diagnosis_files import Layer, Outcome


@given(
    st.lists(
        st.tuples(st.sampled_from(list(Stage)), st.sampled_from(list(Verdict))),
        min_size=1, max_size=40,
    )
)  # fmt: skip
def test_they_sum_to_one(cells: list[tuple[Stage, Verdict]]) -> None:
    """1 - answered = write + retrieval + reader + unsupported + uncertain, in fractions."""
    decided = [decide(*cell) for cell in cells]
    found = losses((one.outcome, one.layer) for one in decided)
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
    found = losses(rows)
    third = Fraction(1, 3)
    assert (found.answered, found.losses[Layer.WRITE], found.losses[Layer.READER]) == (third,) * 3
    assert found.losses[Layer.RETRIEVAL] == 0
    with pytest.raises(MemAuditError, match="no questions"):
        losses([])
