"""The digest names the content, not its order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.core.digest import digest
from memaudit.core.package import TABLES, Package
from memaudit.core.response import Capped, Log1p, Saturating, Sqrt
from tests.strategies import packages


@given(packages(), st.data())
@settings(max_examples=40)
def test_row_order_does_not_matter(package: Package, data: st.DataObject) -> None:
    """Shuffled tables have the same digest; so do spread out stream positions."""
    shuffled = {
        table: tuple(data.draw(st.permutations(getattr(package, table)))) for table in TABLES
    }
    shuffled["experiences"] = tuple(
        row.model_copy(update={"index": row.index * 3 + 1}) for row in shuffled["experiences"]
    )
    assert digest(package.replace(**shuffled)) == digest(package)


def change(row: Any, **fields: Any) -> Any:
    return row.model_copy(update=fields)


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [("", "name", "x"), ("", "group_cap", 2), ("", "budgets", (3,)), ("", "attributes", {"a": 1}),
     ("experiences", "text", "x"), ("experiences", "speaker", "x"), ("candidates", "cost", 9),
     ("candidates", "text", "x"), ("candidates", "experience", "e2"), ("candidates", "kind", "x"),
     ("candidates", "confidence", 1), ("units", "weight", 9), ("units", "text", "x"),
     ("units", "attributes", {"a": 0}), ("queries", "importance", 2), ("queries", "required", ()),
     ("queries", "answer", ""), ("coverage", "value", 0.25), ("coverage", "label", "x")],
)  # fmt: skip
def test_every_field_counts(tiny: Package, table: str, field: str, value: Any) -> None:
    if table:
        rows = [row.model_dump() for row in getattr(tiny, table)]
        rows[0][field] = value
        field, value = table, rows
    assert digest(tiny.replace(**{field: value})) != digest(tiny)


def test_stream_order_counts(tiny: Package) -> None:
    first, second = tiny.experiences
    swapped = (change(first, index=1), change(second, index=0))
    assert digest(tiny.replace(experiences=swapped)) != digest(tiny)


def test_every_h_has_its_own_digest(tiny: Package) -> None:
    """Shapes without parameters are told apart too."""
    shapes = (Capped(), Capped(cap=2), Sqrt(), Log1p(), Saturating())
    units = [(change(tiny.units[0], response=h), tiny.units[1]) for h in shapes]
    assert len({digest(tiny.replace(units=pair)) for pair in units}) == len(shapes)


def test_silent_zero_cells_do_not_count(tiny: Package) -> None:
    zero = {"candidate": "m1", "unit": "u2", "value": 0}
    assert digest(tiny.replace(coverage=[*tiny.coverage, zero])) == digest(tiny)
    labelled = {**zero, "label": "none"}
    assert digest(tiny.replace(coverage=[*tiny.coverage, labelled])) != digest(tiny)
