"""Who is compared with whom."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.labels.coded_labels import (
    COVERED_SCALE,
    LABEL_SCALE,
    all_raters,
    codes_of,
    compared_pairs,
    confusion_places,
    on_scale,
)
from memaudit.lab.labels.frame import (
    CANNOT_TELL,
    DISAGREED,
    MISSING,
    Frame,
    KeyedCell,
    consensus_codes,
)
from tests.lab.labels.small_frames import frame, labels


def names(key: str, annotators: str, models: str = "") -> list[str]:
    found = all_raters(
        frame(2, key),
        [labels(name, "fn") for name in annotators],
        [labels(name, "ff") for name in models],
    )
    return [f"{one.name}-{other.name}" for one, other in compared_pairs(found)]


def test_pairs() -> None:
    assert names("fn", "ab") == ["a-b", "consensus-package", "a-package", "b-package"]
    assert names("", "abc") == ["a-b", "a-c", "b-c"]
    assert names("fn", "a") == ["a-package"]
    assert names("fn", "ab", "xy") == [
        "a-b",
        "consensus-package",
        "a-package",
        "b-package",
        "consensus-x",
        "a-x",
        "b-x",
        "consensus-y",
        "a-y",
        "b-y",
        "x-package",
        "y-package",
        "x-y",
    ]


def test_parts_of_one_annotator() -> None:
    (one, _) = all_raters(frame(4), [labels("a", "f"), labels("a", ".n"), labels("b", "f")])
    assert one.labels == {"c000": "full", "c001": "none"}
    with pytest.raises(MemAuditError, match="'a' labels the cell 'c001' in two files"):
        all_raters(frame(4), [labels("a", "ff"), labels("a", ".f")])


def test_a_pass_does_not_meet_itself() -> None:
    plain = frame(2, "fn")
    key = {id: KeyedCell(one.value, "pass:a", one.weight) for id, one in plain.key.items()}
    own = Frame(plain.cells, key)
    found = all_raters(own, [labels("pass:a", "fn"), labels("b", "fn")])
    assert [one.name for one in found] == ["pass:a", "b"]
    found = all_raters(own, [labels("c", "fn"), labels("b", "fn")])
    assert [one.name for one in found] == ["c", "b", "package"]


def test_wrong_input() -> None:
    with pytest.raises(MemAuditError, match="only 'a' labelled"):
        all_raters(frame(2), [labels("a", "ff")])
    with pytest.raises(MemAuditError, match="'a' is an annotator and a model"):
        all_raters(frame(2), [labels("a", "ff")], [labels("a", "ff")])
    with pytest.raises(MemAuditError, match="an annotator has the reserved name 'package'"):
        all_raters(frame(2), [labels("package", "ff"), labels("a", "ff")])
    with pytest.raises(MemAuditError, match="give label files"):
        all_raters(frame(2), [])


def codes(said: str) -> list[int]:
    return [int(code) for code in codes_of(labels("a", said).labels, frame(len(said)).cells)]


def test_scales() -> None:
    assert codes("npf?.") == [0, 1, 2, CANNOT_TELL, MISSING]
    found = np.array(codes("npf?."), np.int8)
    assert on_scale(found, LABEL_SCALE).tolist() == found.tolist()
    assert on_scale(found, COVERED_SCALE).tolist() == [0, 1, 1, CANNOT_TELL, MISSING]


def test_consensus() -> None:
    said = np.array([codes("ffnf?f."), codes("ffpf.ff"), codes("f.n?..n")], np.int8)
    found = consensus_codes(said)
    assert found.tolist() == [2, 2, DISAGREED, CANNOT_TELL, CANNOT_TELL, 2, DISAGREED]
    # Full and partial are the same on the scale of two.
    pair = on_scale(np.array([codes("fp"), codes("pn")], np.int8), COVERED_SCALE)
    assert consensus_codes(pair).tolist() == [1, DISAGREED]
    assert consensus_codes(np.array([codes("f"), codes(".")], np.int8)).tolist() == [MISSING]


def test_crossed() -> None:
    first, second = (np.array(codes(said), np.int8) for said in ("fn?f.?", "fpf.?f"))
    places, left_out = confusion_places(first, second, LABEL_SCALE)
    assert places.tolist() == [8, 1, -1, -1, -1, -1]
    assert left_out == {"missing": 2, "cannot_tell": 2, "disagreed": 0}


letters = st.text("npf?.", min_size=5, max_size=5)


@given(letters, letters)
def test_every_cell_counts_once(first: str, second: str) -> None:
    one, other = (np.array(codes(said), np.int8) for said in (first, second))
    both = consensus_codes(np.stack([one, other]))
    for side in (other, both):
        places, left_out = confusion_places(one, side, LABEL_SCALE)
        assert int((places >= 0).sum()) + sum(left_out.values()) == 5
    assert ((both >= 0) == ((one >= 0) & (one == other))).all()
