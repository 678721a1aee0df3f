"""Uncovered cells that drawn ones stand for: exactly those that the key's weights count."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import case_of
from memaudit.label_audit.cells import Frame, LabelSet
from memaudit.label_audit.doubtful_cells import Outside, outside
from memaudit.label_audit.frame_drawing import Design, draw
from memaudit.label_audit.population import Strata, pairs
from memaudit.label_audit.readings import annotated, own_reading
from tests.label_audit.agreement.test_judged_frame import passed
from tests.label_audit.frames.making import grid, placed_packages


def stood_for(frame: Frame, *packages: Package, keyed: bool = True) -> Outside:
    """With one annotator, who labels all cells none."""
    cases = [case_of(one) for one in packages]
    labels = LabelSet("ann", dict.fromkeys((one.id for one in frame.cells), "none"))
    frame = frame if keyed else Frame(frame.cells)
    own = own_reading(cases, [annotated(labels, frame, cases)])
    return outside(cases, own, frame, {one.name: Strata(one.scored) for one in cases})


@settings(max_examples=50)
@given(placed_packages(), st.fractions(0, 1, max_denominator=6), st.integers(0, 3))
def test_all_uncovered_cells_are_stood_for(package: Package, rate: Fraction, seed: int) -> None:
    """Frame and the cells it stands for make up the package, each cell once, as the weights say."""
    try:
        frame = draw([package], Design(seed, rate)).frame
    except MemAuditError:  # nothing is covered, and nothing was to be drawn of the rest
        return
    found = stood_for(frame, package)
    held = {(one.candidate, one.unit) for one in frame.cells}
    beyond = set(found.cells[package.name])
    assert not held & beyond
    every = {(one.candidate.id, one.unit.id) for one in pairs(package)}
    if rate:
        assert held | beyond == every
        assert found.untouched == 0
    assert found.expected == (found.number or None)
    assert found.found == found.number


def test_a_fifth() -> None:
    """1,200 cells, 100 covered: 220 of 1,100 are drawn, 880 are not."""
    package = grid("first")
    frame = draw([package], Design()).frame
    found = stood_for(frame, package)
    assert (found.number, found.expected, found.untouched) == (880, 880, 0)


def test_without_weights() -> None:
    """No key, or one that counts every cell once: nothing is stood for, 880 cells are not drawn."""
    package = grid("first")
    frame = draw([package], Design()).frame
    bare = stood_for(frame, package, keyed=False)
    assert (bare.number, bare.expected, bare.untouched) == (0, None, 880)
    flat = {id: replace(one, weight=Fraction(1)) for id, one in frame.key.items()}
    assert stood_for(Frame(frame.cells, flat), package).untouched == 880
    census = draw([package], Design(zero_rate=Fraction(1))).frame
    assert stood_for(census, package) == Outside({"grid": []})


def test_some_of_the_packages() -> None:
    """Of a frame over two packages one is audited: its own cells are found, and how many there
    should be is not known. A package that the frame was not drawn from is left alone."""
    one, other, third = (grid("first", name) for name in ("one", "other", "third"))
    frame = draw([one, other], Design()).frame
    found = stood_for(frame, one)
    held = sum(cell.package == "one" for cell in frame.cells)
    assert (found.number, found.expected) == (1200 - held, None)
    found = stood_for(frame, one, other, third)
    assert (found.number, found.expected, found.untouched) == (2 * 880, 2 * 880, 1100)
    assert found.cells["third"] == []


def test_judged_cells_only() -> None:
    """Session by session, two memories times two units were judged, and two of these cells are not
    covered: one is drawn and stands for the other. The other 4 cells of the two memories and 3 of
    the raw turn's are nobody's. All judged, 6 are not covered, 3 of a session and 3 of the other.
    """
    half = Design(zero_rate=Fraction(1, 2), judged_only=True)
    package = passed("session", 4)
    found = stood_for(draw([package], half).frame, package)
    assert (found.number, found.expected, found.untouched) == (1, 1, 7)
    assert found.cells["p"][0] in {("m1", "u2"), ("m2", "u4")}
    package = passed("conversation", 8)
    found = stood_for(draw([package], half).frame, package)
    assert (found.number, found.expected, found.untouched) == (3, 3, 3)
    assert {at[0] for at in found.cells["p"]} <= {"m1", "m2"}


def test_a_package_that_changed() -> None:
    """Ten more cells are covered than when the frame was drawn: the key and the package differ."""
    package = grid("first")
    frame = draw([package], Design()).frame
    held = {(one.candidate, one.unit) for one in frame.cells}
    more = [at for at in stood_for(frame, package).cells["grid"] if at not in held][:10]
    rows = [{"candidate": candidate, "unit": unit, "value": 1} for candidate, unit in more]
    data = package.model_dump(mode="python")
    changed = Package.model_validate({**data, "coverage": [*data["coverage"], *rows]})
    found = stood_for(frame, changed)
    assert (found.found, found.expected) == (870, 880)
