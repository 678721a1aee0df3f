"""Published judgements of stores: exact values, and failed calls that are not zeros."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.adapters.published_layout import (
    CoverageCell,
    SalienceScore,
    read_coverage_calls,
    read_salience_calls,
)
from memaudit.core.errors import MemAuditError


def saved(folder: Path, *rows: Any) -> Path:
    path = folder / "calls.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def edge(coverage: object, memory: str = "m0", unit: str = "q1::u") -> dict[str, object]:
    return {"memory_id": memory, "unit_id": unit, "coverage": coverage}


def test_coverage(tmp_path: Path) -> None:
    """Ids as the imported store has them; values exact; an example judged empty is judged."""
    path = saved(
        tmp_path,
        {"instance_id": "q1", "coverage_edges": [edge(0.1), edge(1, memory="q1::m1")]},
        {"instance_id": "q2", "coverage_edges": []},
    )
    calls = read_coverage_calls(path)
    assert calls.rows == (
        CoverageCell("q1", "q1::m0", "q1::u", Fraction(1, 10)),
        CoverageCell("q1", "q1::m1", "q1::u", Fraction(1)),
    )
    assert (calls.examples, calls.skipped) == (("q1", "q2"), {})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"instance_id": "q2", "coverage_edges": None}, "coverage_edges is nothing"),
        ({"instance_id": "q2", "error": "timeout", "coverage_edges": []}, "the call failed"),
        ({"instance_id": "q2", "coverage_edges": [edge(2)]}, "not between 0 and 1"),
        ({"instance_id": "q2", "coverage_edges": [edge("much")]}, "is not a number"),
        ({"instance_id": "q2", "coverage_edges": [edge(True)]}, "not true or false"),
        ({"instance_id": "q2", "coverage_edges": [edge(1), edge(0)]}, "two edges"),
        ({"instance_id": "q2", "coverage_edges": [{"unit_id": "u"}]}, "no memory_id"),
        ({"instance_id": "q1", "coverage_edges": []}, "second line"),
        ({"coverage_edges": []}, "no instance_id"),
        (3, "a number, not an object"),
    ],
)
def test_a_failed_call_is_not_zero_coverage(row: object, said: str, tmp_path: Path) -> None:
    path = saved(tmp_path, {"instance_id": "q1", "coverage_edges": [edge(1)]}, row)
    calls = read_coverage_calls(path)
    assert calls.examples == ("q1",)
    assert len(calls.rows) == 1
    ((place, reason),) = calls.skipped.items()
    assert place == "calls.jsonl:2"
    assert said in reason


def test_salience(tmp_path: Path) -> None:
    path = saved(
        tmp_path,
        {"instance_id": "q1", "scores": {"m0": {"salience": 0.25}}},
        {"instance_id": "q2", "scores": {"m0": {"reason": "?"}}},
    )
    calls = read_salience_calls(path)
    assert calls.rows == (SalienceScore("q1", "q1::m0", Fraction(1, 4)),)
    assert calls.skipped == {"calls.jsonl:2": "no salience"}


def test_nothing_readable(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"^calls\.jsonl:1: no line could be read"):
        read_coverage_calls(saved(tmp_path, {"instance_id": "q1"}, {"instance_id": "q2"}))
