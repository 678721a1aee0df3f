"""The judged store: what each memory of a priced store covers."""

from dataclasses import replace

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.response import CLIPPED
from memaudit.kernel.score.judge import Judge, MemoryText, NotJudged, ask_judge, for_package
from memaudit.kernel.score.priced_store import (
    OWN_SALIENCE,
    JudgedStore,
    PricedStore,
    Salience,
    price_store,
)
from memaudit.kernel.score.script_support import refuse_unreadable


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
