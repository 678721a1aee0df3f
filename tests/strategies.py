"""Random small packages for hypothesis: ties, zeros, fractions, every h, empty groups, unicode."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from hypothesis import strategies as st

from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
)
from memaudit.kernel.package.response import (
    CLIPPED,
    Capped,
    Log1p,
    Piecewise,
    Response,
    Saturating,
    Sqrt,
)

F = Fraction

COSTS = (F(0), F(1), F(1), F(2), F(3), F(1, 2), F(1, 10), F(2, 10), F(3, 10), F(1, 3), F(7, 3))
WEIGHTS = (None, None, F(0), F(1), F(1), F(2), F(1, 2), F(1, 3), F(5, 7))
SHARES = (F(0), F(1), F(1), F(1, 2), F(1, 3), F(2, 3), F(1, 10), F(7, 10))
BUDGETS = (F(0), F(1), F(2), F(5, 2), F(1, 3), F(6, 10), F(100))

texts = st.text(max_size=8) | st.sampled_from(
    ("", "née ☕ 東京", "a b", "\u202eevil\x1b[31m", '"\\')
)
attributes = st.dictionaries(
    st.sampled_from(("note", "rank", "tags")),
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from((0.1, -2.5)) | texts,
    max_size=2,
)


def irrational_responses() -> st.SearchStrategy[Response]:
    """h whose values are enclosed, not exact."""
    return st.sampled_from((Sqrt(), Log1p(), Saturating()))


@st.composite
def piecewise(draw: st.DrawFn) -> Piecewise:
    """A concave piecewise linear h with one to three corners."""
    slopes = sorted(draw(st.lists(st.sampled_from(SHARES), min_size=1, max_size=3)), reverse=True)
    x, y, points = F(0), F(0), []
    for slope in slopes:
        step = draw(st.sampled_from((F(1, 2), F(1, 3), F(1))))
        x, y = x + step, y + step * slope
        points.append((x, y))
    return Piecewise(points=tuple(points))


def rational_responses() -> st.SearchStrategy[Response]:
    """h whose values are exact."""
    caps = st.sampled_from((F(1), F(1, 2), F(3, 2), F(1, 3), F(2)))
    return st.just(CLIPPED) | caps.map(lambda cap: Capped(cap=cap)) | piecewise()


def all_responses() -> st.SearchStrategy[Response]:
    """Every shape of h."""
    return rational_responses() | irrational_responses()


@cache
def _experience(position: int) -> st.SearchStrategy[Experience]:
    return st.builds(
        Experience,
        id=st.just(f"e{position}"),
        index=st.just(position),
        text=texts,
        session=st.none() | st.just("s1"),
        timestamp=st.none() | st.just("2024-01-01"),
        speaker=st.none() | st.just("user"),
        attributes=attributes,
    )


@cache
def _candidate(group: int, position: int) -> st.SearchStrategy[Candidate]:
    return st.builds(
        Candidate,
        id=st.just(f"m{group}.{position}"),
        experience=st.just(f"e{group}"),
        kind=st.sampled_from(("raw", "fact", "summary", "tombstone")),
        text=texts,
        cost=st.sampled_from(COSTS),
        confidence=st.none() | st.sampled_from(SHARES),
        generator=st.none() | st.just("hand"),
        attributes=st.just({}),
    )


@cache
def _unit(position: int, responses: bool) -> st.SearchStrategy[EvidenceUnit]:
    return st.builds(
        EvidenceUnit,
        id=st.just(f"u{position}"),
        text=texts,
        kind=st.sampled_from(("fact", "current", "deletion")),
        weight=st.sampled_from(WEIGHTS),
        response=all_responses() if responses else st.just(CLIPPED),
        timestamp=st.none(),
        sources=st.just(()),
        attributes=st.just({}),
    )


@cache
def _query(position: int, units: tuple[str, ...]) -> st.SearchStrategy[Query]:
    required = st.lists(st.sampled_from(units), max_size=3).map(tuple) if units else st.just(())
    return st.builds(
        Query,
        id=st.just(f"q{position}"),
        text=texts,
        answer=st.none() | texts,
        required=required,
        importance=st.sampled_from((F(1), F(0), F(2), F(1, 3))),
        kind=st.none(),
        attributes=st.just({}),
    )


@st.composite
def _packages(
    draw: st.DrawFn, max_groups: int, max_candidates: int, max_units: int, responses: bool
) -> Package:
    experiences = [
        draw(_experience(position)) for position in range(draw(st.integers(1, max_groups)))
    ]
    candidates = [
        draw(_candidate(group, position))
        for group in range(len(experiences))
        for position in range(draw(st.integers(0, max_candidates)))
    ]
    units = [
        draw(_unit(position, responses)) for position in range(draw(st.integers(1, max_units)))
    ]
    unit_ids = tuple(unit.id for unit in units)
    cells = [
        Coverage(candidate=candidate.id, unit=unit, value=value)
        for candidate in candidates
        for unit in unit_ids
        if (value := draw(st.none() | st.sampled_from(SHARES))) is not None
    ]
    return Package(
        name=draw(st.sampled_from(("p", "näme", "a/b"))),
        experiences=tuple(draw(st.permutations(experiences))),
        candidates=tuple(draw(st.permutations(candidates))),
        units=tuple(units),
        queries=tuple(draw(_query(i, unit_ids)) for i in range(draw(st.integers(0, 2)))),
        coverage=tuple(cells),
        group_cap=draw(st.integers(1, 2)),
        budgets=tuple(draw(st.lists(st.sampled_from(BUDGETS), max_size=2))),
        attributes=draw(attributes),
    )


def packages(
    max_groups: int = 4, max_candidates: int = 3, max_units: int = 4, responses: bool = True
) -> st.SearchStrategy[Package]:
    """Valid packages; `responses=False` keeps h = min(1, z)."""
    return _packages(max_groups, max_candidates, max_units, responses)


def renamed(package: Package, new: Callable[[str], str]) -> Package:
    """The same package with other ids and sessions everywhere."""

    def copy(row: Any, **ids: Any) -> Any:
        return row.model_copy(update=ids)

    return package.replace(
        experiences=tuple(
            copy(row, id=new(row.id), session=row.session and new(row.session))
            for row in package.experiences
        ),
        candidates=tuple(
            copy(row, id=new(row.id), experience=new(row.experience)) for row in package.candidates
        ),
        units=tuple(copy(row, id=new(row.id)) for row in package.units),
        queries=tuple(
            copy(row, id=new(row.id), required=tuple(map(new, row.required)))
            for row in package.queries
        ),
        coverage=tuple(
            copy(row, candidate=new(row.candidate), unit=new(row.unit)) for row in package.coverage
        ),
    )
