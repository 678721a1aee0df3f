"""Quotes that stand in their source word for word.

Compared are texts in which every run of white space is one space and every kind of single or
double quotation mark is the plain one; nothing else is evened out, neither case nor other
punctuation. What is kept is the source's own spelling.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from memaudit.core.text import one_line
from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.passes.source import SourceText, pieces
from memaudit.natural.prompts import pass_prompt

_MARKS = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
}
"""Curly, low, reversed, prime, accent and angle marks."""


def evened(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each letter of it the place it came from."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] != " ":
                letters.append(" ")
                places.append(place)
            continue
        letters.append(_MARKS.get(letter, letter))
        places.append(place)
    if letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return "".join(letters), places


def verbatim(quote: str, text: str) -> str | None:
    """The piece of the text that the quote is, or None; a quote without a letter is none."""
    wanted, _ = evened(quote)
    if not any(letter.isalnum() for letter in wanted):
        return None
    compared, places = evened(text)
    start = compared.find(wanted)
    if start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


STAGE = "quotes"


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
        if len({one.number for one in self.quotes}) < len(self.quotes):
            raise ValueError("a number appears twice")
        return self


@dataclass(frozen=True, slots=True)
class Doubtful:
    """A unit as the model gave it, and why its quote does not hold."""

    turn: int
    quote: str
    kind: str
    statement: str
    problem: str


def requote(
    work: Sequence[tuple[str, SourceText]],
    doubts: Sequence[Sequence[Doubtful]],
    session: ModelSession,
    model: str,
) -> list[tuple[int, str] | None]:
    """For each doubt in order its turn and a quote that holds, or None, refused and counted."""
    used = pass_prompt(STAGE)
    open_work = [(owner, piece, rows) for (owner, piece), rows in zip(work, doubts, strict=True)]
    open_work = [(owner, piece, rows) for owner, piece, rows in open_work if rows]
    requests = [
        (
            owner,
            Request.for_reply(
                QuotesReply, model,
                used.messages(source=piece.as_data(), rejected=_listed(rows)),
                used.template, session.parameters,
            ),
        )
        for owner, piece, rows in open_work
    ]  # fmt: skip
    replies = session.ask(STAGE, requests, QuotesReply)
    found: list[tuple[int, str] | None] = []
    for (owner, piece, rows), reply in zip(open_work, replies, strict=True):
        given = {} if reply is None else {one.number: one for one in reply.quotes}
        for number in sorted(given.keys() - range(1, len(rows) + 1)):
            session.ledger.refuse(owner, STAGE, "unknown number", f"number {number}")
        for number, doubt in enumerate(rows, start=1):
            row = given.get(number)
            turn = piece.turns.get(row.turn) if row else None
            exact = verbatim(row.quote, turn.text) if row and turn else None
            if row and exact is not None:
                found.append((row.turn, exact))
            else:
                _refuse(session, owner, doubt)
                found.append(None)
    return found


def _refuse(session: ModelSession, owner: str, doubt: Doubtful) -> None:
    words = f"turn {doubt.turn}: {doubt.quote!r} for {doubt.statement!r}"
    session.ledger.refuse(owner, "units", doubt.problem, words)


def _listed(rows: Sequence[Doubtful]) -> Quotable:
    """The doubts as the prompt shows them."""
    return [
        {
            "number": number,
            "statement": one.statement,
            "turn": one.turn,
            "quote": one.quote,
            "problem": one.problem,
        }
        for number, one in enumerate(rows, start=1)
    ]


UNITS_STAGE = "units"

UnitKind = Literal[
    "fact", "preference", "event", "temporal", "current", "supersession", "deletion", "stale",
    "abstention",
]  # fmt: skip


class UnitRow(StrictRow):
    """One unit of a reply."""

    turn: int
    quote: str
    kind: UnitKind
    statement: str


class UnitsReply(StrictRow):
    """The reply of this pass."""

    units: list[UnitRow]


@dataclass(frozen=True, slots=True)
class FoundUnit:
    """A unit whose quote is a piece of its turn."""

    turn: int
    quote: str
    kind: str
    statement: str
    requoted: bool = False
    """Whether the quote came with the second asking."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a conversation; `lost` pieces of the source brought no valid reply."""

    found: tuple[FoundUnit, ...]
    lost: int = 0


def find_units(
    sources: Mapping[str, SourceText], session: ModelSession, model: str
) -> dict[str, Units]:
    """Units for each source, piece by piece; sees sources and nothing else.

    A unit whose quote is not in its turn is asked about once more, then refused and counted.
    """
    used = pass_prompt(UNITS_STAGE)
    work = [(owner, piece) for owner, source in sources.items() for piece in pieces(source)]
    requests = [
        (
            owner,
            Request.for_reply(
                UnitsReply, model, used.messages(source=piece.as_data()), used.template,
                session.parameters,
            ),
        )
        for owner, piece in work
    ]  # fmt: skip
    replies = session.ask(UNITS_STAGE, requests, UnitsReply)
    lost = dict.fromkeys(sources, 0)
    checked: list[list[FoundUnit | Doubtful]] = []
    for (owner, piece), reply in zip(work, replies, strict=True):
        lost[owner] += reply is None
        checked.append([] if reply is None else [_check(row, piece) for row in reply.units])
    doubts = [[one for one in rows if isinstance(one, Doubtful)] for rows in checked]
    again = iter(requote(work, doubts, session, model))
    found: dict[str, dict[str, FoundUnit]] = {owner: {} for owner in sources}
    for (owner, _), rows in zip(work, checked, strict=True):
        for row in rows:
            unit = _second(row, next(again)) if isinstance(row, Doubtful) else row
            if unit is not None:
                _keep(found[owner], unit, owner, session)
    return {owner: Units(tuple(found[owner].values()), lost[owner]) for owner in sources}


def _check(row: UnitRow, piece: SourceText) -> FoundUnit | Doubtful:
    """The unit, or what is wrong with its quote."""
    turn = piece.turns.get(row.turn)
    exact = verbatim(row.quote, turn.text) if turn is not None else None
    if exact is not None:
        return FoundUnit(row.turn, exact, row.kind, row.statement.strip())
    problem = "unknown turn" if turn is None else "quote not verbatim"
    return Doubtful(row.turn, row.quote, row.kind, row.statement.strip(), problem)


def _second(doubt: Doubtful, quote: tuple[int, str] | None) -> FoundUnit | None:
    """The unit with its new quote, if that one holds."""
    if quote is None:
        return None
    return FoundUnit(*quote, doubt.kind, doubt.statement, requoted=True)


def _keep(found: dict[str, FoundUnit], unit: FoundUnit, owner: str, session: ModelSession) -> None:
    """Keep a statement once."""
    if not unit.statement:
        session.ledger.refuse(
            owner, UNITS_STAGE, "empty statement", f"turn {unit.turn}: {unit.quote}"
        )
    elif one_line(unit.statement) in found:
        session.ledger.refuse(
            owner, UNITS_STAGE, "duplicate", f"turn {unit.turn}: {unit.statement}"
        )
    else:
        found[one_line(unit.statement)] = unit
