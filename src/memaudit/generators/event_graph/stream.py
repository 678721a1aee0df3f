"""Sessions and times of day."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.parameters import Knobs
from memaudit.generators.event_graph.phrase import Person, Piece, Stated
from memaudit.generators.event_graph.plan import Beat, Chapter, chapters
from memaudit.generators.event_graph.questions import Book, add_hops
from memaudit.generators.event_graph.threads.protocol import Telling
from memaudit.generators.event_graph.words import smalltalk as said

_START = datetime(2023, 1, 2)
_PARTS = (8, 13, 19)
"""The hours at which the three parts of a day begin."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a message is written, and whether it is the first or the last of its session."""

    session: int
    time: datetime
    part: int
    opens: bool
    closes: bool


def diary(dice: Dice, sizes: list[int]) -> list[Moment]:
    """Moments for chapters of these sizes; a session never runs from one chapter into the next."""
    lengths = [length for size in sizes for length in _sessions(dice, size)]
    widest = max(2, min(60, 6000 // len(lengths)))
    slot = dice.below(3 * 700)
    moments: list[Moment] = []
    for session, length in enumerate(lengths):
        day, part = divmod(slot, 3)
        hour = _PARTS[part]
        time = _START + timedelta(days=day, hours=hour, minutes=dice.below(180))
        for place in range(length):
            moments.append(Moment(session, time, part, place == 0, place == length - 1))
            time += timedelta(minutes=dice.between(1, 4), seconds=dice.below(60))
        slot += dice.between(1, widest)
    return moments


def _sessions(dice: Dice, size: int) -> list[int]:
    """How many messages the sessions of a chapter have."""
    lengths: list[int] = []
    longest = 7 if size > 12 else 4
    while size > 0:
        length = dice.between(3, longest)
        length = size if size - length < 3 else length  # no session of one or two messages
        lengths.append(length)
        size -= length
    return lengths


LONGEST = 3
"""Sentences a message has at most."""

OPENED = Fraction(2, 5)
GREETED = Fraction(1, 2)
CLOSED = Fraction(1, 4)
ANSWERED = Fraction(1, 4)
"""How often small talk comes from the assistant."""

_END = re.compile(r"[.!?](?: |$)")


@dataclass(frozen=True, slots=True)
class Message:
    """What was written, and each telling's own words in it."""

    piece: Piece
    quotes: tuple[str, ...]


def message(dice: Dice, tellings: tuple[Telling, ...], moment: Moment) -> Message:
    """One or two tellings as somebody would write them."""
    parts: list[str] = []
    quotes: list[str] = []
    length = sum(len(_END.findall(telling.message.text)) for telling in tellings)
    greeted = moment.opens and length < LONGEST and dice.chance(GREETED)
    if greeted:
        parts.append(dice.pick(said.GREETINGS[moment.part]))
    for telling in tellings:
        sentence = telling.message.text
        opener = _opener(dice, sentence, moment.opens) if dice.chance(OPENED) else ""
        quote = sentence if opener else _capital(sentence)
        quotes.append(quote)
        parts.append(f"{_capital(opener)} {quote}" if opener else quote)
    if length + greeted < LONGEST and dice.chance(CLOSED):
        parts.append(dice.pick(said.CLOSERS))
    stated = tuple(slot for telling in tellings for slot in telling.message.stated)
    return Message(Piece(" ".join(parts), stated), tuple(quotes))


def _opener(dice: Dice, sentence: str, first: bool) -> str:
    """An opener that goes with the sentence: no second colon, no second opener."""
    opener = dice.pick(said.FIRST_OPENERS if first else said.OPENERS)
    twice = opener.endswith(":") and ":" in sentence
    return "" if twice or sentence.startswith(said.ALONE) else opener


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def chat(dice: Dice, moment: Moment) -> tuple[bool, str, str]:
    """Small talk: whether the speaker says it, the message, and what one could note of it."""
    if not moment.opens and dice.chance(ANSWERED):
        return False, dice.pick(said.ASSISTANT), ""
    if dice.below(2):
        weather, moods = dice.pick(said.WEATHER)
        note = f"{dice.pick(weather)}, {dice.pick(moods)}."
    else:
        note = f"{dice.pick(said.SUBJECTS)} {dice.pick(said.VERDICTS)}"
    start = f"{dice.pick(said.GREETINGS[moment.part])} " if moment.opens else ""
    end = f" {dice.pick(said.TAILS)}" if dice.below(2) else ""
    return True, f"{start}{note}{end}", note


def summary(dice: Dice, briefs: list[Piece]) -> Piece:
    """What a session's notes keep of it: most of what was told, in a few words each."""
    kept = [brief for brief in briefs if dice.below(4)][:4]
    texts: list[str] = []
    stated: dict[Stated, None] = {}
    for brief in kept:
        if brief.text and brief.text not in texts:
            texts.append(brief.text)
        stated |= dict.fromkeys(brief.stated)
    body = "; ".join(texts) or dice.pick(said.SUMMARY_EMPTY)
    return Piece(f"{dice.pick(said.SUMMARY_HEADS)} {body}.", tuple(stated))


HEADS = ("Noted:", "Told:", "Heard:")


@dataclass(frozen=True, slots=True)
class Entry:
    """One message, the pieces that could be stored, and which atoms it is the source of."""

    moment: Moment
    speaker: str
    text: str
    stored: tuple[tuple[str, Piece], ...]
    sources: tuple[tuple[int, str], ...]
    """Atoms and the words they stand in."""


def stream(dice: Dice, knobs: Knobs) -> tuple[Book, list[Entry]]:
    """The hidden side and the visible stream of one package."""
    speaker, made = chapters(dice, knobs)
    moments = diary(dice, [len(chapter.messages) for chapter in made])
    book = Book(dice)
    entries: list[Entry] = []
    for place, chapter in enumerate(made):
        own = moments[len(entries) : len(entries) + len(chapter.messages)]
        relations, questions = len(book.relations), len(book.questions)
        tellings = _tellings(book, chapter, own, first=place == 0)
        entries += _entries(dice, speaker, chapter, own, tellings)
        add_hops(book, book.relations[relations:], book.questions[questions:], sure=place == 0)
    return book, entries


def _tellings(
    book: Book, chapter: Chapter, moments: list[Moment], first: bool
) -> dict[Beat, Telling]:
    """Every thread of a chapter written out, now that the day of each message is known."""
    days = {
        beat: moment.time.date()
        for moment, beats in zip(moments, chapter.messages, strict=True)
        for beat in beats
    }
    written: dict[Beat, Telling] = {}
    for number, thread in enumerate(chapter.threads):
        beats = [Beat(number, turn) for turn in range(thread.beats)]
        book.sure = first and number < chapter.sure
        told = thread.write(book, tuple(days[beat] for beat in beats))
        written |= zip(beats, told, strict=True)
    return written


def _entries(
    dice: Dice, speaker: Person, chapter: Chapter, moments: list[Moment],
    tellings: dict[Beat, Telling],
) -> list[Entry]:  # fmt: skip
    entries: list[Entry] = []
    briefs: list[Piece] = []
    for moment, beats in zip(moments, chapter.messages, strict=True):
        told = tuple(tellings[beat] for beat in beats)
        briefs = [*([] if moment.opens else briefs), *(telling.brief for telling in told)]
        entry = _told(dice, speaker, moment, told) if told else _chat(dice, speaker, moment)
        notes = (("summary", summary(dice, briefs)),) if moment.closes else ()
        entries.append(
            Entry(moment, entry.speaker, entry.text, entry.stored + notes, entry.sources)
        )
    return entries


def _told(dice: Dice, speaker: Person, moment: Moment, told: tuple[Telling, ...]) -> Entry:
    said = message(dice, told, moment)
    pieces = [piece for telling in told for piece in telling.stored]
    stored = (("raw", said.piece), *((kind, _noted(dice, kind, piece)) for kind, piece in pieces))
    sources = tuple(
        (atom, quote)
        for telling, quote in zip(told, said.quotes, strict=True)
        for atom in telling.roots
    )
    return Entry(moment, speaker.name, said.piece.text, stored, sources)


def _chat(dice: Dice, speaker: Person, moment: Moment) -> Entry:
    own, text, note = chat(dice, moment)
    stored = [("raw", Piece(text))]
    if own:
        stored.append(("fact", _noted(dice, "fact", Piece(note))))
    return Entry(moment, speaker.name if own else "assistant", text, tuple(stored), ())


def _noted(dice: Dice, kind: str, piece: Piece) -> Piece:
    """A fact as it is, or with a head before it: facts of small talk must not stand out by it."""
    if kind != "fact" or dice.below(4):
        return piece
    return Piece(f"{dice.pick(HEADS)} {piece.text}", piece.stated)
