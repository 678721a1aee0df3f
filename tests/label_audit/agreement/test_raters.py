"""Who is compared with whom."""

import pytest

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import Frame, KeyedCell
from memaudit.label_audit.raters import compared_pairs, raters
from tests.label_audit.agreement.labelled import frame, labels


def names(key: str, annotators: str, models: str = "") -> list[str]:
    """The pairs as words, for people and models of one letter each."""
    found = raters(
        frame(2, key), [labels(name, "fn") for name in annotators],
        [labels(name, "ff") for name in models],
    )  # fmt: skip
    return [f"{one.name}-{other.name}" for one, other in compared_pairs(found)]


def test_pairs() -> None:
    """People first, the package, models; the consensus before each annotator."""
    assert names("fn", "ab") == ["a-b", "consensus-package", "a-package", "b-package"]
    assert names("", "abc") == ["a-b", "a-c", "b-c"]
    assert names("fn", "a") == ["a-package"]
    assert names("fn", "ab", "xy") == [
        "a-b", "consensus-package", "a-package", "b-package", "consensus-x", "a-x", "b-x",
        "consensus-y", "a-y", "b-y", "x-package", "y-package", "x-y",
    ]  # fmt: skip


def test_parts_of_one_annotator() -> None:
    """Files with different cells are put together, one cell twice is an error."""
    (one, _) = raters(frame(4), [labels("a", "f"), labels("a", ".n"), labels("b", "f")])
    assert one.labels == {"c000": "full", "c001": "none"}
    with pytest.raises(MemAuditError, match="'a' labels the cell 'c001' in two files"):
        raters(frame(4), [labels("a", "ff"), labels("a", ".f")])


def test_a_pass_does_not_meet_itself() -> None:
    """Where the package's own labels are a pass that is compared, the package is no rater."""
    plain = frame(2, "fn")
    key = {id: KeyedCell(one.value, "pass:a", one.weight) for id, one in plain.key.items()}
    own = Frame(plain.cells, key)
    found = raters(own, [labels("pass:a", "fn"), labels("b", "fn")])
    assert [one.name for one in found] == ["pass:a", "b"]
    found = raters(own, [labels("c", "fn"), labels("b", "fn")])
    assert [one.name for one in found] == ["c", "b", "package"]


def test_wrong_input() -> None:
    """One clear line."""
    with pytest.raises(MemAuditError, match="only 'a' labelled"):
        raters(frame(2), [labels("a", "ff")])
    with pytest.raises(MemAuditError, match="'a' is an annotator and a model"):
        raters(frame(2), [labels("a", "ff")], [labels("a", "ff")])
    with pytest.raises(MemAuditError, match="an annotator is called 'package'"):
        raters(frame(2), [labels("package", "ff"), labels("a", "ff")])
    with pytest.raises(MemAuditError, match="give label files"):
        raters(frame(2), [])
