"""From an exported store to a judged one: texts with their times, costs, coverage, salience."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.store_file import WRITTEN_AFTER, ExportedStore, Memory, missing_memories
from memaudit.kernel.io.timestamps import export_time
from memaudit.kernel.package.cost import DECLARED, RecordRule, cost_rule
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.caveats import Caveats, unread_rows
from memaudit.kernel.score.fed_turns import examples_of, written_from
from memaudit.kernel.score.heading_credit import NOT_NAMED, count_once, heading_texts
from memaudit.kernel.score.judge import Judge, MemoryText, NotJudged, ask_judge, for_package
from memaudit.kernel.score.readable import refuse_unreadable
from memaudit.kernel.score.salience_source import OWN_SALIENCE, Salience, SalienceSource
from memaudit.kernel.score.written_store import (
    DOCUMENT,
    MEMORY,
    WrittenDocument,
    WrittenMemory,
    WrittenStore,
)

OTHER_CLOCK = "times that are not the conversation's"
UNPLACED = "memories that name no package, in a store that names one for others"
FAILED_SALIENCE = "salience calls that failed or could not be read"


PARTS_OF_ONE = ("letta", "markdown")
"""Formats whose namespaces are blocks or folders, which one user may have many of."""


def judge_store(
    package: Package, store: ExportedStore, judge: Judge, salience: Salience = OWN_SALIENCE
) -> WrittenStore:
    """The active memories of a store, judged and measured by the package's cost rule."""
    measured = measured_store(package, store, salience)
    headings = heading_texts(measured, package.name)
    texts = [
        MemoryText(memory.id, memory.text, memory.sources, package.name)
        for memory in measured.memories
    ]
    try:
        refuse_unreadable(judge, package, (memory.text for memory in texts))
        asked = for_package(judge, package)
        judged = ask_judge(asked, [*texts, *headings], package.units)
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    memories = tuple(
        replace(memory, coverage=judged.cells.get(memory.id, {})) for memory in measured.memories
    )
    own = {memory.id for memory in memories}
    left_out = dict(judged.left_out)
    if silent := sum(heading.id in judged.unknown for heading in headings):
        left_out[NOT_NAMED] = silent
    undecided = [pair for pair in judged.undecided if pair[0] in own]
    return count_once(
        replace(measured, memories=memories).judged(undecided, left_out), judged.cells
    )


def measured_store(
    package: Package, store: ExportedStore, salience: Salience = OWN_SALIENCE
) -> WrittenStore:
    """The active memories of a store with costs and salience, before anybody judged them."""
    if is_out_of_pool(package):
        raise MemAuditError(
            f"{package.name!r} is out of the scoring pool (its construction ended as "
            f"{package.attributes.get('status')!r}); score another package"
        )
    if package.cost_rule == DECLARED:
        raise MemAuditError(
            f"{package.name!r} declares its costs, so memories cannot be measured alike; give a "
            "--cost-rule, for example words"
        )
    measure = cost_rule(package.cost_rule)
    memories = writing_order(active_memories(store, package))
    texts, other_clock = shown_texts(package, store, memories)
    ids = [memory.id for memory in memories]
    own = {memory.id: exact(memory.salience) for memory in memories if memory.salience is not None}
    sources = salience.of(store.name)
    try:
        scores = {policy: given.of(package, store, texts) for policy, given in sources.items()}
    except NotJudged as error:
        raise NotJudged(f"store {store.name!r}: {error}") from None
    return WrittenStore(
        store.name,
        tuple(
            WrittenMemory(
                id=memory.id,
                text=texts[memory.id],
                cost=Fraction(measure(texts[memory.id], MEMORY, memory.metadata)),
                sources=memory.sources,
                salience=scores.get("salience", own).get(memory.id),
                query_salience=scores.get("query_salience", {}).get(memory.id),
                document=memory.document,
                first_line=memory.lines[0] if memory.lines else 0,
                context=memory.context,
                has_order=_has_order(memory),
                metadata=memory.metadata,
            )
            for memory in memories
        ),
        Caveats(
            unread_rows=unread_rows(store),
            incomplete=missing_memories(store.warnings),
            left_out=_left_out(store, sources.values(), other_clock),
            without_salience={
                policy: len(ids) - len(known)
                for policy, known in scores.items()
                if len(known) < len(ids)
            },
            mixed_users=_mixed_users(store, memories),
        ),
        _documents(store, memories, measure),
    )


def _has_order(memory: Memory) -> bool:
    return memory.lines is None or WRITTEN_AFTER in memory.metadata


def _mixed_users(store: ExportedStore, memories: Sequence[Memory]) -> tuple[str, ...]:
    """The users whose memories recency orders as if they were one user's."""
    users = sorted({memory.namespace for memory in memories if memory.namespace})
    mixed = len(users) > 1 and store.origin.format not in PARTS_OF_ONE
    return tuple(users) if mixed and all(map(_has_order, memories)) else ()


def _documents(
    store: ExportedStore, memories: Sequence[Memory], measure: RecordRule
) -> tuple[WrittenDocument, ...]:
    """The documents that active memories are entries of."""
    parts: dict[str, list[str]] = {}
    for memory in memories:
        if memory.document is not None:
            parts.setdefault(memory.document, []).append(memory.id)
    return tuple(
        WrittenDocument(
            document.id, text, Fraction(measure(text, DOCUMENT)), tuple(parts[document.id])
        )
        for document in store.documents
        if document.id in parts
        for text in [document.shown_text]
    )


def is_out_of_pool(package: Package) -> bool:
    """Whether its construction ended in a way that keeps it out of every mean."""
    return package.attributes.get("scoring_pool") is False


def active_memories(store: ExportedStore, package: Package) -> list[Memory]:
    """The active memories written from a package."""
    known = examples_of(store)
    if not known:
        return list(store.active)
    examples = written_from(store, package)
    if not examples:
        names = sorted(known)
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        raise MemAuditError(
            f"{store.name!r} was not written for the package {package.name!r} but for "
            f"{', '.join(map(repr, names[:3]))}{more}; if that is the same conversation, say so "
            f"with --map OLD=NEW, such as --map {names[0]}={package.name}"
        )
    if len(examples) == 1:
        (example,) = examples
        return store.active_by_example.get(example, [])
    return [memory for memory in store.active if memory.example in examples]


def writing_order(memories: Sequence[Memory]) -> list[Memory]:
    """By time of creation where every memory has one, else as the store lists them."""
    if any(memory.created_at is None for memory in memories):
        return list(memories)
    return sorted(memories, key=lambda memory: memory.created_at or "")


def _left_out(
    store: ExportedStore, sources: Iterable[SalienceSource], other_clock: int
) -> dict[str, int]:
    counts = {OTHER_CLOCK: other_clock} if other_clock else {}
    unplaced = len(store.active_by_example.get(None, ()))
    if unplaced and examples_of(store):
        counts[UNPLACED] = unplaced
    if failed := sum(source.failed for source in sources):
        counts[FAILED_SALIENCE] = failed
    return counts


def shown_texts(
    package: Package, store: ExportedStore, memories: Sequence[Memory]
) -> tuple[dict[str, str], int]:
    """The text of each memory, and how many times were left out as not the conversation's.

    Where a system's reader is shown when a memory was said (`reader_time` of the origin), that time
    stands before the text and is paid for. When a program happened to run tells a reader nothing,
    and is never shown.
    """
    texts = {memory.id: memory.text for memory in memories}
    field = store.origin.reader_time
    if store.times == "none" or (store.times == "shown" and field is None):
        return texts, 0
    span = _conversation_days(package)
    left_out = 0
    for memory in memories:
        time = getattr(memory, field or "created_at") or (
            memory.valid_from if store.times == "all" else None
        )
        if time is None or time[:10] in memory.text:  # a view may have written it already
            continue
        if span is None or not span[0] <= time[:10] <= span[1]:
            left_out += 1
            continue
        end = memory.valid_to if field == "valid_from" else None
        until = f" to {_stamp(end)}" if end and span[0] <= end[:10] <= span[1] else ""
        texts[memory.id] = f"{_stamp(time)}{until}: {memory.text}"
    return texts, left_out


def _conversation_days(package: Package) -> tuple[str, str] | None:
    """The first and the last day of the conversation, and a day more for other time zones."""
    times = [export_time(turn.timestamp) for turn in package.experiences if turn.timestamp]
    days = sorted(time[:10] for time in times if time)
    if not days:
        return None
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    day = timedelta(days=1)
    return (
        (first - day if first > date.min else first).isoformat(),
        (last + day if last < date.max else last).isoformat(),
    )


def _stamp(time: str) -> str:
    """The day, and the time of day unless it is midnight."""
    clock = time[11:16]
    return f"{time[:10]} {clock}" if clock.strip("0:") else time[:10]
