"""What a package's units tell about a store: junk, redundancy, stale and lost facts."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction

from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import (
    CURRENT,
    INVALIDATION_KINDS,
    STALE,
    EvidenceUnit,
    Package,
)
from memaudit.kernel.score.priced_store import JudgedStore
from memaudit.kernel.words.text import content_key, counted
from memaudit.linting.findings import Evidence, Finding, evidence

Amounts = dict[str, Fraction]
NOTHING, ALL = Fraction(0), Fraction(1)


def covered(store: JudgedStore, once: bool = True) -> Amounts:
    """Per unit, how much all memories cover together; `once`: equal texts count once."""
    amounts: Amounts = {}
    seen: set[str] = set()
    for memory in store.memories:
        key = content_key(memory.text)
        if once and key and key in seen:
            continue
        seen.add(key)
        for unit, cell in memory.coverage.items():
            amounts[unit] = amounts.get(unit, NOTHING) + cell.value
    return amounts


def worth_nothing(package: Package, store: JudgedStore) -> Iterator[Finding]:
    """Memories that cover no unit, and those that add nothing beside the rest."""
    once = package.equal_texts_once
    amounts = covered(store, once)
    units = {unit.id: unit for unit in package.units if package.weights[unit.id]}
    copies = Counter(content_key(memory.text) for memory in store.memories)
    holders: dict[str, set[str]] = {}
    for memory in store.memories:
        for unit, cell in memory.coverage.items():
            if cell.value:
                holders.setdefault(unit, set()).add(memory.id)
    for memory in store.memories:
        shown = (evidence("memory", memory.id, memory.text),)
        own = {
            unit: cell.value
            for unit, cell in memory.coverage.items()
            if cell.value and unit in units
        }
        if not own:
            yield Finding("junk", (memory.id,), "covers no unit", shown, memory.cost)
            continue
        # A copy earns nothing where equal texts count once, though each covers what the other does.
        copied = once and copies[content_key(memory.text)] > 1
        if copied or all(
            units[unit].response.at(amounts[unit]) == units[unit].response.at(amounts[unit] - value)
            for unit, value in own.items()
        ):
            others = set[str]().union(*(holders[unit] for unit in own)) - {memory.id}
            what = f"what it covers, {counted(len(own), 'unit')}, is also covered by "
            what += f"{counted(len(others), 'other memory', 'other memories')}"
            yield Finding(
                "redundant", (memory.id,), "has a copy" if copied else what, shown, memory.cost
            )


def stale_facts(package: Package, store: JudgedStore) -> Iterator[Finding]:
    """Memories that cover a unit that no longer holds, and none that says what changed."""
    units = {unit.id: unit for unit in package.units}
    for memory in store.memories:
        kinds = {units[unit].kind for unit, cell in memory.coverage.items() if cell.value}
        # A memory that also tells the change, or the new fact, is a history and not stale.
        if STALE not in kinds or kinds & (INVALIDATION_KINDS | {CURRENT}):
            continue
        old = [
            units[unit]
            for unit, cell in memory.coverage.items()
            if cell.value and units[unit].kind == STALE
        ]
        yield Finding(
            "stale",
            (memory.id,),
            "still active, though it no longer holds",
            (evidence("memory", memory.id, memory.text), *map(_unit, old)),
            memory.cost,
        )


def wrongly_retired(
    package: Package, active: JudgedStore, retired: JudgedStore, states: Mapping[str, str]
) -> Iterator[Finding]:
    """Retired memories that cover a unit which holds, more than all active ones do."""
    amounts = covered(active, package.equal_texts_once)
    for memory in retired.memories:
        lost = [
            unit
            for unit in package.units
            if unit.kind != STALE
            and package.weights[unit.id]
            and (cell := memory.coverage.get(unit.id)) is not None
            and min(ALL, cell.value) > min(ALL, amounts.get(unit.id, NOTHING))
        ]
        if lost:
            yield Finding(
                "retired",
                (memory.id,),
                f"{states.get(memory.id, 'retired')}, but {counted(len(lost), 'unit')} it covers "
                f"still {'holds' if len(lost) == 1 else 'hold'} and no active memory says so",
                (evidence("memory", memory.id, memory.text), *map(_unit, lost)),
            )


def lost_updates(
    package: Package, before: JudgedStore, now: JudgedStore, later: ExportedStore
) -> Iterator[Finding]:
    """Units that an earlier export covered more than this one, with what became of its memories."""
    then, left = (covered(store, package.equal_texts_once) for store in (before, now))
    known = {memory.id: memory for memory in later.memories}
    for unit in package.units:
        had, has = (min(ALL, amounts.get(unit.id, NOTHING)) for amounts in (then, left))
        if not package.weights[unit.id] or has >= had or unit.kind == STALE:
            continue
        shown: list[Evidence] = [_unit(unit)]
        events: list[str] = []
        for memory in before.memories:
            cell = memory.coverage.get(unit.id)
            if cell is None or not cell.value:
                continue
            shown.append(evidence("memory before", memory.id, memory.text))
            after = known.get(memory.id)
            if after is None:
                events.append(f"{memory.id} is gone")
            elif after.state != "active":
                when = after.metadata.get("deleted_after") or after.updated_at or after.valid_to
                events.append(f"{memory.id} was {after.state}" + (f" ({when})" if when else ""))
            elif content_key(after.text) != content_key(memory.text):
                events.append(f"{memory.id} was changed")
                shown.append(evidence("memory now", after.id, after.text))
        ids = tuple(text.id for text in shown if text.what == "memory before")
        what = (
            f"covered {_share(had)} before, {_share(has)} now: {', '.join(events) or 'unchanged'}"
        )
        yield Finding("lost-updates", ids, what, tuple(shown))


def _share(value: Fraction) -> str:
    return "not" if not value else "in full" if value == 1 else "in part"


def _unit(unit: EvidenceUnit) -> Evidence:
    return evidence("unit", unit.id, unit.text)
