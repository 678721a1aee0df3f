"""What is said about the numbers of an audit of ratios."""

from fractions import Fraction

from memaudit.core.package import Package
from memaudit.label_audit.audited_package import case_of
from memaudit.label_audit.cells import Frame, Label, LabelSet
from memaudit.label_audit.frame_drawing import Design, draw
from memaudit.label_audit.label_confusion import Confusion
from memaudit.label_audit.ratios import Question, audit_ratios
from memaudit.label_audit.ratios_json import notes
from memaudit.label_audit.readings import annotated
from tests.label_audit.ratios.tiny import F, package, reading, serial


def noted(
    frame: Frame, draws: int = 1, held: Package | None = None, label: Label = "none",
    confusion: Confusion = "package",
) -> str:  # fmt: skip
    """The notes, where ann and bob call every cell of a frame the same."""
    case = case_of(held or package())
    labels = dict.fromkeys((one.id for one in frame.cells), label)
    sets = [LabelSet(name, labels) for name in ("ann", "bob")]
    readings = tuple(annotated(one, frame, [case]) for one in sets)
    question = Question(
        (case,), readings, (F(1),), ("recency_raw",), draws, frame=frame, confusion=confusion
    )
    return "\n".join(notes(audit_ratios(question, serial, lambda *_: None)))


def test_a_sample() -> None:
    """6 cells, 2 covered: 2 of the other 4 are drawn and stand for all 4. Every label turns into
    none, so 2 turn out otherwise: the covered ones."""
    frame = draw([package()], Design(zero_rate=Fraction(1, 2))).frame
    text = noted(frame)
    assert "the range of 1 draw of the 4 cells asked about and the 2 uncovered ones" in text
    assert "about 2.0 labels turn out otherwise" in text
    assert "odds: how ann, bob labelled cells, given the package's label" in text
    assert "is understated" not in text
    assert "keep the package's label in all draws" not in text
    assert "the middle 95 % of 40 draws" in noted(frame, 40)
    assert "given each other's labels" in noted(frame, confusion="annotators")
    assert noted(frame, draws=0) == ""


def test_what_is_not_drawn() -> None:
    """Without a key, or without weights, the frame's own cells alone are drawn, and it is said."""
    frame = draw([package()], Design(zero_rate=Fraction(1, 2))).frame
    text = noted(Frame(frame.cells))
    assert "the frame has no key" in text
    assert "2 uncovered cells keep the package's label in all draws" in text
    census = draw([package()], Design(zero_rate=Fraction(1))).frame
    assert "by the key every cell stands for itself" in noted(census)


def test_a_package_that_changed() -> None:
    """One more cell is covered now: the key stands for one more than there is."""
    frame = draw([package()], Design(zero_rate=Fraction(1, 4))).frame
    drawn = {(one.candidate, one.unit) for one in frame.cells}
    cell = next(at for at in (("a", "v"), ("b", "u")) if at not in drawn)
    rows = [*package().model_dump()["coverage"],
            {"candidate": cell[0], "unit": cell[1], "value": 1}]  # fmt: skip
    text = noted(frame, held=package(coverage=rows))
    assert "the key stands for 3 uncovered cells outside the frame, these packages have 2" in text


def test_people_who_know_no_partial() -> None:
    """The package calls au partial, ann full: that is ann's scale, and said; to whom partial is
    known nothing is."""
    half = package(coverage=[{"candidate": "a", "unit": "u", "value": 0.5}])
    frame = draw([half], Design(zero_rate=Fraction(0))).frame
    text = noted(frame, 0, half, "full")
    assert "ann says full or none, never partial" in text
    assert "count as changed to full: 1" in text
    assert noted(frame, 0, half, "partial") == ""
    question = Question(
        (case_of(half),), (reading("ann", au="1", bv="0.5"),), (F(1),), ("recency_raw",), 0
    )
    assert notes(audit_ratios(question, serial, lambda *_: None)) == []
