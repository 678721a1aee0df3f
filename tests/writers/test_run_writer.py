"""Writers are held to their rules in one place."""

from fractions import Fraction
from typing import Literal

import pytest

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.writers.protocol import OracleView, View
from memaudit.writers.run_writer import WriterRunner, writer_seed

F = Fraction


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
