"""Two stores, or one at two dates: memories added, changed and removed, units gained and lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from memaudit.kernel.exact import plain
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.cost import DECLARED, default_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.priced_store import (
    PARTS_OF_ONE,
    JudgedStore,
    active_memories,
    writing_order,
)
from memaudit.kernel.score.score import StoreScorer
from memaudit.kernel.words.text import content_key
from memaudit.linting.against_units import covered
from memaudit.linting.findings import evidence
from memaudit.linting.lint import store_costs
from memaudit.linting.similar_memories import pairs_to_compare
from memaudit.linting.statement_pairs import compare, pair_model, statement

FORMAT, VERSION = "memaudit-diff", 1
EDITED_FROM = 0.5
"""The share of words that a removed and an added memory must have in common to be one, edited."""


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory before and after; `how` says why the two belong together."""

    before: Memory
    after: Memory
    how: str


@dataclass(frozen=True, slots=True)
class UnitChange:
    """How much of a unit is covered before and after, at most 1."""

    unit: str
    text: str
    weight: Fraction
    before: Fraction
    after: Fraction


@dataclass(frozen=True, slots=True)
class StoreDiff:
    """What differs between two stores."""

    names: tuple[str, str]
    memories: tuple[int, int]
    costs: tuple[Fraction, Fraction]
    cost_rule: str
    unchanged: int
    added: tuple[Memory, ...]
    changed: tuple[ChangedMemory, ...]
    removed: tuple[Memory, ...]
    judge: str = ""
    values: tuple[Fraction, Fraction] | None = None
    units: tuple[UnitChange, ...] = ()

    @property
    def gained(self) -> list[UnitChange]:
        return [unit for unit in self.units if unit.after > unit.before]

    @property
    def lost(self) -> list[UnitChange]:
        return [unit for unit in self.units if unit.after < unit.before]


def store_diff(
    before: ExportedStore,
    after: ExportedStore,
    package: Package | None = None,
    judge: Judge | None = None,
) -> StoreDiff:
    """Memories are matched by id where the texts share a word, by equal text, and by content."""
    old, new = (
        writing_order(
            active_memories(store, package) if package is not None else list(store.active)
        )
        for store in (before, after)
    )
    texts = [memory.text for memory in (*old, *new)]
    declared = package is None or package.cost_rule == DECLARED
    rule = default_rule(texts) if package is None or declared else package.cost_rule
    costs = [
        store_costs(store, side, None, rule)[1] for store, side in ((before, old), (after, new))
    ]
    parts_of_one = after.origin.format in PARTS_OF_ONE
    same, changed, gone, fresh = _matched(old, new, parts_of_one)
    found = StoreDiff(
        (before.name, after.name),
        (len(old), len(new)),
        (costs[0], costs[1]),
        rule,
        same,
        tuple(fresh),
        tuple(changed),
        tuple(gone),
    )
    if package is None or judge is None or not any(package.weights.values()):
        return found
    return _with_units(found, before, after, package, judge)


def _matched(
    old: Sequence[Memory], new: Sequence[Memory], parts_of_one: bool
) -> tuple[int, list[ChangedMemory], list[Memory], list[Memory]]:
    """How many are unchanged, what changed, what is gone, and what is new.

    The same words of two users are two memories.
    """

    def key(memory: Memory) -> tuple[str, str]:
        owner = "" if parts_of_one else memory.namespace or ""
        return owner, content_key(memory.text)

    # Three rounds, from the surest match to the least sure; each takes its pairs out of `left`.
    left = {memory.id: memory for memory in new}
    gone: list[Memory] = []
    changed: list[ChangedMemory] = []
    unchanged = 0
    for memory in old:
        after = left.get(memory.id)
        if after is not None and key(after) == key(memory):
            unchanged += 1
            del left[memory.id]
        else:
            gone.append(memory)
    # Systems that rewrite a store give the same text a new id.
    by_text: dict[tuple[str, str], list[str]] = {}
    for memory in left.values():
        by_text.setdefault(key(memory), []).append(memory.id)
    still: list[Memory] = []
    for memory in gone:
        twins = by_text.get(key(memory))
        if twins:
            unchanged += 1
            del left[twins.pop(0)]
        else:
            still.append(memory)
    gone = []
    for memory in still:
        after = left.get(memory.id)
        # An id may be no more than the number of a line.
        if after is None or not statement(memory.text).terms & statement(after.text).terms:
            gone.append(memory)
        else:
            changed.append(ChangedMemory(memory, left.pop(memory.id), "same id"))
    return unchanged, *_alike(changed, gone, list(left.values()), parts_of_one)


def _alike(
    changed: list[ChangedMemory], gone: list[Memory], fresh: list[Memory], parts_of_one: bool
) -> tuple[list[ChangedMemory], list[Memory], list[Memory]]:
    """Removed and added memories that say the same or disagree belong together."""
    both = [*gone, *fresh]
    texts = [memory.text for memory in both]
    pairs = [
        (first, second)
        for first, second in pairs_to_compare(texts)
        if first < len(gone) <= second
        and (parts_of_one or both[first].namespace == both[second].namespace)
    ]
    verdicts = compare([(texts[first], texts[second]) for first, second in pairs])
    model = pair_model()
    sure: list[tuple[float, tuple[int, int], str]] = []
    for pair, verdict in zip(pairs, verdicts, strict=True):
        mine, theirs = (statement(texts[place]).terms for place in pair)
        shared = len(mine & theirs) / len(mine | theirs)
        if verdict.same >= model.same_from:
            sure.append((verdict.same, pair, "same content"))
        elif verdict.conflict >= model.conflict_from or shared >= EDITED_FROM:
            sure.append((max(verdict.conflict, shared), pair, "edited"))
    taken: set[int] = set()
    # The surest pair first, and each memory once.
    for _, (first, second), how in sorted(sure, key=lambda match: (-match[0], match[1])):
        if not taken & {first, second}:
            taken |= {first, second}
            changed.append(ChangedMemory(both[first], both[second], how))
    return (
        changed,
        [memory for at, memory in enumerate(gone) if at not in taken],
        [memory for at, memory in enumerate(fresh, len(gone)) if at not in taken],
    )


def _with_units(
    found: StoreDiff, before: ExportedStore, after: ExportedStore, package: Package, judge: Judge
) -> StoreDiff:
    measured = package if package.cost_rule != DECLARED else package.recost(found.cost_rule)
    sides: list[JudgedStore] = [judge_store(measured, store, judge) for store in (before, after)]
    values = [
        StoreScorer(measured, [store]).worth(store, store.candidate_ids).value for store in sides
    ]
    then, now = (covered(store, measured.equal_texts_once) for store in sides)
    one = Fraction(1)
    units = [
        UnitChange(
            unit.id,
            unit.text,
            measured.weights[unit.id],
            min(one, then.get(unit.id, Fraction(0))),
            min(one, now.get(unit.id, Fraction(0))),
        )
        for unit in measured.units
        if measured.weights[unit.id]
    ]
    return StoreDiff(
        found.names,
        found.memories,
        found.costs,
        found.cost_rule,
        found.unchanged,
        found.added,
        found.changed,
        found.removed,
        judge.name,
        (values[0], values[1]),
        tuple(unit for unit in units if unit.before != unit.after),
    )


def diff_data(diff: StoreDiff) -> dict[str, Any]:
    """The JSON form; texts are cut and secrets masked, as on the page."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "stores": list(diff.names),
        "memories": list(diff.memories),
        "cost_rule": diff.cost_rule,
        "costs": [plain(cost) for cost in diff.costs],
        "unchanged": diff.unchanged,
        "added": [_row(memory) for memory in diff.added],
        "changed": [
            {"how": change.how, "before": _row(change.before), "after": _row(change.after)}
            for change in diff.changed
        ],
        "removed": [_row(memory) for memory in diff.removed],
        "judge": diff.judge or None,
        "values": None if diff.values is None else [plain(value) for value in diff.values],
        "units_gained": [_unit(unit) for unit in diff.gained],
        "units_lost": [_unit(unit) for unit in diff.lost],
    }


def _row(memory: Memory) -> dict[str, str]:
    shown = evidence("memory", memory.id, memory.text)
    return {"id": shown.id, "text": shown.text}


def _unit(unit: UnitChange) -> dict[str, Any]:
    return {
        "id": unit.unit,
        "text": evidence("unit", unit.unit, unit.text).text,
        "weight": plain(unit.weight),
        "before": plain(unit.before),
        "after": plain(unit.after),
    }
