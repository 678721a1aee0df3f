"""The frozen package: stream, candidates, costs, units, queries, coverage (paper, section 2)."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from memaudit.kernel.errors import InvalidPackage, MemAuditError, Problem
from memaudit.kernel.exact import (
    MAX_COMMON_DIGITS,
    Exact,
    ExactModel,
    common_denominator,
    plain,
    total,
)
from memaudit.kernel.package.cost import DECLARED, RecordRule, cost_rule
from memaudit.kernel.package.provenance import is_assumed
from memaudit.kernel.package.response import CLIPPED, Response
from memaudit.kernel.package.unit_parts import core_problems, statement_problems
from memaudit.kernel.words.text import content_key

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
        description="anything else that belongs to the row; never used in scores",
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


def find_problems(package: Any, all_units: bool = True) -> Iterator[Problem]:
    """Every inconsistency of a Package, or of any object with its fields.

    `all_units` is false where rows of units are missing, each with a problem of its own.
    """
    for table in ("experiences", "candidates", "units", "queries"):
        yield from _duplicates(table, [row.id for row in getattr(package, table)])
    yield from _duplicate_positions(package.experiences)
    experiences = {row.id for row in package.experiences}
    units = {row.id for row in package.units}
    yield from _candidate_problems(package, experiences)
    yield from _part_problems(package.candidates)
    if package.equal_texts_once:
        yield from _equal_texts(package.candidates)
    for row, unit in enumerate(package.units):
        if unit.weight is not None and unit.weight < 0:
            yield Problem("has a negative weight", "weights are 0 or more", unit.id, "units", row)
    yield from statement_problems(package.units, all_units)
    for row, query in enumerate(package.queries):
        if query.importance < 0:
            yield Problem(
                "has a negative importance", "importances are 0 or more", query.id, "queries", row
            )
        for unit in query.required:
            if unit not in units:
                yield Problem(
                    f"requires the unknown unit {unit!r}",
                    "add the unit or drop it",
                    query.id,
                    "queries",
                    row,
                )
    for budget in package.budgets:
        if budget < 0:
            yield Problem(f"budget {plain(budget)} is negative", "budgets are 0 or more")
    yield from coverage_problems(package)


def coverage_problems(package: Any) -> Iterator[Problem]:
    """The part of `find_problems` that other coverage can change."""
    units = {row.id for row in package.units}
    candidates = {row.id for row in package.candidates}
    yield from _cell_problems(package.coverage, candidates, units)
    yield from _denominator_problems(package)


def _denominator_problems(package: Any) -> Iterator[Problem]:
    """Numbers that cannot be added up in reasonable time."""
    responses = {unit.response for unit in package.units}
    kinds = {
        "costs": (candidate.cost for candidate in package.candidates),
        "coverage values": (
            value for cell in package.coverage for value in {cell.value, cell.most}
        ),
        "weights and importances": (
            *(unit.weight for unit in package.units if unit.weight is not None),
            *(query.importance for query in package.queries),
            *(unit.share for unit in package.units),
        ),
        "responses of the units": (Fraction(1, h.grain(Fraction(1))) for h in responses),
    }
    for what, numbers in kinds.items():
        if common_denominator(numbers) is None:
            yield Problem(
                f"the {what} have no common denominator of at most {MAX_COMMON_DIGITS} digits",
                "round them to a few decimals",
            )


def _duplicates(table: str, ids: Sequence[str]) -> Iterator[Problem]:
    if len(set(ids)) == len(ids):
        return
    first: dict[str, int] = {}
    for row, id in enumerate(ids):
        if id in first:
            yield Problem(
                f"is a duplicate id, first used in row {first[id]}",
                "ids are unique in a table",
                id,
                table,
                row,
            )
        else:
            first[id] = row


def _duplicate_positions(experiences: Sequence[Experience]) -> Iterator[Problem]:
    if len({experience.index for experience in experiences}) == len(experiences):
        return
    first: dict[int, str] = {}
    for row, experience in enumerate(experiences):
        if experience.index in first and first[experience.index] != experience.id:
            yield Problem(
                f"has the same stream index {experience.index} as {first[experience.index]!r}",
                "give every experience its own index",
                experience.id,
                "experiences",
                row,
            )
        first.setdefault(experience.index, experience.id)


def _candidate_problems(package: Any, experiences: set[str]) -> Iterator[Problem]:
    measure = None
    if package.cost_rule != DECLARED:
        try:
            measure = cost_rule(package.cost_rule)
        except MemAuditError as error:
            yield Problem(str(error), "declare a rule this machine can measure")
    if measure is not None and _are_right(package.candidates, experiences, measure):
        return
    for row, candidate in enumerate(package.candidates):
        at = (candidate.id, "candidates", row)
        if candidate.experience not in experiences:
            yield Problem(
                f"belongs to the unknown experience {candidate.experience!r}",
                "add the experience or correct the reference",
                *at,
            )
        if candidate.cost < 0:
            yield Problem("has a negative cost", "costs are 0 or more", *at)
        elif measure is not None and candidate.cost != candidate_cost(measure, candidate):
            right = candidate_cost(measure, candidate)
            yield Problem(
                f"has cost {plain(candidate.cost)} but its text costs {right} "
                f"under the declared rule {package.cost_rule!r}",
                "recost the package or declare another rule",
                *at,
            )
        if candidate.confidence is not None and not 0 <= candidate.confidence <= 1:
            yield Problem("has a confidence outside [0, 1]", "", *at)


def candidate_cost(measure: RecordRule, candidate: Candidate) -> int:
    return measure(candidate.text, candidate.kind, candidate.attributes)


def _are_right(candidates: Sequence[Candidate], experiences: set[str], measure: RecordRule) -> bool:
    """Whether there is nothing to say about any candidate, as almost always; without fractions."""
    return all(row.confidence is None and row.experience in experiences for row in candidates) and [
        row.cost.as_integer_ratio() for row in candidates
    ] == [(candidate_cost(measure, row), 1) for row in candidates]


def _part_problems(candidates: Sequence[Candidate]) -> Iterator[Problem]:
    """Parts that mean nothing, or that dominance among the candidates of a group could break."""
    if not any(candidate.parts for candidate in candidates):
        return
    known = {candidate.id: candidate for candidate in candidates}
    involved: set[str] = set()
    for row, whole in enumerate(candidates):
        if not whole.parts:
            continue
        at = (whole.id, "candidates", row)
        involved.update((whole.id, *whole.parts))
        for part, times in Counter(whole.parts).items():
            if times > 1:
                yield Problem(f"names its part {part!r} {times} times", "name it once", *at)
            if part == whole.id:
                yield Problem("is a part of itself", "drop it from its parts", *at)
            elif part not in known:
                yield Problem(
                    f"has as a part the unknown candidate {part!r}", "add it or drop it", *at
                )
            elif known[part].parts:
                yield Problem(
                    f"has the part {part!r}, which has parts", "name parts without parts", *at
                )
    members = Counter(candidate.experience for candidate in candidates)
    for row, candidate in enumerate(candidates):
        if candidate.id in involved and members[candidate.experience] > 1:
            yield Problem(
                f"has or is a part, and shares the experience {candidate.experience!r}",
                "give it an experience of its own",
                candidate.id,
                "candidates",
                row,
            )


def _equal_texts(candidates: Sequence[Candidate]) -> Iterator[Problem]:
    keys = [key for candidate in candidates if (key := content_key(candidate.text))]
    if len(set(keys)) == len(keys):
        return
    first: dict[str, str] = {}
    for row, candidate in enumerate(candidates):
        key = content_key(candidate.text)
        if key and first.setdefault(key, candidate.id) != candidate.id:
            yield Problem(
                f"has the same text as {first[key]!r}",
                "make them one candidate, or leave out equal_texts_once",
                candidate.id,
                "candidates",
                row,
            )


def _cell_problems(
    coverage: Sequence[Coverage], candidates: set[str], units: set[str]
) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for row, cell in enumerate(coverage):
        at = (f"{cell.candidate} x {cell.unit}", "coverage", row)
        if cell.candidate not in candidates:
            yield Problem(f"names the unknown candidate {cell.candidate!r}", "", *at)
        if cell.unit not in units:
            yield Problem(f"names the unknown unit {cell.unit!r}", "", *at)
        if not 0 <= cell.value <= 1:
            yield Problem(f"has coverage {plain(cell.value)}", "coverage lies in [0, 1]", *at)
        if cell.upper is not None and not cell.value <= cell.upper <= 1:
            yield Problem(
                f"has the upper bound {plain(cell.most)}", "it lies between the value and 1", *at
            )
        if (cell.candidate, cell.unit) in seen:
            first = seen[cell.candidate, cell.unit]
            yield Problem(f"repeats the cell of row {first}", "keep one row per cell", *at)
        seen.setdefault((cell.candidate, cell.unit), row)
