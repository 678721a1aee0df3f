"""Pass b: evidence units from the source alone, each with a quote that is verbatim in its turn."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from pydantic import Field, model_validator

from memaudit.building.passes.source import SourceText, pieces
from memaudit.kernel.package.package import ABSTENTION, CURRENT, DELETION, STALE, SUPERSESSION
from memaudit.kernel.words.text import NARROW, one_line, stands_close
from memaudit.models.prompts import Quotable, StrictRow
from memaudit.models.session import ModelSession

UNITS_STAGE, QUOTES_STAGE = "units", "quotes"

UnitKind = Literal["unknown", "plan", "rule", "skill", "preference", "temporal", "fact"]
"""In the order of precedence of the prompt."""

Change = Literal["none", "now", "before", "ended", "forgotten"]
PartName = Literal["who", "what", "when", "where", "amount", "condition", "polarity"]

_BY_CHANGE = {"now": CURRENT, "before": STALE, "ended": SUPERSESSION, "forgotten": DELETION}
"""The kind of a unit in a package, if it is part of a change."""


# The names and docstrings of reply types are part of every request's hash.
class ContextRow(StrictRow):
    """A further quote that a unit needs."""

    turn: int
    quote: str


class PartRow(StrictRow):
    """A part of a statement."""

    part: PartName
    words: str


class UnitRow(StrictRow):
    """One unit of a reply."""

    turn: int
    quote: str
    context: list[ContextRow]
    said_by: str
    kind: UnitKind
    change: Change
    disputed: bool
    first_day: str | None = Field(alias="from")
    last_day: str | None = Field(alias="to")
    statement: str
    parts: list[PartRow]


class UnitsReply(StrictRow):
    """The reply of this pass."""

    units: list[UnitRow]


class QuoteRow(StrictRow):
    """A new quote for a statement."""

    number: int
    turn: int
    quote: str


class QuotesReply(StrictRow):
    """The reply of the second asking."""

    quotes: list[QuoteRow]

    @model_validator(mode="after")
    def _once_each(self) -> "QuotesReply":
        if len({row.number for row in self.quotes}) < len(self.quotes):
            raise ValueError("a number appears twice")
        return self


@dataclass(frozen=True, slots=True)
class ExtractedUnit:
    """A unit whose quote is a piece of its turn; `kind` is its kind in the package.

    What follows `requoted` are details that a unit may lack.
    """

    turn: int
    quote: str
    kind: str
    statement: str
    requoted: bool = False
    """Whether the quote came with the second request."""
    said_by: str | None = None
    """The speaker who claims it."""
    said_as: str | None = None
    """Its kind without regard to a change."""
    context: tuple[tuple[int, str], ...] = ()
    """Further quotes that it needs, with their turns."""
    dates: tuple[str, str] | None = None
    """The first and the last day it is about."""
    disputed: bool = False
    """Whether it contradicts another one, and nobody resolved it."""
    parts: tuple[tuple[str, str], ...] = ()
    """Names and words of its parts, the core first."""

    @property
    def is_stated_by_turn(self) -> bool:
        """Whether the turn of its quote has all of its quotes."""
        return all(turn == self.turn for turn, _ in self.context)


@dataclass(frozen=True, slots=True)
class UnverifiedUnit:
    """A unit as the model gave it, and what is wrong with its quote."""

    given: ExtractedUnit
    problem: str


@dataclass(frozen=True, slots=True)
class ExtractedUnits:
    """The units of a conversation; `lost` pieces of the source had no valid reply."""

    items: tuple[ExtractedUnit, ...]
    lost: int = 0


def find_units(
    sources: Mapping[str, SourceText], session: ModelSession, model: str
) -> dict[str, ExtractedUnits]:
    """Units for each source, piece by piece. Sees sources and nothing else.

    A unit whose quote is not in its turn is asked about once more, then refused and counted.
    """
    work = [(owner, piece) for owner, source in sources.items() for piece in pieces(source)]
    blocks = [(owner, {"source": piece.as_data()}) for owner, piece in work]
    replies = session.ask_pass(UNITS_STAGE, blocks, UnitsReply, model, long=True)
    lost = dict.fromkeys(sources, 0)
    checked: list[list[ExtractedUnit | UnverifiedUnit]] = []
    for (owner, piece), reply in zip(work, replies, strict=True):
        lost[owner] += reply is None
        refuse = partial(session.ledger.refuse, owner, UNITS_STAGE)
        stated = [] if reply is None else reply.units
        checked.append([_check(row, piece, refuse) for row in stated])
    # All quotes that did not hold are asked about together, after all first replies: one more pass,
    # not one more for each piece.
    unverified = [[row for row in rows if isinstance(row, UnverifiedUnit)] for rows in checked]
    new_quotes = iter(_requote(work, unverified, session, model))
    units: dict[str, dict[str, ExtractedUnit]] = {owner: {} for owner in sources}
    for (owner, _), rows in zip(work, checked, strict=True):
        # Pieces of a cut session overlap by two turns. Only quotes of earlier pieces count: within
        # a piece one sentence may state several units.
        earlier = {(unit.turn, unit.quote) for unit in units[owner].values()}
        for row in rows:
            unit = next(new_quotes) if isinstance(row, UnverifiedUnit) else row
            if unit is not None:
                _take(units[owner], unit, owner, session, (unit.turn, unit.quote) in earlier)
    return {owner: ExtractedUnits(tuple(units[owner].values()), lost[owner]) for owner in sources}


Refuse = Callable[[str, str], None]
"""Counts what is wrong with a row, and its detail."""


def _check(row: UnitRow, piece: SourceText, refuse: Refuse) -> ExtractedUnit | UnverifiedUnit:
    turn = piece.turns.get(row.turn)
    exact = verbatim(row.quote, turn.text) if turn is not None else None
    unit = ExtractedUnit(row.turn, exact or row.quote, row.kind, row.statement.strip())
    unit = _with_details(unit, row, piece, refuse)
    if exact is not None:
        return unit
    return UnverifiedUnit(unit, "unknown turn" if turn is None else "quote not verbatim")


def _with_details(
    unit: ExtractedUnit, row: UnitRow, piece: SourceText, refuse: Refuse
) -> ExtractedUnit:
    """The unit with its details. One that does not hold is left out, counted."""
    place = f"turn {row.turn}: {unit.statement}"
    turn = piece.turns.get(row.turn)
    speakers = {turn.speaker.casefold(): turn.speaker for turn in piece.turns.values()}
    said_by = speakers.get(row.said_by.strip().casefold())
    if said_by is None:
        refuse("unknown speaker", f"{row.said_by!r} at {place}")
        # Whoever speaks in the turn is the likeliest to claim what it says.
        said_by = turn.speaker if turn is not None else None
    context = []
    for quoted in row.context:
        there = piece.turns.get(quoted.turn)
        exact = verbatim(quoted.quote, there.text) if there is not None else None
        if exact is None:
            refuse("context not verbatim", f"turn {quoted.turn}: {quoted.quote!r} for {place}")
        else:
            context.append((quoted.turn, exact))
    dates = _dates(row.first_day, row.last_day)
    if dates is None and (row.first_day or row.last_day):
        refuse("dates not readable", f"{row.first_day} to {row.last_day} at {place}")
    parts = tuple((part.part, part.words.strip()) for part in row.parts)
    if len(dict(parts)) < len(parts) or not all(words for _, words in parts):
        refuse("parts repeated or empty", f"{parts} at {place}")
        parts = ()
    plain_kind = ABSTENTION if row.kind == "unknown" else row.kind
    return replace(
        unit,
        kind=_BY_CHANGE.get(row.change, plain_kind),
        said_by=said_by,
        said_as=plain_kind,
        context=tuple(context),
        dates=dates,
        disputed=row.disputed,
        parts=parts if len(parts) > 1 else (),
    )


_DAY = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")


def _dates(first: str | None, last: str | None) -> tuple[str, str] | None:
    """The first and the last day; one alone is both."""
    start, end = first or last or "", last or first or ""
    if not _DAY.fullmatch(start) or not _DAY.fullmatch(end):
        return None
    # A year may end in one of its days: dates of different length are compared as far as both go.
    shorter = min(len(start), len(end))
    return (start, end) if start[:shorter] <= end[:shorter] else None


def _take(
    units: dict[str, ExtractedUnit],
    unit: ExtractedUnit,
    owner: str,
    session: ModelSession,
    overlaps: bool,
) -> None:
    """Keep each statement once, and of a turn that two pieces show each quote once."""
    refuse, place = session.ledger.refuse, f"turn {unit.turn}"
    if overlaps:
        refuse(owner, UNITS_STAGE, "quoted by the piece before", f"{place}: {unit.statement}")
    elif not unit.statement:
        refuse(owner, UNITS_STAGE, "empty statement", f"{place}: {unit.quote}")
    elif one_line(unit.statement) in units:
        refuse(owner, UNITS_STAGE, "duplicate", f"{place}: {unit.statement}")
    else:
        units[one_line(unit.statement)] = unit


def _requote(
    work: Sequence[tuple[str, SourceText]],
    unverified: Sequence[Sequence[UnverifiedUnit]],
    session: ModelSession,
    model: str,
) -> list[ExtractedUnit | None]:
    """Each unverified unit with a new quote that is verbatim, or None, refused and counted."""
    open_work = [
        (owner, piece, rows) for (owner, piece), rows in zip(work, unverified, strict=True) if rows
    ]
    blocks = [
        (owner, {"source": piece.as_data(), "rejected": _numbered(rows)})
        for owner, piece, rows in open_work
    ]
    replies = session.ask_pass(QUOTES_STAGE, blocks, QuotesReply, model)
    units: list[ExtractedUnit | None] = []
    for (owner, piece, rows), reply in zip(open_work, replies, strict=True):
        quotes = {} if reply is None else {row.number: row for row in reply.quotes}
        for number in sorted(quotes.keys() - range(1, len(rows) + 1)):
            session.ledger.refuse(owner, QUOTES_STAGE, "unknown number", f"number {number}")
        for number, unverified_unit in enumerate(rows, start=1):
            unit, row = unverified_unit.given, quotes.get(number)
            turn = piece.turns.get(row.turn) if row else None
            exact = verbatim(row.quote, turn.text) if row and turn else None
            if row and exact is not None:
                units.append(replace(unit, turn=row.turn, quote=exact, requoted=True))
            else:
                words = f"turn {unit.turn}: {unit.quote!r} for {unit.statement!r}"
                session.ledger.refuse(owner, UNITS_STAGE, unverified_unit.problem, words)
                units.append(None)
    return units


def _numbered(units: Sequence[UnverifiedUnit]) -> Quotable:
    return [
        {
            "number": number,
            "statement": unit.given.statement,
            "turn": unit.given.turn,
            "quote": unit.given.quote,
            "problem": unit.problem,
        }
        for number, unit in enumerate(units, start=1)
    ]


_MARKS = {
    **NARROW,
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
}
"""Curly, low, reversed, prime, accent and angle marks; full-width type."""


def verbatim(quote: str, text: str) -> str | None:
    """The piece of the text that the quote is, in the text's own spelling, or None.

    White space, kinds of quotation marks and full width are ignored, and nothing else: neither
    case nor other punctuation. A quote without a letter or digit is not a quote.
    """
    wanted, _ = normalized(quote)
    if not any(character.isalnum() for character in wanted):
        return None
    # `places` leads back to the original, because the package quotes the text and not its normal
    # form.
    compared, places = normalized(text)
    start = compared.find(wanted)
    if start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


def normalized(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each character its place in the original."""
    characters: list[str] = []
    places: list[int] = []
    before = ""
    for place, character in enumerate(text):
        if character.isspace():
            if characters and characters[-1] != " " and not stands_close(before):
                characters.append(" ")
                places.append(place)
            continue
        if characters and characters[-1] == " " and stands_close(character):
            characters.pop()
            places.pop()
        characters.append(_MARKS.get(character, character))
        places.append(place)
        before = character
    if characters and characters[-1] == " ":
        characters.pop()
        places.pop()
    return "".join(characters), places
