"""The digest names the content, not its order."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.exact import exact
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package
from memaudit.kernel.package.response import Capped, Log1p, Saturating, Sqrt
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


def plain_digest(package: Package) -> str:
    """The canonical form as it is defined: a plain dump of all tables, as sorted JSON."""
    data = package.model_dump(mode="python", exclude_defaults=True)
    data["name"] = package.name
    for table in ("experiences", "candidates", "units", "queries"):
        data[table] = sorted(data.get(table, ()), key=lambda row: str(row["id"]))
    stream = sorted(package.experiences, key=lambda row: row.index)
    rank = {row.id: place for place, row in enumerate(stream)}
    for row in data["experiences"]:
        row["index"] = rank[row["id"]]
    for row in data["candidates"]:
        if "parts" in row:
            row["parts"] = sorted(row["parts"])
    responses = {unit.id: unit.response for unit in package.units}
    for unit in data["units"]:
        if "response" in unit:
            unit["response"] = responses[unit["id"]].model_dump(exclude_none=True)
    for query in data["queries"]:
        query["required"] = sorted(set(query.get("required", ())))
    cells = [row for row in data.get("coverage", ()) if exact(row["value"]) != 0 or len(row) > 3]
    data["coverage"] = sorted(cells, key=lambda cell: (cell["candidate"], cell["unit"]))
    data["budgets"] = sorted({str(exact(budget)) for budget in package.budgets})
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


TEXTS = st.text(max_size=8) | st.sampled_from(["", "\u2028", "é", "\U0001f600", '"\\', "\x00"])
ATTRIBUTES = st.dictionaries(
    TEXTS, TEXTS | st.integers(-9, 9) | st.booleans() | st.none() | st.floats(-9, 9), max_size=3
)
COSTS = st.integers(0, 10**20) | st.fractions(0, 99) | st.decimals("0", "99", places=3)


@given(packages(), st.data())
@settings(max_examples=60)
def test_it_is_that_of_a_plain_dump(package: Package, data: st.DataObject) -> None:
    """Rows are written by hand and remembered, for speed; the bytes must not change."""
    experiences = tuple(
        change(
            row,
            text=data.draw(TEXTS),
            session=data.draw(st.none() | TEXTS),
            timestamp=data.draw(st.none() | TEXTS),
            speaker=data.draw(st.none() | TEXTS),
            attributes=data.draw(ATTRIBUTES),
        )
        for row in package.experiences
    )
    candidates = tuple(
        change(
            row,
            text=data.draw(TEXTS),
            cost=exact(data.draw(COSTS)),
            kind=data.draw(TEXTS),
            confidence=data.draw(st.none() | st.fractions(0, 1)),
            attributes=data.draw(ATTRIBUTES),
            generator=data.draw(st.none() | TEXTS),
        )
        for row in package.candidates
    )
    changed = package.model_copy(update={"experiences": experiences, "candidates": candidates})
    assert digest(changed) == plain_digest(changed)


def change(row: Any, **fields: Any) -> Any:
    return row.model_copy(update=fields)


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("", "name", "x"),
        ("", "group_cap", 2),
        ("", "budgets", (3,)),
        ("", "attributes", {"a": 1}),
        ("experiences", "text", "x"),
        ("experiences", "speaker", "x"),
        ("candidates", "cost", 9),
        ("candidates", "text", "x"),
        ("candidates", "experience", "e2"),
        ("candidates", "kind", "x"),
        ("candidates", "confidence", 1),
        ("units", "weight", 9),
        ("units", "text", "x"),
        ("units", "attributes", {"a": 0}),
        ("queries", "importance", 2),
        ("queries", "required", ()),
        ("queries", "answer", ""),
        ("coverage", "value", 0.25),
        ("coverage", "label", "x"),
    ],
)
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
    """Shapes without parameters are distinguished too."""
    shapes = (Capped(), Capped(cap=2), Sqrt(), Log1p(), Saturating())
    units = [(change(tiny.units[0], response=h), tiny.units[1]) for h in shapes]
    assert len({digest(tiny.replace(units=pair)) for pair in units}) == len(shapes)


def test_silent_zero_cells_do_not_count(tiny: Package) -> None:
    zero = {"candidate": "m1", "unit": "u2", "value": 0}
    assert digest(tiny.replace(coverage=[*tiny.coverage, zero])) == digest(tiny)
    labelled = {**zero, "label": "none"}
    assert digest(tiny.replace(coverage=[*tiny.coverage, labelled])) != digest(tiny)
