"""Pass b: evidence units from the source alone, each with a quote that is verbatim in its turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from memaudit.core.text import one_line
from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.session import ModelSession
from memaudit.natural.passes.source import SourceText, pieces
from memaudit.natural.prompts import pass_prompt, pass_request

UNITS_STAGE, QUOTES_STAGE = "units", "quotes"

UnitKind = Literal[
    "fact", "preference", "event", "temporal", "current", "supersession", "deletion", "stale",
    "abstention",
]  # fmt: skip


# The names and docstrings of reply types are part of every request's hash.
class UnitRow(StrictRow):
    """One unit of a reply."""

    turn: int
    quote: str
    kind: UnitKind
    statement: str


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
    """A unit whose quote is a piece of its turn."""

    turn: int
    quote: str
    kind: str
    statement: str
    requoted: bool = False
    """Whether the quote came with the second request."""


@dataclass(frozen=True, slots=True)
class UnverifiedUnit:
    """A unit as the model gave it, and what is wrong with its quote."""

    turn: int
    quote: str
    kind: str
    statement: str
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
    requests = [
        (
            owner,
            pass_request(
                pass_prompt(UNITS_STAGE, 1),
                UnitsReply,
                model,
                session.parameters,
                source=piece.as_data(),
            ),
        )
        for owner, piece in work
    ]
    replies = session.ask(UNITS_STAGE, requests, UnitsReply)
    lost = dict.fromkeys(sources, 0)
    checked: list[list[ExtractedUnit | UnverifiedUnit]] = []
    for (owner, piece), reply in zip(work, replies, strict=True):
        lost[owner] += reply is None
        checked.append([] if reply is None else [_check(row, piece) for row in reply.units])
    unverified = [[row for row in rows if isinstance(row, UnverifiedUnit)] for rows in checked]
    new_quotes = iter(_requote(work, unverified, session, model))
    units: dict[str, dict[str, ExtractedUnit]] = {owner: {} for owner in sources}
    for (owner, _), rows in zip(work, checked, strict=True):
        for row in rows:
            unit = next(new_quotes) if isinstance(row, UnverifiedUnit) else row
            if unit is not None:
                _take(units[owner], unit, owner, session)
    return {owner: ExtractedUnits(tuple(units[owner].values()), lost[owner]) for owner in sources}


def _check(row: UnitRow, piece: SourceText) -> ExtractedUnit | UnverifiedUnit:
    turn = piece.turns.get(row.turn)
    exact = verbatim(row.quote, turn.text) if turn is not None else None
    if exact is not None:
        return ExtractedUnit(row.turn, exact, row.kind, row.statement.strip())
    problem = "unknown turn" if turn is None else "quote not verbatim"
    return UnverifiedUnit(row.turn, row.quote, row.kind, row.statement.strip(), problem)


def _take(
    units: dict[str, ExtractedUnit], unit: ExtractedUnit, owner: str, session: ModelSession
) -> None:
    """Keep each statement once."""
    refuse, place = session.ledger.refuse, f"turn {unit.turn}"
    if not unit.statement:
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
        (owner, piece, rows)
        for (owner, piece), rows in zip(work, unverified, strict=True)
        if rows
    ]  # fmt: skip
    requests = [
        (
            owner,
            pass_request(
                pass_prompt(QUOTES_STAGE, 1), QuotesReply, model, session.parameters,
                source=piece.as_data(), rejected=_numbered(rows),
            ),
        )
        for owner, piece, rows in open_work
    ]  # fmt: skip
    replies = session.ask(QUOTES_STAGE, requests, QuotesReply)
    units: list[ExtractedUnit | None] = []
    for (owner, piece, rows), reply in zip(open_work, replies, strict=True):
        quotes = {} if reply is None else {row.number: row for row in reply.quotes}
        for number in sorted(quotes.keys() - range(1, len(rows) + 1)):
            session.ledger.refuse(owner, QUOTES_STAGE, "unknown number", f"number {number}")
        for number, unit in enumerate(rows, start=1):
            row = quotes.get(number)
            turn = piece.turns.get(row.turn) if row else None
            exact = verbatim(row.quote, turn.text) if row and turn else None
            if row and exact is not None:
                units.append(ExtractedUnit(row.turn, exact, unit.kind, unit.statement, True))
            else:
                words = f"turn {unit.turn}: {unit.quote!r} for {unit.statement!r}"
                session.ledger.refuse(owner, UNITS_STAGE, unit.problem, words)
                units.append(None)
    return units


def _numbered(units: Sequence[UnverifiedUnit]) -> Quotable:
    return [
        {
            "number": number,
            "statement": unit.statement,
            "turn": unit.turn,
            "quote": unit.quote,
            "problem": unit.problem,
        }
        for number, unit in enumerate(units, start=1)
    ]


_MARKS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
}
"""Curly, low, reversed, prime, accent and angle marks."""


def verbatim(quote: str, text: str) -> str | None:
    """The piece of the text that the quote is, in the text's own spelling, or None.

    White space and kinds of quotation marks are ignored, and nothing else: neither case nor other
    punctuation. A quote without a letter or digit is not a quote.
    """
    wanted, _ = normalized(quote)
    if not any(character.isalnum() for character in wanted):
        return None
    compared, places = normalized(text)
    start = compared.find(wanted)
    if start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


def normalized(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each character its place in the original."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if character.isspace():
            if characters and characters[-1] != " ":
                characters.append(" ")
                places.append(place)
            continue
        characters.append(_MARKS.get(character, character))
        places.append(place)
    if characters and characters[-1] == " ":
        characters.pop()
        places.pop()
    return "".join(characters), places
