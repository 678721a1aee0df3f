"""One judge on both sides: cells of the package that rest on a rule are judged like memories."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from memaudit.kernel.package.labels import LABEL_PASSES
from memaudit.kernel.package.package import Candidate, Coverage, Package
from memaudit.kernel.package.provenance import is_assumed
from memaudit.kernel.score.judge import (
    Cell,
    Judge,
    MemoryText,
    NotJudged,
    Pair,
    ask_judge,
    cores,
    for_package,
)

BY_RULE = ("rule:", "dataset:")
"""Generators whose candidates nobody judged, even where no rule gives them a cell."""

LABELLED = "labels:"
"""The generator of memories that a build was given; nobody judged them without label passes."""


def assumed_pairs(package: Package) -> dict[str, list[str]]:
    """By candidate, the weighted units whose cells with it rest on a rule, the zeros too.

    All parts of a statement go by its core.
    """
    by_rule = BY_RULE if LABEL_PASSES in package.attributes else (*BY_RULE, LABELLED)
    assumed: set[str] = {
        candidate.id
        for candidate in package.candidates
        if (candidate.generator or "").startswith(by_rule)
    }
    settled: dict[str, set[str]] = defaultdict(set)
    for cell in package.coverage:
        if is_assumed(cell.provenance):
            assumed.add(cell.candidate)
        else:
            settled[cell.candidate].add(cell.unit)
    core_of = cores(package.asked_units)
    return {
        candidate.id: [
            unit.id
            for unit in package.asked_units
            if core_of.get(unit.id, unit.id) not in settled[candidate.id]
        ]
        for candidate in package.candidates
        if candidate.id in assumed
    }


def as_memory(candidate: Candidate, package: Package) -> MemoryText:
    """A candidate as a judge sees it."""
    return MemoryText(candidate.id, candidate.text, (), package.name)


def judge_candidates(package: Package, judge: Judge) -> Package:
    """The package with its assumed cells judged, where the judge knows the candidate.

    Cells that a person, a model or the package itself vouches for are left alone.

    A file of labels may know the memories of a store and nothing else. Then the cells stay as they
    are, and the share of the optimum that rests on them is stated.
    """
    wanted = assumed_pairs(package)
    # Not an error: labels of a store's memories say nothing of the package's candidates, and the
    # result states the share of OPT that rests on assumed cells.
    if not wanted or not judge.judges_candidates:
        return package
    texts = [as_memory(package.candidate[id], package) for id in wanted]
    pairs = {(id, unit) for id, units in wanted.items() for unit in units}
    try:
        judged = ask_judge(for_package(judge, package), texts, package.units, pairs)
    except NotJudged:
        return package
    # Where the judge gave no answer the package's own cell stands: no answer is not a zero.
    known = {pair for pair in pairs if pair[0] not in judged.unknown}
    return with_cells(package, judged.cells, known - set(judged.undecided))


def with_cells(
    package: Package, cells: Mapping[str, Mapping[str, Cell]], decided: Iterable[Pair]
) -> Package:
    """The package with the cells of some pairs replaced; a pair without a cell is not covered."""
    replaced = set(decided)
    if not replaced:
        return package
    # Decided pairs lose their old cell even where they get none: the judge said not covered.
    rows = [row for row in package.coverage if (row.candidate, row.unit) not in replaced]
    rows += [
        Coverage(
            candidate=candidate,
            unit=unit,
            value=cell.value,
            upper=cell.upper,
            provenance=cell.provenance,
            rationale=cell.rationale or None,
        )
        for candidate, unit in sorted(replaced)
        if (cell := cells.get(candidate, {}).get(unit)) is not None and (cell.value or cell.upper)
    ]
    return package.replace(coverage=tuple(rows))
