"""The stream as it is written: message by message, with all that could be stored of it."""

from dataclasses import dataclass

from memaudit.generators.event_graph.book import Book
from memaudit.generators.event_graph.diary import Moment, diary
from memaudit.generators.event_graph.dice import Dice
from memaudit.generators.event_graph.graph import Person
from memaudit.generators.event_graph.hops import add_hops
from memaudit.generators.event_graph.knobs import Knobs
from memaudit.generators.event_graph.message import chat, message, summary
from memaudit.generators.event_graph.phrase import Piece
from memaudit.generators.event_graph.plan import Beat, Chapter, chapters
from memaudit.generators.event_graph.threads.protocol import Telling

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
