"""Two judges side by side, counts worked by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import Memory
from memaudit.kernel.package.package import EvidenceUnit, Source
from memaudit.kernel.score.judge import Cell, Cells
from memaudit.lab.commands.audit_judges import (
    Detection,
    all_pairs,
    judge_agreement,
    same_session_pairs,
)

F = Fraction
UNITS = [
    EvidenceUnit(id="u", kind="fact", sources=(Source(id="t1", session="s1"),)),
    EvidenceUnit(id="v", kind="fact", sources=(Source(id="t2", session="s2"),)),
]
MEMORIES = [
    Memory(id="m", text="one", metadata={"session": "s1"}),
    Memory(id="n", text="two", metadata={"session": "s2"}),
    Memory(id="o", text="three"),
]
PAIRS = all_pairs(MEMORIES, UNITS)


def cells(**rows: str) -> Cells:
    """`m_u="1"`: memory m covers unit u in full."""
    found: dict[str, dict[str, Cell]] = {}
    for name, value in rows.items():
        memory, unit = name.split("_")
        found.setdefault(memory, {})[unit] = Cell(F(value), "test")
    return found


FIRST = cells(m_u="1", m_v="1/2", n_v="1/2", o_u="0")
SECOND = cells(m_u="1", n_u="1", n_v="1")


def test_by_hand() -> None:
    """Six cells: (1, 1), (1/2, 0), (0, 1), (1/2, 1), (0, 0) and (0, 0).

    Same in 3 of 6. By chance: full 1/6 * 3/6, none 3/6 * 3/6, together 1/3; kappa is
    (1/2 - 1/3) / (2/3) = 1/4.
    """
    found = judge_agreement(FIRST, SECOND, PAIRS)
    assert (found.judged, found.undecided, found.same_value) == (6, 0, 3)
    assert found.covered == Detection(both=2, only_first=1, only_second=1)
    assert found.full == Detection(both=1, only_first=0, only_second=2)
    assert (found.covered.precision, found.covered.recall, found.covered.f1) == (
        F(2, 3),
        F(2, 3),
        F(2, 3),
    )
    assert (found.full.precision, found.full.recall, found.full.f1) == (F(1), F(1, 3), F(1, 2))
    assert found.kappa == F(1, 4)


def test_undecided_cells_are_no_zeros() -> None:
    """They are counted, and left out of everything else."""
    found = judge_agreement(FIRST, SECOND, PAIRS, {("n", "u"), ("x", "u")})
    assert (found.judged, found.undecided) == (5, 1)
    assert found.covered.only_second == 0


def test_sessions() -> None:
    """A memory is compared on the units of its own session; without any that is an error."""
    assert same_session_pairs(MEMORIES, UNITS) == [("m", "u"), ("n", "v")]
    with pytest.raises(MemAuditError, match="names a session"):
        same_session_pairs(MEMORIES[2:], UNITS)


def test_nothing_covered() -> None:
    found = judge_agreement({}, {}, PAIRS)
    assert found.kappa is None
    assert (found.full.precision, found.full.recall, found.full.f1) == (None, None, None)


@st.composite
def judged(draw: st.DrawFn) -> Cells:
    listed = draw(st.dictionaries(st.sampled_from(PAIRS), st.sampled_from(["0", "1/2", "1"])))
    return cells(**{f"{memory}_{unit}": value for (memory, unit), value in listed.items()})


@given(judged(), judged())
def test_turned_round(first: Cells, second: Cells) -> None:
    """Precision one way is recall the other; F1 and kappa are the same; a judge equals itself."""
    one, other = judge_agreement(first, second, PAIRS), judge_agreement(second, first, PAIRS)
    assert one.kappa == other.kappa
    for a, b in ((one.covered, other.covered), (one.full, other.full)):
        assert (a.precision, a.recall, a.f1) == (b.recall, b.precision, b.f1)
    itself = judge_agreement(first, first, PAIRS)
    assert itself.kappa in (1, None)
    assert itself.same_value == itself.judged == len(PAIRS)
