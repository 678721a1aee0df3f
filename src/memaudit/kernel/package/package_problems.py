"""What is wrong with a package: every inconsistency, each with its row and what to do."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from memaudit.kernel.errors import MemAuditError, Problem
from memaudit.kernel.exact import MAX_COMMON_DIGITS, common_denominator, plain
from memaudit.kernel.package.cost import DECLARED, RecordRule, cost_rule
from memaudit.kernel.package.unit_parts import statement_problems
from memaudit.kernel.words.text import content_key

if TYPE_CHECKING:
    from memaudit.kernel.package.package import Candidate, Coverage, Experience


def find_problems(package: Any) -> Iterator[Problem]:
    """Every inconsistency of a Package, or of any object with its fields."""
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
    yield from statement_problems(package.units)
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
    """The part of `find_problems` that other coverage can change, as a judge's does."""
    units = {row.id for row in package.units}
    candidates = {row.id for row in package.candidates}
    yield from _cell_problems(package.coverage, candidates, units)
    yield from _denominator_problems(package)


def _denominator_problems(package: Any) -> Iterator[Problem]:
    """Numbers that cannot be added up in reasonable time."""
    responses = {unit.response for unit in package.units}
    # One number of many digits makes every sum of its column as long, and a solver works in whole
    # multiples of the common denominator.
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


def _repeats(keys: Iterable[Hashable | None]) -> Iterator[tuple[int, int]]:
    """The row of every key that an earlier row has, and that row; None is no key."""
    first: dict[Hashable, int] = {}
    for row, key in enumerate(keys):
        if key is not None and first.setdefault(key, row) != row:
            yield row, first[key]


def _duplicates(table: str, ids: Sequence[str]) -> Iterator[Problem]:
    if len(set(ids)) == len(ids):
        return
    for row, first in _repeats(ids):
        yield Problem(
            f"is a duplicate id, first used in row {first}",
            "ids are unique in a table",
            ids[row],
            table,
            row,
        )


def _duplicate_positions(experiences: Sequence["Experience"]) -> Iterator[Problem]:
    for row, first in _repeats(experience.index for experience in experiences):
        repeated, earlier = experiences[row], experiences[first]
        if repeated.id != earlier.id:  # the same id twice is a problem of its own
            yield Problem(
                f"has the same stream index {repeated.index} as {earlier.id!r}",
                "give every experience its own index",
                repeated.id,
                "experiences",
                row,
            )


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


def candidate_cost(measure: RecordRule, candidate: "Candidate") -> int:
    return measure(candidate.text, candidate.kind, candidate.attributes)


def _are_right(
    candidates: Sequence["Candidate"], experiences: set[str], measure: RecordRule
) -> bool:
    """Whether there is nothing to say about any candidate, as almost always; without fractions."""
    return all(row.confidence is None and row.experience in experiences for row in candidates) and [
        row.cost.as_integer_ratio() for row in candidates
    ] == [(candidate_cost(measure, row), 1) for row in candidates]


def _part_problems(candidates: Sequence["Candidate"]) -> Iterator[Problem]:
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
    # Dominance may drop a candidate for a cheaper and better one of its group. If that one had
    # parts elsewhere, this would be wrong: beside the dropped candidate they could be kept too.
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


def _equal_texts(candidates: Sequence["Candidate"]) -> Iterator[Problem]:
    for row, first in _repeats(content_key(candidate.text) or None for candidate in candidates):
        yield Problem(
            f"has the same text as {candidates[first].id!r}",
            "make them one candidate, or leave out equal_texts_once",
            candidates[row].id,
            "candidates",
            row,
        )


def _cell_problems(
    coverage: Sequence["Coverage"], candidates: set[str], units: set[str]
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
