"""The plan of a stream: its people, and chapter by chapter which message tells what."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from memaudit.lab.generators.event_graph.dice import Dice
from memaudit.lab.generators.event_graph.parameters import Parameters
from memaudit.lab.generators.event_graph.sampler import Sampler
from memaudit.lab.generators.event_graph.templates import Person
from memaudit.lab.generators.event_graph.threads import RuleThread, SkillThread, Thread
from memaudit.lab.generators.event_graph.vocabulary import vocabulary


@dataclass(slots=True)
class People:
    """New people; a name is never used twice."""

    dice: Dice
    expected: int
    """How many will be needed. If there are too few first names, everybody has a surname."""
    _names: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        words = vocabulary().names
        firsts = [*((name, "she") for name in words.she), *((name, "he") for name in words.he)]
        if self.expected > len(firsts):
            firsts = [(f"{name} {last}", they) for name, they in firsts for last in words.surnames]
        self._names = self.dice.shuffled(firsts)

    def speaker(self) -> Person:
        name, they = self._names.pop()
        return Person(name, they, speaks=True)

    def others(self, count: int) -> list[Person]:
        return [Person(*self._names.pop()) for _ in range(count)]


CHAPTER = 40
"""Approximate messages per chapter. Links between messages never leave their chapter."""

MIX = (
    *("fact",) * 4,
    *("state",) * 2,
    *("preference",) * 4,
    *("event",) * 2,
    *("relation",) * 5,
    *("rule",) * 2,
    "skill",
    "deletion",
    *("open",) * 2,
)
"""What is told besides updates and intervals."""

MERGED = Fraction(1, 6)
"""How often two neighbouring short things share a message."""

ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Beat:
    """One telling of a thread, by the thread's number."""

    thread: int
    turn: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """Threads, and for each message the beats it holds; none for small talk."""

    threads: tuple[Thread, ...]
    core: int
    """How many of the first threads have all their questions asked."""
    messages: tuple[tuple[Beat, ...], ...]


def chapters(dice: Dice, parameters: Parameters) -> tuple[Person, list[Chapter]]:
    """The speaker, and the whole stream chapter by chapter."""
    count = max(1, (parameters.experiences + CHAPTER // 2) // CHAPTER)
    cuts = [parameters.experiences * place // count for place in range(count + 1)]
    sizes = [after - before for before, after in pairwise(cuts)]
    people = People(dice, 1 + sum(_cast(size) for size in sizes))
    speaker = people.speaker()
    used: set[tuple[str, ...]] = set()
    planned = []
    for place, size in enumerate(sizes):
        sampler = Sampler(dice, parameters, used, speaker, people.others(_cast(size)))
        chat = _share(parameters.distractors, cuts[place], cuts[place + 1])
        planned.append(_chapter(sampler, size - chat, chat, core=place == 0))
    return speaker, planned


def _cast(size: int) -> int:
    """How many others a chapter is about."""
    return max(2, min(6, size // 7))


def _share(share: Fraction, start: int, end: int) -> int:
    """Small-talk messages in a range, so that the counts add up over the stream."""
    return int(end * share) - int(start * share)


def _chapter(sampler: Sampler, room: int, chat: int, core: bool) -> Chapter:
    threads = _core(sampler, room) if core else []
    core_count = len(threads)
    left = room - sum(thread.beats for thread in threads)
    while left > 0:
        thread = _draw(sampler, left)
        threads.append(thread)
        left -= thread.beats
    messages = _merged(sampler.dice, threads, _interleaved(sampler.dice, threads))
    while len(messages) < room:
        threads.append(_single(sampler))
        place = sampler.dice.below(len(messages) + 1)
        messages.insert(place, (Beat(len(threads) - 1, 0),))
    for _ in range(chat):
        messages.insert(sampler.dice.below(len(messages) + 1), ())
    return Chapter(tuple(threads), core_count, tuple(messages))


def _core(sampler: Sampler, room: int) -> list[Thread]:
    """The threads every stream begins with, so that short ones have all kinds of questions."""
    parameters, friend = sampler.parameters, sampler.others[0]
    chain = "chain" if parameters.update_rate else "state"
    event = "interval" if parameters.interval_rate else "event"
    wanted: list[tuple[str, Person | None]] = [
        ("relation", None),
        (chain, friend),
        (event, None),
        ("open", None),
        ("rule", None),
        ("skill", None),
        ("deletion", None),
        ("preference", None),
        ("fact", None),
    ]
    threads: list[Thread] = []
    for kind, person in wanted:
        left = room - sum(thread.beats for thread in threads)
        need = 2 if kind in ("chain", "deletion") else 1
        if left >= need:
            thread = _attempt(sampler, kind, min(left, need), person)
            threads += [thread] if thread else []
    return threads


def _draw(sampler: Sampler, room: int) -> Thread:
    """The next thread of a chapter, drawn by the parameters."""
    dice, parameters = sampler.dice, sampler.parameters
    if dice.chance(parameters.update_rate):
        kind = "chain"
    elif dice.chance(parameters.interval_rate):
        kind = "interval"
    else:
        kind = dice.pick(MIX)
    return _attempt(sampler, kind, room) or _single(sampler)


def _attempt(sampler: Sampler, kind: str, room: int, person: Person | None = None) -> Thread | None:
    """A thread of a kind. A draw can hit what was told before, so there are several attempts."""
    for _ in range(ATTEMPTS):
        thread = sampler.draw(kind, room, person)
        if thread is not None:
            return thread
    return None


def _single(sampler: Sampler) -> Thread:
    """A thread of one message, of whichever kind has something left."""
    while True:
        for kind in ("fact", "preference", "event", "open", "state", "skill", "rule"):
            thread = sampler.draw(kind, 1)
            if thread is not None:
                return thread


def _interleaved(dice: Dice, threads: list[Thread]) -> list[tuple[Beat, ...]]:
    """All beats in one order: those of a thread in turn and far apart, relations first."""
    keyed = []
    for number, thread in enumerate(threads):
        for turn in range(thread.beats):
            # Within its stretch a beat keeps to the first 3/5, so two of a thread are never close.
            key = Fraction(turn, thread.beats) + Fraction(dice.below(600), 1000 * thread.beats)
            keyed.append((key / 3 if thread.early else key, dice.bits(), Beat(number, turn)))
    keyed.sort(key=lambda entry: entry[:2])
    return [(beat,) for _, _, beat in keyed]


def _short(thread: Thread) -> bool:
    """Whether it is told in one message that has room for something else."""
    return thread.beats == 1 and not isinstance(thread, RuleThread | SkillThread)


def _merged(
    dice: Dice, threads: list[Thread], messages: list[tuple[Beat, ...]]
) -> list[tuple[Beat, ...]]:
    """Merge some neighbouring threads of one message each."""
    merged: list[tuple[Beat, ...]] = []
    for message in messages:
        short = _short(threads[message[0].thread])
        if short and merged and len(merged[-1]) == 1 and dice.chance(MERGED):
            before = merged[-1][0]
            if _short(threads[before.thread]):
                merged[-1] = (before, *message)
                continue
        merged.append(message)
    return merged
