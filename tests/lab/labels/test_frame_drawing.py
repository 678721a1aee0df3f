"""What is drawn: all covered cells, a share of the rest, in an order that no label moves."""

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Coverage, Package
from memaudit.lab.labels.frame import Frame
from memaudit.lab.labels.frame_drawing import Design, draw, quote_of
from memaudit.lab.labels.package_cells import cells_of
from tests.lab.labels.small_frames import grid, packages_with_sessions

ALL = Fraction(1)
rates = st.sampled_from((Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), ALL))

TALK = Package.model_validate(
    {
        "name": "talk",
        "experiences": [
            {"id": "t1", "session": "s1", "text": "I moved to Rome."},
            {"id": "t2", "session": "s2", "text": "Rome is hot."},
            {"id": "t3", "text": "no session"},
        ],
        "candidates": [
            {"id": "r1", "experience": "t1", "kind": "raw", "cost": 1, "text": "I moved to Rome."},
            {"id": "r2", "experience": "t2", "kind": "raw", "cost": 1, "text": "Rome is hot."},
            {"id": "f1", "experience": "t1", "kind": "fact", "cost": 1, "text": "Moved."},
            {"id": "f3", "experience": "t3", "kind": "fact", "cost": 1, "text": "Hot."},
        ],
        "units": [
            {
                "id": "u1",
                "kind": "event",
                "text": "Moved to Rome.",
                "sources": [
                    {"id": "t1", "text": "moved to Rome"},
                    {"id": "t2", "session": "s2", "text": "Rome"},
                    {"id": "t9", "session": "s2", "text": "Rome"},
                ],
            },
            {
                "id": "u2",
                "kind": "fact",
                "text": "Rome is hot.",
                "sources": [{"id": "t2", "session": "s2", "text": "Rome is hot"}],
            },
            {"id": "u3", "kind": "fact", "text": "Unknown."},
        ],
        "coverage": [
            {"candidate": "r1", "unit": "u1", "value": 1, "provenance": "exact:statement"},
            {"candidate": "r2", "unit": "u1", "value": 0.5, "provenance": "exact:inclusion"},
            {"candidate": "f1", "unit": "u1", "value": 1, "provenance": "pass:a"},
            {"candidate": "f3", "unit": "u2", "value": 0, "provenance": "pass:a"},
        ],
    }
)


def names(frame: Frame) -> list[tuple[str, str, str]]:
    return [(one.package, one.candidate, one.unit) for one in frame.cells]


def test_sessions_and_quotes() -> None:
    """One of a unit's sessions is enough; no session, or no source, is unknown, not another.

    u1 has the sessions s2 and, by its source t1, s1.
    """
    found = {(one.candidate.id, one.unit.id): one.same_session for one in cells_of(TALK)}
    assert [found[id, "u1"] for id in ("r1", "r2", "f1", "f3")] == [True, True, True, None]
    assert [found[id, "u2"] for id in ("r1", "r2", "f1", "f3")] == [False, True, False, None]
    assert [found[id, "u3"] for id in ("r1", "r2", "f1", "f3")] == [None] * 4
    lost = TALK.units[1].sources[0].model_copy(update={"id": "t9", "session": None})
    unit = TALK.units[1].model_copy(update={"sources": (*TALK.units[1].sources, lost)})
    unsure = TALK.replace(units=(TALK.units[0], unit, TALK.units[2]))
    assert [one.same_session for one in cells_of(unsure) if one.unit.id == "u2"] == [
        None,
        True,
        None,
        None,
    ]
    assert [quote_of(one) for one in TALK.units] == ["moved to Rome\nRome", "Rome is hot", ""]


def test_by_hand() -> None:
    """12 cells, 3 covered; the 9 others fall into 6 strata, and half of each is rounded up.

    Uncovered: raw / fact / other {r1 u2}; same {r2 u2}; unknown {r1 u3, r2 u3};
    fact / event / unknown {f3 u1}; fact / fact / other {f1 u2}; unknown {f1 u3, f3 u2, f3 u3}.
    """
    drawing = draw([TALK], Design(zero_rate=Fraction(1, 2)))
    counts = {one.name: (one.covered, one.uncovered, one.drawn) for one in drawing.strata}
    assert counts == {
        "fact / event / same session": (1, 0, 0),
        "fact / event / session unknown": (0, 1, 1),
        "fact / fact / other session": (0, 1, 1),
        "fact / fact / session unknown": (0, 3, 2),
        "raw / event / same session": (2, 0, 0),
        "raw / fact / other session": (0, 1, 1),
        "raw / fact / same session": (0, 1, 1),
        "raw / fact / session unknown": (0, 2, 1),
    }
    assert [one.id for one in drawing.frame.cells] == [f"c{number:04}" for number in range(1, 11)]
    key = {(cell.candidate, cell.unit): drawing.frame.key[cell.id] for cell in drawing.frame.cells}
    assert (key["r2", "u1"].value, key["r2", "u1"].weight) == (Fraction(1, 2), 1)
    unknown = {("f1", "u3"), ("f3", "u2"), ("f3", "u3")}
    assert [one.weight for at, one in key.items() if at in unknown] == [Fraction(3, 2)] * 2
    assert drawing.left_out == {}


def test_skipping_what_is_exact() -> None:
    """r1 u1 follows from the texts. No zero does: a turn may say what another says."""
    drawing = draw([TALK], Design(zero_rate=ALL, skip_exact=True))
    found = {(cell.candidate, cell.unit) for cell in drawing.frame.cells}
    every = {(c, u) for c in ("f1", "f3", "r1", "r2") for u in ("u1", "u2", "u3")}
    assert found == every - {("r1", "u1")}
    assert drawing.left_out == {"exact": 1}


def test_kinds() -> None:
    drawing = draw([TALK], Design(zero_rate=ALL, kinds=frozenset({"fact"})))
    assert len(drawing.frame.cells) == 6
    assert drawing.left_out == {"of other kinds": 6}
    with pytest.raises(MemAuditError, match="of the kind 'edge'; kinds: fact, raw"):
        draw([TALK], Design(kinds=frozenset({"edge"})))


def test_refused() -> None:
    with pytest.raises(MemAuditError, match="two packages are called 'talk'"):
        draw([TALK, TALK], Design())
    with pytest.raises(MemAuditError, match="zero rate 2 is not between 0 and 1"):
        Design(zero_rate=Fraction(2))
    with pytest.raises(MemAuditError, match="no cell is left"):
        draw([TALK.replace(coverage=())], Design(zero_rate=Fraction(0)))


@settings(max_examples=40)
@given(packages_with_sessions(), rates, st.integers(0, 3))
def test_every_covered_cell_and_honest_weights(package: Package, rate: Fraction, seed: int) -> None:
    """Covered cells are all in, with weight 1; weights add up to the cells of each stratum."""
    everything = list(cells_of(package))
    if not everything:
        return
    frame = draw([package], Design(seed, rate)).frame
    shown = {(cell.candidate, cell.unit): frame.key[cell.id] for cell in frame.cells}
    assert len(shown) == len(frame.cells)
    for one in everything:
        if one.value:
            assert shown[one.candidate.id, one.unit.id].value == one.value
            assert shown[one.candidate.id, one.unit.id].weight == 1
    weights: Counter[tuple[str, str, bool | None]] = Counter()
    for cell in frame.cells:
        at = cell.candidate_kind, cell.unit_kind, cell.same_session
        weights[at] += frame.key[cell.id].weight  # type: ignore[assignment]
    assert weights == Counter(one.stratum for one in everything)


@settings(max_examples=40)
@given(packages_with_sessions(), rates, st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing(package: Package, rate: Fraction, order: object) -> None:
    if not package.candidates:
        return
    tables = {}
    for table in ("candidates", "units", "coverage", "experiences"):
        rows = list(getattr(package, table))
        order.shuffle(rows)  # type: ignore[attr-defined]
        tables[table] = tuple(rows)
    frame = draw([package], Design(7, rate)).frame
    assert draw([package.replace(**tables)], Design(7, rate)).frame == frame


@settings(max_examples=40)
@given(packages_with_sessions(), st.data())
def test_labels_move_nothing(package: Package, data: st.DataObject) -> None:
    """Under any other labels the cells that are in both frames stand in the same order.

    With every cell drawn the two frames are equal to the letter, ids and all.
    """
    if not package.candidates:
        return
    relabelled = tuple(
        Coverage(candidate=one.candidate.id, unit=one.unit.id, value=value)
        for one in cells_of(package)
        if (value := data.draw(st.sampled_from((Fraction(0), Fraction(1, 2), Fraction(1)))))
    )
    other = package.replace(coverage=relabelled)
    assert draw([other], Design(3, ALL)).frame.cells == draw([package], Design(3, ALL)).frame.cells
    one, two = (names(draw([which], Design(3)).frame) for which in (package, other))
    assert [at for at in one if at in set(two)] == [at for at in two if at in set(one)]


@pytest.mark.parametrize("covered", ["first", "tenth"])
def test_places_do_not_tell(covered: str) -> None:
    """Drawn cells stand among the covered ones, not before or after them.

    Of about 320 places, the mean place of 100 or more cells has a standard error below 10.
    """
    frame = draw([grid(covered)], Design(5)).frame
    places = {True: [], False: []}  # type: ignore[var-annotated]
    for place, cell in enumerate(frame.cells):
        places[bool(frame.key[cell.id].value)].append(place)
    middle = (len(frame.cells) - 1) / 2
    for found in places.values():
        assert len(found) >= 100
        assert abs(sum(found) / len(found) - middle) < 30


def test_seeds_and_more_packages() -> None:
    one, two = grid("tenth"), grid("first", "second")
    drawn = {seed: set(names(draw([one], Design(seed)).frame)) for seed in (0, 1)}
    assert drawn[0] != drawn[1]
    more = set(names(draw([one], Design(0, Fraction(1, 2))).frame))
    assert drawn[0] < more
    order = [at for at in names(draw([two, one], Design(0, ALL)).frame) if at[0] == "grid"]
    assert order == names(draw([one], Design(0, ALL)).frame)
