"""The published layout's judgements of stores: coverage and salience, one line an example."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Generic, TypeVar

from memaudit.adapters.api_errors import api_error
from memaudit.adapters.rows import listed
from memaudit.adapters.source import Source, open_source
from memaudit.adapters.written_stores import memory_id
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import exact
from memaudit.datasets.irregular import whole
from memaudit.datasets.lenient_json import kind_of

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class CoverageCell:
    """How much of a unit one memory of an example's store covers."""

    example: str
    memory: str
    unit: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class SalienceScore:
    """How important one memory of an example's store was judged."""

    example: str
    memory: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Calls(Generic[Row]):
    """Judgements, and the examples that have one: any other was not judged, not judged zero."""

    rows: tuple[Row, ...]
    examples: tuple[str, ...]
    skipped: dict[str, str]
    """Lines that could not be read, and why; their examples are not in `examples`."""


def read_coverage_calls(path: Path) -> Calls[CoverageCell]:
    """`coverage_scoring_calls.jsonl`; memory ids are those of the imported store."""
    return _read(path, "coverage_edges", _cells)


def read_salience_calls(path: Path) -> Calls[SalienceScore]:
    """`salience_scoring_calls.jsonl`; memory ids are those of the imported store."""
    return _read(path, "scores", _scores)


def _read(path: Path, key: str, parse: Callable[[str, object], tuple[Row, ...]]) -> Calls[Row]:
    source: Source = open_source([path])
    rows: list[Row] = []
    examples: dict[str, None] = {}
    skipped: dict[str, str] = {}
    for raw in listed(source.parts[0], (), ("instance_id",)):
        try:
            if raw.problem or not isinstance(raw.value, dict):
                raise ValueError(raw.problem or f"{kind_of(raw.value)}, not an object")
            example = _name(raw.value, "instance_id")
            if problem := api_error(raw.value):
                raise ValueError(f"the call failed: {problem}")
            if example in examples:
                raise ValueError(f"second line of the example {example!r}")
            found = parse(example, raw.value.get(key))
        except ValueError as error:
            skipped[raw.place] = str(error)
            continue
        examples[example] = None
        rows += found
    if skipped and not examples:
        place, reason = next(iter(skipped.items()))
        raise MemAuditError(f"{place}: no line could be read: {reason}")
    return Calls(tuple(rows), tuple(examples), skipped)


def _cells(example: str, edges: object) -> tuple[CoverageCell, ...]:
    if not isinstance(edges, list):
        raise ValueError(f"coverage_edges is {kind_of(edges)}, a list was expected")
    found: dict[tuple[str, str], CoverageCell] = {}
    for edge in edges:
        if not isinstance(edge, dict):
            raise ValueError(f"an edge is {kind_of(edge)}, an object was expected")
        memory, unit = memory_id(example, _name(edge, "memory_id")), _name(edge, "unit_id")
        if (memory, unit) in found:
            raise ValueError(f"two edges from {memory!r} to {unit!r}")
        value = _share(edge.get("coverage"), "coverage")
        found[memory, unit] = CoverageCell(example, memory, unit, value)
    return tuple(found.values())


def _scores(example: str, scores: object) -> tuple[SalienceScore, ...]:
    if not isinstance(scores, dict):
        raise ValueError(f"scores is {kind_of(scores)}, an object was expected")
    found = []
    for id, score in scores.items():
        value = score.get("salience") if isinstance(score, dict) else score
        found.append(
            SalienceScore(example, memory_id(example, whole(id)), _number(value, "salience"))
        )
    return tuple(found)


def _name(row: dict[str, object], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"no {key}")
    return whole(value)


def _number(value: object, what: str) -> Fraction:
    if value is None:
        raise ValueError(f"no {what}")
    if isinstance(value, list | dict):
        raise ValueError(f"{what} is {kind_of(value)}, a number was expected")
    return exact(value)


def _share(value: object, what: str) -> Fraction:
    number = _number(value, what)
    if not 0 <= number <= 1:
        raise ValueError(f"{what} is not between 0 and 1")
    return number
