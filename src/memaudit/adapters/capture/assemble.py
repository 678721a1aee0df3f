"""One store from the examples of a capture, with everything that did not go as it should."""

from collections import Counter
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from pydantic import JsonValue

from memaudit.adapters.capture.example import ExampleResult
from memaudit.adapters.capture.settings import Settings
from memaudit.adapters.capture.systems import System
from memaudit.adapters.registry import named_adapter
from memaudit.adapters.shape import Count, ExportedStore, Memory, Origin

NAMED = 20


def assemble(
    system: System, settings: Settings, address: str, versions: Mapping[str, str],
    results: Sequence[ExampleResult], broken: Mapping[str, str], name: str,
) -> ExportedStore:  # fmt: skip
    """The memories of every finished example, one after the other."""
    memories = _with_unique_ids(results)
    inactive = Counter(memory.state for memory in memories if memory.state != "active")
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    return ExportedStore(
        name=name,
        origin=Origin(
            system=system.label, format=system.format,
            view=settings.view or named_adapter(system.format).views[0], versions=dict(versions),
            configuration=_configuration(system, settings, address, results),
        ),
        memories=memories,
        count=Count(
            read=sum(result.rows for result in results), kept=len(memories),
            inactive=dict(sorted(inactive.items())), skipped=dict(sorted(skipped.items())),
        ),
        warnings=tuple(_warnings(results, broken, address)),
    )  # fmt: skip


def _with_unique_ids(results: Sequence[ExampleResult]) -> tuple[Memory, ...]:
    seen: set[str] = set()
    memories = []
    for result in results:
        for memory in result.memories:
            if memory.id in seen:  # a system that numbers the memories of each store from one
                memory = memory.model_copy(update={"id": f"{result.example}/{memory.id}"})
            seen.add(memory.id)
            memories.append(memory)
    return tuple(memories)


def _configuration(
    system: System, settings: Settings, address: str, results: Sequence[ExampleResult]
) -> dict[str, JsonValue]:
    changes: Counter[str] = Counter()
    for result in results:
        changes.update(result.changes)
    own: dict[str, JsonValue] = dict(results[0].configuration) if results else {}
    return {
        "captured": True, "system": system.name, "model": settings.model, "base_url": address,
        "options": settings.options, **own,
        # By name: a package for which nothing was written is not one that was never fed.
        "examples": {result.example: len(result.memories) for result in results},
        "messages": sum(result.fed for result in results), "changes": dict(sorted(changes.items())),
        "failed_messages": sum(len(result.failures) for result in results),
        "telemetry_off": dict(system.quiet),
    }  # fmt: skip


def _warnings(
    results: Sequence[ExampleResult], broken: Mapping[str, str], address: str
) -> list[str]:
    found = []
    if broken:
        names = _named([f"{name} ({why})" for name, why in broken.items()])
        found.append(f"incomplete: {len(broken)} packages are not in this store: {names}")
    failures = [
        f"{result.example} {one['experience']} ({one['problem']})"
        for result in results
        for one in result.failures
    ]
    if failures:
        total = sum(result.fed for result in results)
        found.append(f"incomplete: {len(failures)} of {total} messages failed: {_named(failures)}")
    if empty := sum(result.empty for result in results):
        found.append(f"{empty} experiences without text were not fed")
    others = sorted({host for result in results for host in _others(result, address)})
    if others:
        found.append(f"the system contacted more than the model's address: {_named(others)}")
    found += [f"{result.example}: {text}" for result in results for text in result.warnings]
    return found


def _others(result: ExampleResult, address: str) -> set[str]:
    """Addresses contacted besides the model's; what its name resolved to is not told apart."""
    parts = urlsplit(address)
    own = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    numeric = {one for one in result.contacted if _is_numeric(one)}
    # Where the model has a name, every name is looked up first: numbers are only where it led.
    told = set(result.contacted) if own in numeric else set(result.contacted) - numeric
    return told - {own}


def _is_numeric(place: str) -> bool:
    host = place.rpartition(":")[0]
    return ":" in host or host.replace(".", "").isdigit()


def _named(places: Sequence[str]) -> str:
    more = f", and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return ", ".join(places[:NAMED]) + more
