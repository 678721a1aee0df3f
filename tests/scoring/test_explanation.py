"""What lies behind a score: a vendor can find the very units that were lost."""

from fractions import Fraction

import pytest

from memaudit.adapters.store import ExportedStore, Origin
from memaudit.core.errors import MemAuditError
from memaudit.scoring.diagnosis import diagnose
from memaudit.scoring.explanation import cells_data, coverings, explained, lost_data, lost_units
from memaudit.scoring.judges.lexical import Lexical
from memaudit.scoring.package_scores import Scoring, Sheet, scored
from memaudit.scoring.store_scores import ExportAudit
from tests.scoring.test_exported import LONG, MEALS, F


def sheet(*budgets: int) -> Sheet:
    """LONG on MEALS."""
    scoring = Scoring(tuple(map(Fraction, budgets)), {"long": Lexical()})
    exported = ExportedStore(name="long", origin=Origin(system="x", format="y"), memories=())
    return scored(MEALS, [exported], [LONG], scoring)


def test_lost_units() -> None:
    """At budget 5: `ended` was never written, `now` not chosen; `once` is kept, so not lost."""
    found = lost_units(MEALS, diagnose(ExportAudit(MEALS, [LONG]), LONG, F(5)))
    assert [(one.unit.id, one.lost, one.step, one.kept) for one in found] == [
        ("ended", 3, "extraction", 0), ("now", 3, "selection", 0),
    ]  # fmt: skip
    assert [query.id for query in found[0].queries] == ["q"]
    assert found[0].parts == {"extraction": 3}
    everything = lost_units(MEALS, diagnose(ExportAudit(MEALS, [LONG]), LONG, F(7)))
    assert [one.unit.id for one in everything] == ["ended"]


def test_cells() -> None:
    """Every cell that is not 0, in the order of writing."""
    assert [(one.id, one.unit, one.cell.value) for one in coverings(LONG)] == [
        ("m1", "once", 1), ("m2", "now", 1),
    ]  # fmt: skip
    (first, _) = cells_data(sheet(5))["long"]
    assert (first["id"], first["unit"], first["text"]) == ("m1", "once", "text of m1")
    (row,) = sheet(5).rows
    assert [one["unit"] for one in lost_data(sheet(5), row)] == ["ended", "now"]
    (nothing,) = sheet(0).rows
    assert lost_data(sheet(0), nothing) == []


def test_a_unit_explained() -> None:
    """Who covers it, in the store and in the package, and what became of it at each budget."""
    found = explained("now", sheet(5, 7, 0))
    unit = found["unit"]
    assert found["memories"] == []
    assert (unit["kind"], unit["weight"], [query["id"] for query in unit["queries"]]) == (
        "current", 3, ["q"],
    )  # fmt: skip
    assert [(one["store"], one["id"], one["value"]) for one in unit["memories"]] == [
        ("long", "m2", 1)
    ]
    assert [(one["store"], one["id"]) for one in unit["candidates"]] == [(None, "both")]
    assert [(one["budget"], one["kept"], one["parts"]) for one in unit["scores"]] == [
        (5, 0, {"selection": 3}), (7, 3, {}), (0, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("id", ["m2", "long/m2"])
def test_a_memory_explained(id: str) -> None:
    """By its own id or as a candidate: what it covers, and when it was kept."""
    found = explained(id, sheet(5, 7))
    assert found["unit"] is None
    (memory,) = found["memories"]
    assert (memory["store"], memory["memory"], memory["cost"]) == ("long", "m2", 5)
    assert [(one["unit"], one["value"]) for one in memory["cells"]] == [("now", 1)]
    assert memory["scores"] == [
        {"budget": 5, "in_best_subset": True, "kept": False},
        {"budget": 7, "in_best_subset": True, "kept": True},
    ]


def test_nothing_of_that_name() -> None:
    """One line."""
    with pytest.raises(MemAuditError, match="nothing is called 'm9' in 'meals'"):
        explained("m9", sheet(5))
