"""Coverage and salience calls of the published layout: what they leave out is not zero."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.adapters.store import ExportedStore, Memory, Origin
from memaudit.core.package import EvidenceUnit, Package
from memaudit.scoring.judged_store import FAILED_SALIENCE, read_salience, written
from memaudit.scoring.judges.lexical import Lexical
from memaudit.scoring.judges.protocol import Judged, NotJudged
from memaudit.scoring.judges.published import PublishedCalls

UNITS = [EvidenceUnit(id="u", kind="fact"), EvidenceUnit(id="v", kind="fact")]
MINE = [Judged("lunch::a", "x", example="lunch"), Judged("lunch::b", "y", example="lunch")]
PACKAGE = Package.model_validate(
    {
        "name": "lunch", "cost_rule": "words", "experiences": [{"id": "e"}], "candidates": [],
        "units": [{"id": "u", "kind": "fact", "text": "Ann eats fish now.", "weight": 1}],
    }
)  # fmt: skip


def calls(folder: Path, *rows: dict[str, Any]) -> Path:
    """A file of calls."""
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def edges(example: str, *said: tuple[str, str, float]) -> dict[str, Any]:
    """One call."""
    rows = [{"memory_id": memory, "unit_id": unit, "coverage": value}
            for memory, unit, value in said]  # fmt: skip
    return {"instance_id": example, "coverage_edges": rows}


def test_cells_and_what_fits_nothing(tmp_path: Path) -> None:
    """Edges to other memories and units are counted, and so is a call that failed."""
    path = calls(
        tmp_path,
        edges("lunch", ("a", "u", 1), ("gone", "u", 1), ("b", "other", 0.5), ("b", "gone", 1)),
        edges("dinner", ("a", "u", 1)),
        {"instance_id": "tea", "error": "timeout"},
    )
    found = PublishedCalls(path).judge(MINE, UNITS)
    values = {id: {unit: cell.value for unit, cell in row.items()}
              for id, row in found.cells.items()}  # fmt: skip
    assert values == {"lunch::a": {"u": 1}, "lunch::b": {}}
    assert found.left_out == {
        "calls that failed or could not be read": 1,
        "edges to memories that are not in this store": 1,
        "edges to units that are not in this package": 2,
    }


def test_ids_without_their_example(tmp_path: Path) -> None:
    """A store that is not of the published layout may use the bare ids of its calls."""
    path = calls(tmp_path, edges("lunch", ("a", "v", 0.5)))
    found = PublishedCalls(path).judge([Judged("a", "x", example="lunch")], UNITS)
    assert found.cells["a"]["v"].value == Fraction(1, 2)


def test_an_example_without_a_call_is_no_zero(tmp_path: Path) -> None:
    """Calls about others, a failed call, or edges that all miss: an error, one line."""
    path = calls(tmp_path, edges("dinner", ("a", "u", 1)))
    with pytest.raises(NotJudged, match="has no call about 'lunch'; it is about 'dinner'"):
        PublishedCalls(path).judge(MINE, UNITS)
    path = calls(tmp_path, edges("dinner"), {"instance_id": "lunch", "error": "rate limit"})
    with pytest.raises(NotJudged, match=r"1 call failed or could not be read.*rate limit"):
        PublishedCalls(path).judge(MINE, UNITS)
    path = calls(tmp_path, edges("lunch", ("z", "u", 1)))
    with pytest.raises(NotJudged, match="no edge of 'lunch' is about a memory of this store"):
        PublishedCalls(path).judge(MINE, UNITS)


def test_no_edges_is_judged_zero(tmp_path: Path) -> None:
    """The call was made and found nothing; a store that wrote nothing needs no call."""
    path = calls(tmp_path, edges("lunch"))
    assert PublishedCalls(path).judge(MINE, UNITS).cells == {"lunch::a": {}, "lunch::b": {}}
    assert PublishedCalls(path).judge([], UNITS).cells == {}


STORE = ExportedStore(
    name="s",
    origin=Origin(system="x", format="plain"),
    memories=(
        Memory(id="a", text="Ann eats fish now", salience=0.9),
        Memory(id="b", text="Bo has a dog", salience=0.1),
    ),
)


def test_salience_of_a_file_is_not_mixed_with_the_systems_own(tmp_path: Path) -> None:
    """A memory the file does not name has none, and is counted; without a file its own counts."""
    own = written(PACKAGE, STORE, Lexical())
    assert [one.salience for one in own.memories] == [Fraction(9, 10), Fraction(1, 10)]
    path = calls(tmp_path, {"instance_id": "lunch", "scores": {"a": {"salience": 5}}},
                 {"instance_id": "tea", "error": "timeout"})  # fmt: skip
    given = written(PACKAGE, STORE, Lexical(), read_salience(path))
    assert [one.salience for one in given.memories] == [5, None]
    assert given.account.unrated == {"salience": 1}
    assert given.account.left_out == {FAILED_SALIENCE: 1}
    assert [one.query_salience for one in given.memories] == [None, None]
    aware = written(PACKAGE, STORE, Lexical(), read_salience(None, path))
    assert [one.salience for one in aware.memories] == [Fraction(9, 10), Fraction(1, 10)]
    assert [one.query_salience for one in aware.memories] == [5, None]
    assert aware.account.unrated == {"query_salience": 1}


def test_salience_of_another_example_is_an_error(tmp_path: Path) -> None:
    """Not a store without salience."""
    path = calls(tmp_path, {"instance_id": "dinner", "scores": {"a": {"salience": 5}}})
    with pytest.raises(NotJudged, match="has no salience of 'lunch'"):
        written(PACKAGE, STORE, Lexical(), read_salience(path))
