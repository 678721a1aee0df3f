"""The people of a stream: one speaker, and for every chapter a few others."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.parameters import Knobs
from memaudit.generators.event_graph.phrase import Person
from memaudit.generators.event_graph.sampler import Sampler
from memaudit.generators.event_graph.threads.procedure import RuleThread, SkillThread
from memaudit.generators.event_graph.threads.protocol import Thread
from memaudit.generators.event_graph.words.names import HE, SHE, SURNAMES


@dataclass(slots=True)
class People:
    """Gives out people nobody has met yet; a name is never used twice."""

    dice: Dice
    expected: int
    """How many will be needed: beyond the first names there are, everybody has a surname."""
    _names: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        firsts = [*((name, "she") for name in SHE), *((name, "he") for name in HE)]
        if self.expected > len(firsts):
            firsts = [(f"{name} {last}", they) for name, they in firsts for last in SURNAMES]
        self._names = self.dice.shuffled(firsts)

    def speaker(self) -> Person:
        """The one who writes the messages."""
        name, they = self._names.pop()
        return Person(name, they, speaks=True)

    def others(self, count: int) -> list[Person]:
        """New people."""
        return [Person(*self._names.pop()) for _ in range(count)]


CHAPTER = 40
"""Messages a chapter has, about: links between messages never leave their chapter."""

MIX = (
    *("fact",) * 4, *("state",) * 2, *("preference",) * 4, *("event",) * 2, *("relation",) * 5,
    *("rule",) * 2, "skill", "deletion", *("open",) * 2,
)  # fmt: skip
"""What is told apart from updates and intervals."""

MERGED = Fraction(1, 6)
"""How often two neighbouring short things share a message."""

TRIES = 12


@dataclass(frozen=True, slots=True)
class Beat:
    """One telling of a thread, by the thread's number."""

    thread: int
    turn: int


@dataclass(frozen=True, slots=True)
class Chapter:
    """Threads, and for each message the beats it holds; none for small talk."""

    threads: tuple[Thread, ...]
    sure: int
    """So many threads come first and have all their questions asked."""
    messages: tuple[tuple[Beat, ...], ...]


def chapters(dice: Dice, knobs: Knobs) -> tuple[Person, list[Chapter]]:
    """The speaker, and the whole stream chapter by chapter."""
    count = max(1, (knobs.experiences + CHAPTER // 2) // CHAPTER)
    cuts = [knobs.experiences * place // count for place in range(count + 1)]
    sizes = [after - before for before, after in pairwise(cuts)]
    people = People(dice, 1 + sum(_cast(size) for size in sizes))
    speaker = people.speaker()
    used: set[tuple[str, ...]] = set()
    made = []
    for place, size in enumerate(sizes):
        sampler = Sampler(dice, knobs, used, speaker, people.others(_cast(size)))
        chat = _share(knobs.distractors, cuts[place], cuts[place + 1])
        made.append(_chapter(sampler, size - chat, chat, core=place == 0))
    return speaker, made


def _cast(size: int) -> int:
    """How many others a chapter is about."""
    return max(2, min(6, size // 7))


def _share(share: Fraction, start: int, end: int) -> int:
    """How many small-talk messages fall in a stretch, so that they sum up over the stream."""
    return int(end * share) - int(start * share)


def _chapter(sampler: Sampler, room: int, chat: int, core: bool) -> Chapter:
    threads = _core(sampler, room) if core else []
    sure = len(threads)
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
    return Chapter(tuple(threads), sure, tuple(messages))


def _core(sampler: Sampler, room: int) -> list[Thread]:
    """The threads every stream begins with, so that short ones have every kind of question."""
    knobs, friend = sampler.knobs, sampler.others[0]
    chain = "chain" if knobs.update_rate else "state"
    event = "interval" if knobs.interval_rate else "event"
    wanted: list[tuple[str, Person | None]] = [
        ("relation", None), (chain, friend), (event, None), ("open", None), ("rule", None),
        ("skill", None), ("deletion", None), ("preference", None), ("fact", None),
    ]  # fmt: skip
    threads: list[Thread] = []
    for kind, person in wanted:
        left = room - sum(thread.beats for thread in threads)
        need = 2 if kind in ("chain", "deletion") else 1
        if left >= need:
            thread = _tried(sampler, kind, min(left, need), person)
            threads += [thread] if thread else []
    return threads


def _draw(sampler: Sampler, room: int) -> Thread:
    """The next thread of a chapter, by the knobs."""
    dice, knobs = sampler.dice, sampler.knobs
    if dice.chance(knobs.update_rate):
        kind = "chain"
    elif dice.chance(knobs.interval_rate):
        kind = "interval"
    else:
        kind = dice.pick(MIX)
    return _tried(sampler, kind, room) or _single(sampler)


def _tried(sampler: Sampler, kind: str, room: int, person: Person | None = None) -> Thread | None:
    """A thread of a kind; chance may hit what has been told, so it is tried several times."""
    for _ in range(TRIES):
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
    """All beats in one order: those of a thread in turn and well apart, edges first."""
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
    """Some neighbours that are told once share a message."""
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
