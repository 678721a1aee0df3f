"""Seeded random packages, small enough for brute force, with every awkward case in the mix."""

from fractions import Fraction
from random import Random

from memaudit.kernel.package.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.kernel.package.response import (
    CLIPPED,
    Capped,
    Log1p,
    Piecewise,
    Response,
    Saturating,
    Sqrt,
)
from memaudit.kernel.solvers.form import Form, integer_form
from tests.proofs import package

RATIONAL: tuple[Response, ...] = (
    Capped(),
    Capped(cap=Fraction(3, 4)),
    Capped(cap=Fraction(2)),
    Piecewise(points=((Fraction(1, 2), Fraction(1, 2)), (Fraction(3, 2), Fraction(5, 6)))),
)
IRRATIONAL: tuple[Response, ...] = (Sqrt(), Log1p(), Saturating())


def _numbers(text: str) -> list[Fraction]:
    return [Fraction(word) for word in text.split()]


def random_package(seed: int, irrational: bool = False, groups: int = 4, units: int = 4) -> Package:
    """A package of a few groups: ties, zero weights, zero coverage, free and empty groups."""
    random = Random(seed)
    shapes = RATIONAL + (IRRATIONAL if irrational else ())
    if random.random() < 0.4:
        shapes = shapes[:1]
    costs = _numbers(random.choice(("1", "0 1 2", "1 2 3 4 5 6", "1/2 1 7/3")))
    amounts = _numbers(random.choice(("1", "0 1/2 1", "0 .1 .2 .3 .4 .5 .6 .7 .8 .9 1")))
    weights = _numbers(random.choice(("1", "0 1 2", "1/3 5/2 1")))
    experiences = [Experience(id=f"e{i}", index=i) for i in range(random.randint(1, groups))]
    names = [f"u{i}" for i in range(random.randint(1, units))]
    candidates = [
        Candidate(id=f"{one.id}c{i}", experience=one.id, kind="fact", cost=random.choice(costs))
        for one in experiences
        for i in range(random.randint(0, 3))
    ]
    return Package(
        name=f"random-{seed}",
        experiences=tuple(experiences),
        candidates=tuple(candidates),
        units=tuple(
            EvidenceUnit(
                id=name, kind="fact", weight=random.choice(weights), response=random.choice(shapes)
            )
            for name in names
        ),
        coverage=tuple(
            Coverage(candidate=candidate.id, unit=name, value=random.choice(amounts))
            for candidate in candidates
            for name in names
            if random.random() < 0.6
        ),
    )


def random_form(seed: int, irrational: bool = False) -> Form:
    """The package of that seed in integers, at a seeded budget (0 to all) and cap (1 to 3)."""
    random = Random(-seed - 1)
    form = integer_form(random_package(seed, irrational))
    total = Fraction(sum(form.cost), form.cost_scale)
    share = random.choice(_numbers("0 1/5 1/3 1/2 3/4 2"))
    return form.at(total * share, random.choice((1, 1, 2, 3)))


def knapsack(values: list[Fraction], costs: list[int], response: Response = CLIPPED) -> Form:
    """Groups of one candidate, each covering a unit of its own by the given amount."""
    ids = [f"{position:05}" for position in range(len(values))]
    rows = [f"{id}:{id}:{cost}" for id, cost in zip(ids, costs, strict=True)]
    cells = [(id, id, value) for id, value in zip(ids, values, strict=True)]
    return integer_form(package(" ".join(rows), dict.fromkeys(ids, 1), cells, response))


def with_parts(package: Package, parts: dict[str, list[str]]) -> Package:
    """The package with these parts; whatever has or is one gets an experience of its own."""
    alone = dict.fromkeys(id for whole, inner in parts.items() for id in (whole, *inner))
    first = len(package.experiences)
    homes = {id: Experience(id=f"home of {id}", index=first + i) for i, id in enumerate(alone)}
    return package.replace(
        experiences=(*package.experiences, *homes.values()),
        candidates=tuple(
            candidate.model_copy(
                update={
                    "experience": homes[candidate.id].id
                    if candidate.id in homes
                    else candidate.experience,
                    "parts": tuple(parts.get(candidate.id, ())),
                }
            )
            for candidate in package.candidates
        ),
    )


def random_package_with_parts(seed: int, irrational: bool = False) -> Package:
    """At most nine candidates, of which up to two have parts, some of them shared."""
    random = Random(f"parts/{seed}")
    package = random_package(seed, irrational, groups=7)
    ids = random.sample(sorted(package.candidate), len(package.candidates))[:9]
    wholes, rest = ids[: random.randint(1, 2)], ids[2:6]
    chosen = {whole: [id for id in rest if random.random() < 0.7] for whole in wholes}
    parts = {whole: inner for whole, inner in chosen.items() if inner}
    return with_parts(package.only(ids), parts)
