"""A writer is given its view and nothing hidden reaches its store; its rules are checked."""

import pickle
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Coverage, Package
from memaudit.lab.sweeps.writers.protocol import (
    Deployable,
    OracleView,
    Store,
    View,
    WriterRunner,
    visible,
    writer_seed,
)
from memaudit.lab.sweeps.writers.registry import WRITERS
from tests.lab.sweeps.writers.running import everything, run
from tests.strategies import SHARES, attributes, packages

F = Fraction


@st.composite
def same_to_see(draw: st.DrawFn) -> tuple[Package, Package]:
    """Two packages that differ in everything hidden: units, weights, queries, coverage, notes."""
    package, other = draw(packages()), draw(packages())
    cells = [
        Coverage(candidate=candidate.id, unit=unit.id, value=share, rationale="other")
        for candidate in package.candidates
        for unit in other.units
        if (share := draw(st.none() | st.sampled_from(SHARES))) is not None
    ]
    changed = package.replace(
        name=f"{package.name}, changed",
        experiences=tuple(
            e.model_copy(update={"attributes": draw(attributes)}) for e in package.experiences
        ),
        candidates=tuple(
            c.model_copy(update={"attributes": draw(attributes), "generator": "other"})
            for c in package.candidates
        ),
        units=other.units,
        queries=other.queries,
        coverage=tuple(cells),
        budgets=other.budgets,
        attributes=draw(attributes),
    )
    return package, changed


def peeks(write: Callable[[Package], Store], first: Package, second: Package) -> bool:
    """Whether a writer distinguishes two packages with the same view."""
    assert visible(first) == visible(second)
    return write(first) != write(second)


@settings(max_examples=30, deadline=None)
@given(pair=same_to_see(), share=st.sampled_from((F(1, 4), F(1, 2), F(1))))
def test_nothing_hidden_reaches_a_store(pair: tuple[Package, Package], share: Fraction) -> None:
    budget = everything(pair[0]) * share
    for name in sorted(WRITERS):
        writer = WRITERS[name]
        if not writer.peeks:
            assert not peeks(partial(run, writer, budget=budget), *pair), name


def best_covered(package: Package) -> Store:
    worth = {c.id: F(0) for c in package.candidates}
    for cell in package.coverage:
        worth[cell.candidate] += cell.value * package.weights[cell.unit]
    return (max(worth, key=lambda id: (worth[id], id)),)


class FrameReader:
    """A cheat: looks for the package among the variables of its callers."""

    name, label, about, monotone = "frame_reader", "Frame reader", "reads its callers", False
    peeks: Literal[False] = False

    def write(self, view: View, budget: Fraction, seed: int) -> Store:  # noqa: ARG002
        frame: Any = sys._getframe()
        while frame is not None:
            for local in list(frame.f_locals.values()):
                if isinstance(local, Package):
                    return best_covered(local)
            frame = frame.f_back
        return ()


@pytest.fixture
def swapped(tiny: Package) -> Package:
    """Tiny, with m3 instead of m1 covering the heavy unit."""
    return tiny.replace(coverage=(Coverage(candidate="m3", unit="u1", value=F(1)),))


def test_the_check_catches_a_reader_of_frames(tiny: Package, swapped: Package) -> None:
    cheat: Deployable = FrameReader()
    assert run(cheat, tiny, F(3)) == ("m1",)
    assert peeks(partial(run, cheat, budget=F(3)), tiny, swapped)


def test_a_view_holds_nothing_hidden(tiny: Package) -> None:
    secret = "hidden-side"
    notes = {"attributes": {"note": secret}}
    package = tiny.replace(
        name=secret,
        experiences=tuple(e.model_copy(update=notes) for e in tiny.experiences),
        candidates=tuple(
            c.model_copy(update={**notes, "generator": secret}) for c in tiny.candidates
        ),
        units=tuple(u.model_copy(update={**notes, "text": secret}) for u in tiny.units),
        queries=tuple(q.model_copy(update={"text": secret}) for q in tiny.queries),
        coverage=tuple(c.model_copy(update={"rationale": secret}) for c in tiny.coverage),
        attributes={"note": secret},
    )
    assert secret.encode() in pickle.dumps(package)
    assert secret.encode() not in pickle.dumps(visible(package))


def test_a_view_cannot_be_written_to(tiny: Package) -> None:
    view = visible(tiny)
    with pytest.raises(AttributeError):
        view.group_cap = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        view.candidates[0].text = "kept"  # type: ignore[misc]


class Recorder:
    """Keeps what it is told and records what it was given."""

    name, label, about, monotone = "recorder", "Recorder", "for tests", False

    def __init__(self, *store: str) -> None:
        self.store = store

    def write(self, view: object, budget: Fraction, seed: int) -> tuple[str, ...]:
        self.given = view, budget, seed
        return self.store


class Blind(Recorder):
    peeks: Literal[False] = False


class Peeking(Recorder):
    peeks: Literal[True] = True


def test_a_writer_gets_its_view_and_a_seed_of_its_own(tiny: Package) -> None:
    runner = WriterRunner(tiny)
    for writer, view in ((Blind("m1"), View), (Peeking("m1"), OracleView)):
        assert runner.written_by(writer, F(3), 7) == ("m1",)
        assert isinstance(writer.given[0], view)
        assert writer.given[1:] == (F(3), writer_seed(7, digest(tiny)))
    assert writer_seed(7, digest(tiny)) not in (7, writer_seed(8, digest(tiny)))


@pytest.mark.parametrize(
    ("store", "message"),
    [
        (("m1", "m1"), "a candidate is kept twice"),
        (("m9",), "unknown candidate 'm9'"),
        (("m1", "m2", "m3"), "exceeds the budget"),
    ],
)
def test_an_infeasible_store_is_the_writers_failure(
    store: tuple[str, ...], message: str, tiny: Package
) -> None:
    with pytest.raises(MemAuditError, match=f"writer 'recorder' broke the rules: .*{message}"):
        WriterRunner(tiny).written_by(Blind(*store), F(1), 0)
