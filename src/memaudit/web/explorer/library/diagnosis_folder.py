"""A folder of `memaudit diagnose`, finished or not: its rows, and the summary where it is there."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memaudit.core.errors import MemAuditError
from memaudit.core.exact import Exact
from memaudit.downstream.outcomes import Layer, Outcome
from memaudit.downstream.run import FORMAT, SUMMARY, WHAT
from memaudit.io.journal import read_journal
from memaudit.io.run_folder import ROWS, read_spec
from memaudit.io.strict_json import first_fault
from memaudit.web.explorer.addresses import slug
from memaudit.web.explorer.library.entries import read_object


class _Read(BaseModel):
    # Later versions may write more, and earlier ones wrote less.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Link(_Read):
    """A memory that covers a unit: how much, whether it was kept, at which rank it was found."""

    id: str
    covers: Exact
    kept: bool
    rank: int | None = None


class Unit(_Read):
    """What became of a required unit: of `needs`, how much was left at each stage."""

    unit: str
    supports: bool = True
    stage: str = ""
    needs: Exact
    written: Exact
    kept: Exact
    retrieved: Exact
    memories: tuple[Link, ...] = ()


class Row(_Read):
    """One question at one store."""

    package: str
    store: str
    query: str
    kind: str = ""
    question: str = ""
    gold: str | None = None
    abstention: bool = False
    outcome: Outcome
    layer: Layer
    why: tuple[str, ...] = ()
    reply: str = ""
    answer: str = ""
    used: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()
    evidence: tuple[Unit, ...] = ()
    texts: dict[str, str] = Field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.outcome is not Outcome.RIGHT


class Interval(_Read):
    """A mean with its interval, over `n` questions."""

    n: int = 0
    undefined: int = 0
    mean: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


class StoreSummary(_Read):
    """The measures of one store."""

    store: str
    measures: dict[str, Interval] = Field(default_factory=dict)


class Difference(_Read):
    """Two stores on one measure, question by question."""

    measure: str
    first: str
    second: str
    n: int = 0
    mean_difference: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    p: float | None = None
    p_holm: float | None = None


class Summary(_Read):
    """What needs all rows: means with intervals, and differences."""

    clusters: str = "packages"
    about: dict[str, str] = Field(default_factory=dict)
    summaries: tuple[StoreSummary, ...]
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what became of it at every store."""

    slug: str
    rows: tuple[Row, ...]

    @property
    def first(self) -> Row:
        return self.rows[0]

    def at(self, store: str) -> Row | None:
        """Its row at a store."""
        return next((row for row in self.rows if row.store == store), None)


@dataclass(frozen=True)
class Diagnosed:
    """A diagnosis; `summary` is None while it is not finished. `cut` says why rows end where they
    do, if they do not end well."""

    spec: Mapping[str, Any]
    rows: tuple[Row, ...]
    summary: Summary | None
    cut: str = ""

    @cached_property
    def stores(self) -> tuple[str, ...]:
        """The stores, in the order of the spec."""
        named = self.spec.get("stores")
        said = [str(name) for name in named] if isinstance(named, list) else []
        there = dict.fromkeys(row.store for row in self.rows)
        return tuple(dict.fromkeys([*(name for name in said if name in there), *there]))

    @cached_property
    def questions(self) -> Mapping[str, Question]:
        """Questions by their names in addresses, in the order of the rows."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            found.setdefault((row.package, row.query), []).append(row)
        return {
            name: Question(name, tuple(rows))
            for (package, query), rows in found.items()
            for name in [slug(query, package)]
        }

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Where each question stands."""
        return {name: place for place, name in enumerate(self.questions)}

    @cached_property
    def packages(self) -> int:
        """How many packages the rows are of."""
        return len({row.package for row in self.rows})

    def digest_of(self, package: str) -> str:
        """The digest of a package, where the spec names it."""
        named = self.spec.get("packages")
        found = named.get(package) if isinstance(named, dict) else None
        return found if isinstance(found, str) else ""

    def said(self, name: str) -> str:
        """A setting in words; empty where the spec has none."""
        value = self.spec.get(name)
        return str(value) if isinstance(value, str | int | float) else ""


def read_diagnosed(folder: Path, place: str) -> Diagnosed:
    """The diagnosis of a folder; a row that is none of ours is an error of one line."""
    spec = read_spec(folder, FORMAT, WHAT)
    lines, cut = _lines(folder / ROWS)
    rows: list[Row] = []
    for number, data in enumerate(lines, start=1):
        try:
            rows.append(Row.model_validate(data))
        except ValidationError as error:
            raise MemAuditError(f"{place}/{ROWS}, line {number}: {first_fault(error)}") from None
    if not (folder / SUMMARY).exists():
        return Diagnosed(spec, tuple(rows), None, cut)
    try:
        summary = Summary.model_validate(read_object(folder / SUMMARY))
    except ValidationError as error:
        raise MemAuditError(f"{place}/{SUMMARY}: {first_fault(error)}") from None
    return Diagnosed(spec, tuple(rows), summary, cut)


def _lines(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The rows of a journal up to one that is damaged, or half written while it is read."""
    found: list[dict[str, Any]] = []
    try:
        for row in read_journal(path):
            found.append(row)
    except MemAuditError as error:
        return found, str(error)
    return found, ""
