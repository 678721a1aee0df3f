"""Two label sets side by side."""

from fractions import Fraction

from memaudit.audits.agreement.confusion import confusion, confusion_between
from tests.audits.agreement.labelled import labels

FIRST, SECOND = labels("a", "fffnn?."), labels("b", "ffpnf.n")


def test_confusion() -> None:
    """Cells that both labelled, the undecided too: c005 and c006 have one label each."""
    assert confusion(FIRST, SECOND) == {
        ("full", "full"): 2, ("full", "partial"): 1, ("none", "full"): 1, ("none", "none"): 1,
    }  # fmt: skip
    assert confusion(labels("a", "?f"), labels("b", "n?")) == {
        ("cannot_tell", "none"): 1,
        ("full", "cannot_tell"): 1,
    }
    assert confusion(FIRST, labels("b", "")) == {}


def test_rates() -> None:
    """Of the first's three full cells the second calls two full; each label's rates sum to 1."""
    assert confusion_between(FIRST, SECOND) == {
        "full": {"full": Fraction(2, 3), "partial": Fraction(1, 3)},
        "none": {"full": Fraction(1, 2), "none": Fraction(1, 2)},
    }
