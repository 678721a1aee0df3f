"""From a plan to a package: the visible stream, and the coverage of what could be stored of it.

Coverage is the share of an atom's slots that a text states.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import words
from memaudit.kernel.package.package import (
    Candidate,
    Coverage,
    EvidenceUnit,
    Experience,
    Package,
    Query,
    Source,
)
from memaudit.lab.sweeps.generators.event_graph.hidden_graph import HiddenGraph, add_hops
from memaudit.lab.sweeps.generators.event_graph.parameters import Dice, Parameters
from memaudit.lab.sweeps.generators.event_graph.plan import Beat, Chapter, chapters
from memaudit.lab.sweeps.generators.event_graph.templates import Atom, Person, Piece, Stated
from memaudit.lab.sweeps.generators.event_graph.threads import Memories, Telling
from memaudit.lab.sweeps.generators.event_graph.vocabulary import vocabulary

_START = datetime(2023, 1, 2)
_DAY_PARTS = (8, 13, 19)
"""The hours at which the three parts of a day begin."""

MAX_SENTENCES = 3
"""Sentences per message."""

OPENED = Fraction(2, 5)
GREETED = Fraction(1, 2)
CLOSED = Fraction(1, 4)
ANSWERED = Fraction(1, 4)
"""How often small talk comes from the assistant."""

_SENTENCE_END = re.compile(r"[.!?](?: |$)")


@dataclass(frozen=True, slots=True)
class Moment:
    """When a message is written, and whether it is the first or the last of its session."""

    session: int
    time: datetime
    part: int
    opens: bool
    closes: bool


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One message, the pieces that could be stored, and which atoms it is the source of."""

    moment: Moment
    speaker: str
    text: str
    stored: Memories
    sources: tuple[tuple[int, str], ...] = ()
    """Atoms and the words that state them."""


def stream(dice: Dice, parameters: Parameters) -> tuple[HiddenGraph, list[StreamEntry]]:
    """The hidden graph and the visible stream of one package."""
    speaker, planned = chapters(dice, parameters)
    moments = _schedule(dice, [len(chapter.messages) for chapter in planned])
    graph = HiddenGraph(dice)
    entries: list[StreamEntry] = []
    for place, chapter in enumerate(planned):
        own = moments[len(entries) : len(entries) + len(chapter.messages)]
        relations, questions = len(graph.relations), len(graph.questions)
        tellings = _tellings(graph, chapter, own, first=place == 0)
        entries += _entries(dice, speaker, chapter, own, tellings)
        add_hops(graph, graph.relations[relations:], graph.questions[questions:], place == 0)
    return graph, entries


def _schedule(dice: Dice, sizes: list[int]) -> list[Moment]:
    """Moments for chapters of these sizes. A session never spans two chapters."""
    lengths = [length for size in sizes for length in _sessions(dice, size)]
    widest = max(2, min(60, 6000 // len(lengths)))
    slot = dice.below(3 * 700)
    moments: list[Moment] = []
    for session, length in enumerate(lengths):
        day, part = divmod(slot, 3)
        time = _START + timedelta(days=day, hours=_DAY_PARTS[part], minutes=dice.below(180))
        for place in range(length):
            moments.append(Moment(session, time, part, place == 0, place == length - 1))
            time += timedelta(minutes=dice.between(1, 4), seconds=dice.below(60))
        slot += dice.between(1, widest)
    return moments


def _sessions(dice: Dice, size: int) -> list[int]:
    """The number of messages of each session of a chapter."""
    lengths: list[int] = []
    longest = 7 if size > 12 else 4
    while size > 0:
        length = dice.between(3, longest)
        length = size if size - length < 3 else length  # no session of one or two messages
        lengths.append(length)
        size -= length
    return lengths


def _tellings(
    graph: HiddenGraph, chapter: Chapter, moments: list[Moment], first: bool
) -> dict[Beat, Telling]:
    """Every thread of a chapter written out, now that the day of each message is known."""
    days = {
        beat: moment.time.date()
        for moment, beats in zip(moments, chapter.messages, strict=True)
        for beat in beats
    }
    tellings: dict[Beat, Telling] = {}
    for number, thread in enumerate(chapter.threads):
        beats = [Beat(number, turn) for turn in range(thread.beats)]
        # The first threads have every question asked, so that short streams have all kinds.
        graph.ask_all = first and number < chapter.core
        written = thread.write(graph, tuple(days[beat] for beat in beats))
        tellings |= zip(beats, written, strict=True)
    return tellings


def _entries(
    dice: Dice,
    speaker: Person,
    chapter: Chapter,
    moments: list[Moment],
    tellings: dict[Beat, Telling],
) -> list[StreamEntry]:
    entries: list[StreamEntry] = []
    briefs: list[Piece] = []
    for moment, beats in zip(moments, chapter.messages, strict=True):
        told = tuple(tellings[beat] for beat in beats)
        # A summary is about its own session: the list begins anew when one opens.
        briefs = [*([] if moment.opens else briefs), *(telling.brief for telling in told)]
        entry = _message(dice, speaker, moment, told) if told else _chat(dice, speaker, moment)
        notes = (("summary", _summary(dice, briefs)),) if moment.closes else ()
        entries.append(
            StreamEntry(moment, entry.speaker, entry.text, entry.stored + notes, entry.sources)
        )
    return entries


def _message(dice: Dice, speaker: Person, moment: Moment, told: tuple[Telling, ...]) -> StreamEntry:
    """One or two tellings as somebody would write them."""
    words = vocabulary().small_talk
    parts: list[str] = []
    sources: list[tuple[int, str]] = []
    length = sum(len(_SENTENCE_END.findall(telling.message.text)) for telling in told)
    greeted = moment.opens and length < MAX_SENTENCES and dice.chance(GREETED)
    if greeted:
        parts.append(dice.pick(words.greetings[moment.part]))
    for telling in told:
        sentence = telling.message.text
        opener = _opener(dice, sentence, moment.opens) if dice.chance(OPENED) else ""
        # The source quotes the words as they stand, with the capital only where it begins.
        quote = sentence if opener else _capital(sentence)
        sources += [(atom, quote) for atom in telling.roots]
        parts.append(f"{_capital(opener)} {quote}" if opener else quote)
    if length + greeted < MAX_SENTENCES and dice.chance(CLOSED):
        parts.append(dice.pick(words.closers))
    raw = Piece(" ".join(parts), tuple(slot for telling in told for slot in telling.message.stated))
    offers = [offer for telling in told for offer in telling.stored]
    stored = (("raw", raw), *((kind, _noted(dice, kind, piece)) for kind, piece in offers))
    return StreamEntry(moment, speaker.name, raw.text, stored, tuple(sources))


def _opener(dice: Dice, sentence: str, first: bool) -> str:
    """An opener that goes with the sentence: no second colon, no second opener."""
    words = vocabulary().small_talk
    opener = dice.pick(words.first_openers if first else words.openers)
    second_colon = opener.endswith(":") and ":" in sentence
    return "" if second_colon or sentence.startswith(words.no_opener_before) else opener


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _chat(dice: Dice, speaker: Person, moment: Moment) -> StreamEntry:
    """Small talk, by the speaker or the assistant."""
    words = vocabulary().small_talk
    if not moment.opens and dice.chance(ANSWERED):
        text = dice.pick(words.assistant)
        return StreamEntry(moment, "assistant", text, (("raw", Piece(text)),))
    if dice.below(2):
        weather = dice.pick(words.weather)
        note = f"{dice.pick(weather.remarks)}, {dice.pick(weather.moods)}."
    else:
        note = f"{dice.pick(words.subjects)} {dice.pick(words.verdicts)}"
    start = f"{dice.pick(words.greetings[moment.part])} " if moment.opens else ""
    end = f" {dice.pick(words.tails)}" if dice.below(2) else ""
    text = f"{start}{note}{end}"
    stored = (("raw", Piece(text)), ("fact", _noted(dice, "fact", Piece(note))))
    return StreamEntry(moment, speaker.name, text, stored)


def _noted(dice: Dice, kind: str, piece: Piece) -> Piece:
    """A fact as it is, or with a head, so that facts from small talk do not stand out."""
    if kind != "fact" or dice.below(4):
        return piece
    return Piece(f"{dice.pick(vocabulary().small_talk.note_heads)} {piece.text}", piece.stated)


def _summary(dice: Dice, briefs: list[Piece]) -> Piece:
    """What a session's notes keep: most of what was told, in a few words each."""
    words = vocabulary().small_talk
    kept = [brief for brief in briefs if dice.below(4)][:4]
    texts: list[str] = []
    stated: dict[Stated, None] = {}
    for brief in kept:
        if brief.text and brief.text not in texts:
            texts.append(brief.text)
        stated |= dict.fromkeys(brief.stated)
    body = "; ".join(texts) or dice.pick(words.summary_empty)
    return Piece(f"{dice.pick(words.summary_heads)} {body}.", tuple(stated))


PROVENANCE = "event_graph"


def unit_id(number: int) -> str:
    """The id of an atom's unit. It says nothing about the unit."""
    return f"u{number:04d}"


def coverage_rows(candidate: str, piece: Piece, atoms: list[Atom]) -> Iterator[Coverage]:
    """What a candidate states of each atom it is about."""
    stated: dict[int, dict[str, None]] = {}
    for number, slot in piece.stated:
        stated.setdefault(number, {})[slot] = None
    for number, slots in stated.items():
        names = atoms[number].slots
        missing = [name for name in names if name not in slots]
        said = ", ".join(name for name in names if name in slots)
        yield Coverage(
            candidate=candidate,
            unit=unit_id(number),
            value=Fraction(len(slots), len(names)),
            label="partial" if missing else "full",
            rationale=f"states {said}; omits {', '.join(missing)}" if missing else f"states {said}",
            provenance=PROVENANCE,
        )


BUDGETS = (2, 5, 10, 15)
"""Percent of the total cost of all candidates."""

CONFIDENCE = {
    "fact": (80, 99),
    "event": (80, 99),
    "edge": (70, 95),
    "rule": (75, 98),
    "skill": (75, 98),
    "compound_update": (70, 95),
    "tombstone": (70, 95),
    "summary": (55, 85),
}
"""Percent, by kind: how confident an extractor is. Raw text is not extracted."""


def build(parameters: Parameters, seed: int) -> Package:
    """The package of a seed."""
    dice = Dice(seed)
    graph, entries = stream(dice, parameters)
    experiences = tuple(_experience(place, entry) for place, entry in enumerate(entries))
    candidates: list[Candidate] = []
    coverage: list[Coverage] = []
    for experience, entry in zip(experiences, entries, strict=True):
        _add_candidates(dice, graph, experience.id, entry, candidates, coverage)
    total = sum(candidate.cost for candidate in candidates)
    return Package(
        name=f"event_graph-{seed}",
        experiences=experiences,
        candidates=tuple(candidates),
        units=_units(graph, experiences, entries),
        queries=_queries(graph),
        coverage=tuple(coverage),
        cost_rule="words",
        budgets=tuple(Fraction(max(1, int(total * share / 100))) for share in BUDGETS),
        attributes={"generator": PROVENANCE, "seed": seed, "knobs": parameters.changed()},
    )


def _experience(place: int, entry: StreamEntry) -> Experience:
    return Experience(
        id=f"x{place:04d}",
        text=entry.text,
        index=place,
        session=f"s{entry.moment.session:04d}",
        timestamp=entry.moment.time.isoformat(),
        speaker=entry.speaker,
    )


def _add_candidates(
    dice: Dice,
    graph: HiddenGraph,
    experience: str,
    entry: StreamEntry,
    candidates: list[Candidate],
    coverage: list[Coverage],
) -> None:
    counts: dict[str, int] = {}
    for kind, piece in entry.stored:
        counts[kind] = counts.get(kind, 0) + 1
        name = f"{experience}.{kind}{counts[kind]}"
        confidence = CONFIDENCE.get(kind)
        candidates.append(
            Candidate(
                id=name,
                experience=experience,
                kind=kind,
                text=piece.text,
                cost=Fraction(words(piece.text)),
                confidence=Fraction(dice.between(*confidence), 100) if confidence else None,
                generator=PROVENANCE,
            )
        )
        coverage += coverage_rows(name, piece, graph.atoms)


def _units(
    graph: HiddenGraph, experiences: tuple[Experience, ...], entries: list[StreamEntry]
) -> tuple[EvidenceUnit, ...]:
    sources: list[list[Source]] = [[] for _ in graph.atoms]
    for experience, entry in zip(experiences, entries, strict=True):
        for atom, quote in entry.sources:
            sources[atom].append(Source(id=experience.id, session=experience.session, text=quote))
    return tuple(
        EvidenceUnit(
            id=unit_id(atom.number),
            kind=atom.kind,
            text=atom.text,
            timestamp=atom.day.isoformat(),
            sources=tuple(sources[atom.number]),
            attributes={"slots": {name: list(forms) for name, forms in atom.slots.items()}},
        )
        for atom in graph.atoms
    )


def _queries(graph: HiddenGraph) -> tuple[Query, ...]:
    return tuple(
        Query(
            id=f"q{place:04d}",
            text=question.text,
            answer=question.answer,
            kind=question.kind,
            required=tuple(unit_id(number) for number in question.required),
            importance=question.importance,
        )
        for place, question in enumerate(graph.questions)
    )


@dataclass(frozen=True, slots=True)
class EventGraph:
    """People, changing facts, events and rules, told in English, with exact coverage."""

    parameters: Parameters = field(default_factory=Parameters)

    @property
    def name(self) -> str:
        return "event_graph"

    @property
    def about(self) -> str:
        return "sessions in English from a hidden graph of people, changes and events"

    @property
    def draws(self) -> bool:
        return True

    def package(self, seed: int) -> Package:
        """The package of a seed, a whole number of 0 or more."""
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise MemAuditError(
                f"event_graph: the seed is {seed!r}; it must be a whole number of at least 0"
            )
        return build(self.parameters, seed)
