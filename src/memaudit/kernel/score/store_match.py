"""Which conversation a store was written from, and which of its turns it was fed.

A store names the packages it was written for. A capture also keeps digests of the turns it was
fed, so that a store of another build of the same conversation, a slice of it or
sessions as messages, is accepted by its turns. Then only units of turns that were fed are scored.
"""

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import EvidenceUnit, Package

TURNS = "turns"
"""In a store's configuration: by example, for every line that was fed, its digests."""

SAME_CONVERSATION = Fraction(4, 5)
"""Of the lines that were fed, how many are the package's; others may be dates or headings."""

NAMED = 10
"""Conversations that a message lists."""

NOT_FED = "units about turns that not every store was fed"


LEAST_WORDS = 4
"""Shorter lines, such as "Thanks!", are in any conversation."""

_DATE = re.compile(r"^\[[^\]]{1,80}\]\s*")
_SPEAKER = re.compile(r"^[^:\n]{1,60}:\s+")


def examples_of(store: ExportedStore) -> frozenset[str]:
    """The packages a store was written for, including those it wrote nothing for.

    Empty where the store does not say. Then all of it belongs to the package it is scored on.
    """
    listed = store.origin.configuration.get("examples")
    if not isinstance(listed, list | dict):
        return store.named_examples
    return store.named_examples.union(map(str, listed))


def written_from(store: ExportedStore, package: Package) -> set[str]:
    """The examples of a store that were written from a package: by their turns where the store
    knows them, else by the package's name."""
    examples = examples_of(store)
    fed = {example: lines for example in examples if (lines := _fed_lines(store, example))}
    named = {package.name} & (examples - fed.keys())
    if not fed:
        return named
    known = {
        digest
        for turn in package.experiences
        for digest in (*turn_digests(turn.text), whole_digest(turn.text))
    }
    return named | {example for example, lines in fed.items() if _is_same(lines, known)}


def _is_same(lines: Sequence[Sequence[str]], known: set[str]) -> bool:
    # Not all of them: a capture may put dates and headings between the lines it feeds.
    same = sum(not known.isdisjoint(readings) for readings in lines)
    return same >= SAME_CONVERSATION * len(lines)


def renamed(store: ExportedStore, names: Mapping[str, str]) -> ExportedStore:
    """The store with other names of its examples, as `--map OLD=NEW` gives them."""
    if not names:
        return store
    memories = tuple(
        memory.model_copy(update={"example": names.get(memory.example, memory.example)})
        if memory.example is not None
        else memory
        for memory in store.memories
    )
    configuration = dict(store.origin.configuration)
    listed = configuration.get("examples")
    if isinstance(listed, list):
        configuration["examples"] = [names.get(str(name), name) for name in listed]
    elif isinstance(listed, dict):
        configuration["examples"] = dict.fromkeys(names.get(name, name) for name in listed)
    # A name that is given is believed: turns of another build would contradict it.
    turns = configuration.get(TURNS)
    if isinstance(turns, dict):
        configuration[TURNS] = {name: turns[name] for name in turns if name not in names}
    origin = store.origin.model_copy(update={"configuration": configuration})
    return store.model_copy(update={"memories": memories, "origin": origin})


def parse_names(pairs: Sequence[str]) -> dict[str, str]:
    """`OLD=NEW` as a mapping."""
    names = {}
    for pair in pairs:
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise MemAuditError(f"--map {pair!r} is not a pair of names; write OLD=NEW")
        names[old] = new
    return names


def check_names(names: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse a name that no store has."""
    for old, new in sorted(names.items()):
        if old not in known:
            some = ", ".join(map(repr, sorted(known)[:NAMED]))
            has = f"the conversations are {some}" if known else "every package fits without --map"
            raise MemAuditError(f"--map {old}={new}: no store has a conversation {old!r}; {has}")


@dataclass(frozen=True, slots=True)
class FedPart:
    """A package that weighs only units that every store could know, and the number of others."""

    package: Package
    left_out: int = 0


def fed_part(package: Package, stores: Sequence[ExportedStore]) -> FedPart:
    """The package with a weight of 0 for units of turns that some store was not fed.

    A store that does not say what it was fed counts as fed with everything.
    """
    fed = [turns for store in stores if (turns := _fed_turns(store, package)) is not None]
    stream = {turn.id for turn in package.experiences if turn.text.strip()}
    unfed = {turn for turn in stream if any(turn not in turns for turns in fed)}
    gone = {unit.id for unit in package.units if _rests_on(unit, unfed)}
    if not gone:
        return FedPart(package)
    # They weigh nothing but stay: queries and cells that name them are still valid.
    units = [
        unit.model_copy(update={"weight": Fraction(0)}) if unit.id in gone else unit
        for unit in package.units
    ]
    return FedPart(package.replace(units=tuple(units)), len(gone))


def _rests_on(unit: EvidenceUnit, turns: set[str]) -> bool:
    return any(source.id in turns for source in unit.sources)


def _fed_turns(store: ExportedStore, package: Package) -> set[str] | None:
    """The package's turns that a store was fed; None where it does not say."""
    examples = written_from(store, package)
    lines = [line for example in sorted(examples) for line in _fed_lines(store, example)]
    # Known for some of its examples only, a store may have been fed the rest by the others.
    if not lines or any(not _fed_lines(store, example) for example in examples):
        return None
    known = {digest for readings in lines for digest in readings}
    return {turn.id for turn in package.experiences if _was_fed(turn.text, known)}


def _was_fed(text: str, known: set[str]) -> bool:
    """Whether a turn is among what was fed; a line that says little does not count."""
    lines = [line for line in text.splitlines() if len(line.split()) >= LEAST_WORDS]
    fed = sum(not known.isdisjoint(turn_digests(line)) for line in lines)
    return whole_digest(text) in known or fed >= SAME_CONVERSATION * len(lines)


def _fed_lines(store: ExportedStore, example: str) -> list[list[str]]:
    by_example = store.origin.configuration.get(TURNS)
    lines = by_example.get(example) if isinstance(by_example, dict) else None
    if not isinstance(lines, list):
        return []
    return [[str(digest) for digest in line] for line in lines if isinstance(line, list)]


def turn_digests(text: str) -> tuple[str, ...]:
    """The digest of every line that is not blank."""
    return tuple(_digest(line) for line in _lines(text))


def whole_digest(text: str) -> str:
    """The digest of a turn whose line breaks count as blanks."""
    return _digest(" ".join(text.split()))


def fed_digests(message: str) -> list[list[str]]:
    """For every line that says something, its digests with and without an added date and speaker;
    and those of the whole message, where it has several lines."""
    lines = [line for line in _lines(message) if len(line.split()) >= LEAST_WORDS]
    whole = " ".join(message.split())
    return [
        list(dict.fromkeys(map(_digest, _readings(line))))
        for line in dict.fromkeys((*lines, *((whole,) if len(lines) > 1 else ())))
    ]


def _readings(line: str) -> list[str]:
    readings = [line]
    for added in (_DATE, _SPEAKER, _SPEAKER):  # a session's first line may name a speaker twice
        readings.append(added.sub("", readings[-1], count=1))
    return readings


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _digest(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()[:16]
