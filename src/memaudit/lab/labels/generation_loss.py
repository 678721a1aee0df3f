"""What a candidate generator can reach: OPT of its candidates alone, and of all together.

Generators are compared on the same units, so what one loses against the union is what it failed to
write in any form that fits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import Candidate, Package
from memaudit.kernel.solvers.solve import PackageSolver

UNION = "all together"
NO_GENERATOR = "unnamed"


@dataclass(frozen=True, slots=True)
class GeneratorRow:
    """One generator on one package at one budget. A value is None where it is not certified."""

    package: str
    generator: str
    budget: Fraction
    candidates: int
    optimum: Fraction | None
    share: Fraction | None
    """Of OPT of all candidates; None where that is 0 or not certified."""


def generator_of(candidate: Candidate) -> str:
    return candidate.generator or NO_GENERATOR


def generator_rows(
    package: Package,
    budgets: Sequence[Fraction],
    seconds: float | None = None,
    by_kind: bool = False,
) -> list[GeneratorRow]:
    """Every generator of a package alone, then all of them; or every kind of candidate."""
    own: dict[str, set[str]] = {}
    for candidate in package.candidates:
        name = candidate.kind if by_kind else generator_of(candidate)
        own.setdefault(name, set()).add(candidate.id)
    everything = PackageSolver(package)
    alone = {name: PackageSolver(_only(package, ids)) for name, ids in sorted(own.items())}
    rows: list[GeneratorRow] = []
    for budget in budgets:
        best = everything.solve(budget, seconds=seconds)
        whole = best.value if best.certified else None
        for name, solver in alone.items():
            found = solver.solve(budget, seconds=seconds)
            value = found.value if found.certified else None
            share = value / whole if value is not None and whole else None
            rows.append(GeneratorRow(package.name, name, budget, len(own[name]), value, share))
        share = Fraction(1) if whole else None
        rows.append(
            GeneratorRow(package.name, UNION, budget, len(package.candidates), whole, share)
        )
    return rows


def _only(package: Package, ids: set[str]) -> Package:
    """The package with some of its candidates; a whole without all of its parts goes too."""
    kept = [
        candidate
        for candidate in package.candidates
        if candidate.id in ids and ids.issuperset(candidate.parts)
    ]
    left = {candidate.id for candidate in kept}
    return package.replace(
        candidates=tuple(kept),
        coverage=tuple(row for row in package.coverage if row.candidate in left),
    )


def joined(first: Package, second: Package) -> Package:
    """Two packages of the same units, with the candidates of both, each named by its generator.

    Ids of the second's candidates get the name of its generator in front.
    """
    units = {unit.id: unit.text for unit in first.units}
    if units != {unit.id: unit.text for unit in second.units}:
        raise MemAuditError(
            f"{first.name!r} and {second.name!r} have other units; generators can be compared on "
            "the same units only"
        )
    if first.cost_rule != second.cost_rule:
        raise MemAuditError(
            f"{first.name!r} measures costs by {first.cost_rule}, {second.name!r} by "
            f"{second.cost_rule}; recost one of them"
        )
    streams = [[(row.id, row.text) for row in one.experiences] for one in (first, second)]
    if streams[0] != streams[1]:
        raise MemAuditError(f"{first.name!r} and {second.name!r} are about other conversations")
    new = {one.id: f"second: {one.id}" for one in second.candidates}
    candidates = [
        one.model_copy(
            update={
                "id": new[one.id],
                "parts": tuple(new[part] for part in one.parts),
                "generator": f"second: {generator_of(one)}",
            }
        )
        for one in second.candidates
    ]
    cells = [row.model_copy(update={"candidate": new[row.candidate]}) for row in second.coverage]
    return first.replace(
        candidates=(*first.candidates, *candidates), coverage=(*first.coverage, *cells)
    )
