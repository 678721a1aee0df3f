"""The frozen package: stream, candidates, costs, units, queries, coverage (paper, section 2)."""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.exact import (
    Exact,
    ExactModel,
    total,
)
from memaudit.kernel.package.cost import DECLARED, cost_rule
from memaudit.kernel.package.package_problems import (
    candidate_cost,
    coverage_problems,
    find_problems,
)
from memaudit.kernel.package.provenance import is_assumed
from memaudit.kernel.package.response import CLIPPED, Response
from memaudit.kernel.package.unit_parts import core_problems

CURRENT, SUPERSESSION, DELETION = "current", "supersession", "deletion"
ABSTENTION, TEMPORAL = "abstention", "temporal"
VALIDITY_KINDS = frozenset({CURRENT, SUPERSESSION, DELETION, ABSTENTION, TEMPORAL})
"""Unit kinds that say what is true now; any other kind (fact, preference…) is free text."""

INVALIDATION_KINDS = frozenset({SUPERSESSION, DELETION})
"""Unit kinds that say an older statement no longer holds."""

STALE = "stale"
"""The unit kind of a statement that was true once. Storing it is not wrong but rarely useful."""

INVALIDATING_KINDS = frozenset({"tombstone", "compound_update"})
"""Candidate kinds that record that an older statement no longer holds."""


class _Row(ExactModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    attributes: dict[str, JsonValue] = Field(
        default_factory=dict,
        description="anything else that belongs to the row; only cost rules like field:NAME use it",
    )


class _Named(_Row):
    id: str = Field(min_length=1, description="unique within its table")


class Experience(_Named):
    """One step of the stream: the group of candidates a writer chooses from."""

    text: str = ""
    index: int = Field(default=0, ge=0, description="position in the stream")
    session: str | None = None
    timestamp: str | None = None
    speaker: str | None = None


class Candidate(_Named):
    """One thing a writer could store for an experience."""

    experience: str
    kind: str = Field(min_length=1, description="raw, fact, summary, edge, tombstone, ...")
    text: str = ""
    cost: Exact = Field(description="storage cost under the package's cost rule")
    confidence: Exact | None = None
    generator: str | None = None
    parts: tuple[str, ...] = Field(
        default=(),
        description="candidates that this one contains word for word; never kept together with it",
    )


class Source(BaseModel):
    """Where a unit stands in the stream, quoted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    session: str | None = None
    text: str = ""


class EvidenceUnit(_Named):
    """A semantic atom that future queries may require."""

    kind: str = Field(min_length=1, description="fact, preference, or a validity state")
    text: str = ""
    alternatives: tuple[str, ...] = Field(
        default=(), description="other statements that are as good; each of them is enough"
    )
    said_by: str | None = Field(default=None, description="the speaker who claims it, if known")
    weight: Exact | None = Field(default=None, description="explicit weight; else from the queries")
    response: Response = CLIPPED
    timestamp: str | None = None
    sources: tuple[Source, ...] = ()
    part_of: str | None = Field(default=None, description="of a part: the id of its statement")
    part: str | None = Field(default=None, description="its name: who, what, when, where, ...")
    share: Exact = Field(
        default=Fraction(1), description="of a part: its share of the statement's weight"
    )
    core: bool = Field(
        default=False, description="the part without which a memory keeps no other part"
    )


class Query(_Named):
    """A future question and the units it requires."""

    text: str = ""
    answer: str | None = None
    kind: str | None = None
    required: tuple[str, ...] = ()
    importance: Exact = Fraction(1)


class Coverage(_Row):
    """How much of a unit a candidate preserves, and who says so."""

    candidate: str
    unit: str
    value: Exact = Field(description="between 0 and 1")
    upper: Exact | None = Field(
        default=None, description="of a cell that nobody judged: the most it could be"
    )
    label: str | None = None
    rationale: str | None = None
    provenance: str | None = None

    @property
    def most(self) -> Fraction:
        """The value, or what it could be at most while nobody judged it."""
        return self.value if self.upper is None else self.upper


TABLES: dict[str, type[_Row]] = {
    "experiences": Experience,
    "candidates": Candidate,
    "units": EvidenceUnit,
    "queries": Query,
    "coverage": Coverage,
}


class Package(ExactModel):
    """The frozen problem. Its digest names it; `solve` finds its optimum."""

    model_config = ConfigDict(frozen=True, extra="forbid", ignored_types=(cached_property,))

    name: str = Field(min_length=1)
    experiences: tuple[Experience, ...]
    candidates: tuple[Candidate, ...]
    units: tuple[EvidenceUnit, ...]
    queries: tuple[Query, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    group_cap: int = Field(default=1, ge=1, description="candidates one experience may keep")
    cost_rule: str = Field(
        default=DECLARED, description="words, unicode_words, bytes, tokens:NAME or declared"
    )
    budgets: tuple[Exact, ...] = Field(default=(), description="budgets the package is meant for")
    equal_texts_once: bool = Field(
        default=False,
        description="no two candidates have the same text",
    )
    attributes: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _number_stream(cls, data: Any) -> Any:
        """Experiences without an index take their position in the list."""
        if not isinstance(data, dict) or not isinstance(data.get("experiences"), list | tuple):
            return data
        rows = data["experiences"]
        if any(isinstance(row, dict) and "index" in row for row in rows):
            return data
        numbered = [
            {**row, "index": position} if isinstance(row, dict) else row
            for position, row in enumerate(rows)
        ]
        return {**data, "experiences": numbered}

    @model_validator(mode="after")
    def _is_consistent(self, info: ValidationInfo) -> Self:
        # `replace` says which fields changed, so that what is derived from a checked package is not
        # checked whole again. A package from outside has no context, and is checked in everything.
        changed = None if info.context is None else info.context["changed"]
        if changed == set():
            return self
        problems = list((coverage_problems if changed == {"coverage"} else find_problems)(self))
        if changed is None:
            problems += core_problems(self.units, self.coverage)
        if problems:
            raise InvalidPackage(problems, self.name)
        return self

    def __repr__(self) -> str:
        tables = ("experiences", "candidates", "units", "queries")
        counts = ", ".join(f"{len(getattr(self, table)):,} {table}" for table in tables)
        return f"Package({self.name!r}, {counts})"

    def __str__(self) -> str:
        return repr(self)

    @cached_property
    def query_weights(self) -> dict[str, Fraction]:
        """Per unit, the summed importance of the queries that require it; of a part, its share."""
        weights = {unit.id: Fraction(0) for unit in self.units}
        for query in self.queries:
            # A unit that a query names twice is still required once.
            for unit in set(query.required):
                weights[unit] += query.importance
        for part in self.units:
            if part.share != 1:
                weights[part.id] *= part.share
        return weights

    @cached_property
    def weights(self) -> dict[str, Fraction]:
        """Per unit, its weight: the explicit one, else the one its queries give."""
        return {
            unit.id: self.query_weights[unit.id] if unit.weight is None else unit.weight
            for unit in self.units
        }

    @cached_property
    def asked_units(self) -> tuple[EvidenceUnit, ...]:
        """The units that a judge is asked about: those with a weight, and all parts of their
        statements, since no part is kept without its core."""
        needed = {unit.part_of or unit.id for unit in self.units if self.weights[unit.id]}
        return tuple(unit for unit in self.units if (unit.part_of or unit.id) in needed)

    @cached_property
    def candidate(self) -> dict[str, Candidate]:
        """Candidates by id."""
        return {candidate.id: candidate for candidate in self.candidates}

    @cached_property
    def is_open(self) -> bool:
        """Whether nobody judged some cells, so that the optimum is known to lie between two."""
        return any(cell.most != cell.value for cell in self.coverage)

    @cached_property
    def known(self) -> "Package":
        """The package with cells that nobody judged as they are: its optimum is a lower bound."""
        return self.replace(
            coverage=tuple(cell.model_copy(update={"upper": None}) for cell in self.coverage)
        )

    @cached_property
    def without_assumed_cells(self) -> "Package":
        """The package without cells that rest on a rule; itself where there are none."""
        cells = tuple(cell for cell in self.coverage if not is_assumed(cell.provenance))
        return self if len(cells) == len(self.coverage) else self.replace(coverage=cells)

    def total_cost(self, store: Iterable[str]) -> Fraction:
        """What a set of candidates costs together."""
        return total(self.candidate[id].cost for id in store)

    def only(self, ids: Collection[str]) -> "Package":
        """The same package with some of its candidates."""
        return self.replace(
            candidates=tuple(
                candidate.model_copy(
                    update={"parts": tuple(part for part in candidate.parts if part in ids)}
                )
                for candidate in self.candidates
                if candidate.id in ids
            ),
            coverage=tuple(cell for cell in self.coverage if cell.candidate in ids),
        )

    def recost(self, rule: str) -> "Package":
        """The same package with every candidate's cost measured by another rule."""
        if rule == DECLARED:
            raise MemAuditError(
                "recost needs a rule that measures text: words, unicode_words, bytes or tokens:NAME"
            )
        measure = cost_rule(rule)
        candidates = [
            candidate.model_copy(update={"cost": Fraction(candidate_cost(measure, candidate))})
            for candidate in self.candidates
        ]
        return self.replace(candidates=tuple(candidates), cost_rule=rule)

    def replace(self, **changes: Any) -> "Package":
        """A new, validated package with some fields changed."""
        # Not model_copy: it would take the cached weights and tables of this package along.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return Package.model_validate({**fields, **changes}, context={"changed": {*changes}})


def checked_package(fields: Mapping[str, Any]) -> Package:
    """The package of these fields, in which `find_problems` found nothing."""
    return Package.model_validate(fields, context={"changed": set()})
