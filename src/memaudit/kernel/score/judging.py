"""One judge on both sides: what it says of a store's memories, and of the package's own candidates.

A lenient judge then raises the optimum as it raises the store. Of the package it judges cells that
rest on a rule; what a person, a model or the package itself vouches for is left alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.labels import LABEL_PASSES
from memaudit.kernel.package.package import Candidate, Coverage, Package
from memaudit.kernel.package.provenance import is_assumed
from memaudit.kernel.package.response import CLIPPED
from memaudit.kernel.score.judge import (
    Cell,
    Judge,
    MemoryText,
    NotJudged,
    Pair,
    ask_judge,
    cores,
    for_package,
    refuse_unreadable,
)
from memaudit.kernel.score.priced_store import (
    OWN_SALIENCE,
    JudgedStore,
    PricedStore,
    Salience,
    price_store,
)


def judge_store(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = OWN_SALIENCE
) -> JudgedStore:
    """The active memories of a store, priced, and judged against the units of a package.

    `judge` sees the texts with the times a reader is shown. One that cannot judge this store or
    package raises NotJudged. `salience` adds scores that policies cut by; without it a memory has
    the one its system gave.
    """
    priced = price_store(package, store, salience)
    _refuse_shared_headings(package, priced)
    texts = [
        MemoryText(memory.id, memory.text, memory.sources, package.name)
        for memory in priced.memories
    ]
    try:
        refuse_unreadable(judge, package, (memory.text for memory in texts))
        asked = for_package(judge, package)
        judged = ask_judge(asked, texts, package.units)
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    memories = tuple(
        replace(memory, coverage=judged.cells.get(memory.id, {})) for memory in priced.memories
    )
    cells = [cell for memory in memories for cell in memory.coverage.values()]
    caveats = replace(
        priced.caveats,
        undecided=judged.undecided,
        left_out={**judged.left_out, **priced.caveats.left_out},
        covers_nothing=bool(memories) and not any(cell.value or cell.upper for cell in cells),
    )
    return JudgedStore(priced.name, memories, caveats, priced.documents)


def _refuse_shared_headings(package: Package, priced: PricedStore) -> None:
    """Entries below one heading say what it says, each again. Where coverage adds up beyond the
    core of a unit, a heading would earn as often as it has entries."""
    if not priced.documents:
        return
    additive = [unit.id for unit in package.asked_units if unit.response != CLIPPED]
    if additive:
        raise MemAuditError(
            f"store {priced.name!r} has documents, whose entries share headings, and "
            f"{package.name!r} has units whose h is not min(1, z), the first {additive[0]!r}: "
            "headings would count once per entry; import the documents whole, with --view document"
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
