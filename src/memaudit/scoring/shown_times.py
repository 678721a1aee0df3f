"""Times in the text of a memory: one rule for all systems.

A system's reader may be shown when a memory was said. Where it is (`reader_time` of the importer),
the time stands before the text and is paid for. It has to be a time of the conversation: when a
program happened to run tells a reader nothing, and is never shown.
"""

from collections.abc import Sequence
from datetime import date, timedelta

from memaudit.adapters.registry import ADAPTERS
from memaudit.adapters.store import ExportedStore, Memory
from memaudit.core.package import Package
from memaudit.io.timestamps import export_time

OTHER_CLOCK = "times that are not the conversation's"


def shown_texts(
    package: Package, store: ExportedStore, memories: Sequence[Memory]
) -> tuple[dict[str, str], int]:
    """The text of each memory, and how many times were left out as not the conversation's."""
    texts = {memory.id: memory.text for memory in memories}
    adapter = ADAPTERS.get(store.origin.format)
    field = adapter.reader_time if adapter else None
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
