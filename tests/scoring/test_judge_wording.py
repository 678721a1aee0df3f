"""Whose word coverage is, in words."""

import pytest

from memaudit.scoring.judges.protocol import judged_how


@pytest.mark.parametrize(
    ("judge", "is_estimate", "said"),
    [
        ("lexical-v2", True, "an ESTIMATE by shared words, not labels"),
        ("labels pass_a", False, "as labelled"),
        ("published calls x.jsonl", False, "as labelled"),
        ("pointer", False, "by the turns that memories name as their sources"),
        ("model m1", False, "as a model judged"),
    ],
)
def test_said(judge: str, is_estimate: bool, said: str) -> None:
    """A claim of the store or of a model is not called a label."""
    assert judged_how(judge, is_estimate) == said
