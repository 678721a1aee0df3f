"""Labels as arrays, the consensus, and why cells are left out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memaudit.label_audit.coding import (
    CANNOT_TELL,
    COVERED_SCALE,
    DISAGREED,
    LABEL_SCALE,
    MISSING,
    agreed,
    coded,
    crossed,
    on_scale,
)
from tests.label_audit.agreement.labelled import frame, labels


def codes(said: str) -> list[int]:
    """Labels of as many cells as there are letters."""
    return coded(labels("a", said).labels, frame(len(said)).cells).tolist()


def test_scales() -> None:
    """Partial is its own label, and covered; what is no label stays none on both scales."""
    assert codes("npf?.") == [0, 1, 2, CANNOT_TELL, MISSING]
    found = np.array(codes("npf?."), np.int8)
    assert on_scale(found, LABEL_SCALE).tolist() == found.tolist()
    assert on_scale(found, COVERED_SCALE).tolist() == [0, 1, 1, CANNOT_TELL, MISSING]


def test_consensus() -> None:
    """All who labelled a cell alike, at least two of them, and nobody in doubt."""
    said = np.array([codes("ffnf?f."), codes("ffpf.ff"), codes("f.n?..n")], np.int8)
    found = agreed(said)
    assert found.tolist() == [2, 2, DISAGREED, CANNOT_TELL, CANNOT_TELL, 2, DISAGREED]
    # Full and partial are the same on the scale of two.
    pair = on_scale(np.array([codes("fp"), codes("pn")], np.int8), COVERED_SCALE)
    assert agreed(pair).tolist() == [1, DISAGREED]
    assert agreed(np.array([codes("f"), codes(".")], np.int8)).tolist() == [MISSING]


def test_crossed() -> None:
    """Row by row; a cell that is missing for one and in doubt for the other is missing."""
    first, second = (np.array(codes(said), np.int8) for said in ("fn?f.?", "fpf.?f"))
    places, left_out = crossed(first, second, LABEL_SCALE)
    assert places.tolist() == [8, 1, -1, -1, -1, -1]
    assert left_out == {"missing": 2, "cannot_tell": 2, "disagreed": 0}


letters = st.text("npf?.", min_size=5, max_size=5)


@given(letters, letters)
def test_every_cell_counts_once(first: str, second: str) -> None:
    """Compared or left out for one reason; with the consensus too."""
    one, other = (np.array(codes(said), np.int8) for said in (first, second))
    both = agreed(np.stack([one, other]))
    for side in (other, both):
        places, left_out = crossed(one, side, LABEL_SCALE)
        assert int((places >= 0).sum()) + sum(left_out.values()) == 5
    assert ((both >= 0) == ((one >= 0) & (one == other))).all()
