"""The one second asking about quotes that are not in their turns."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import model_validator

from memaudit.models.quoted import Quotable
from memaudit.models.request import Request
from memaudit.natural.passes.desk import Desk
from memaudit.natural.passes.prompt import prompt
from memaudit.natural.passes.quotes import verbatim
from memaudit.natural.passes.reply import StrictRow
from memaudit.natural.passes.source import SourceText

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
    desk: Desk,
    model: str,
) -> list[tuple[int, str] | None]:
    """For each doubt in order its turn and a quote that holds, or None, refused and counted."""
    used = prompt(STAGE)
    open_work = [(owner, piece, rows) for (owner, piece), rows in zip(work, doubts, strict=True)]
    open_work = [(owner, piece, rows) for owner, piece, rows in open_work if rows]
    requests = [
        (
            owner,
            Request.for_reply(
                QuotesReply, model,
                used.messages(source=piece.as_data(), rejected=_listed(rows)),
                used.template, desk.parameters,
            ),
        )
        for owner, piece, rows in open_work
    ]  # fmt: skip
    replies = desk.ask(STAGE, requests, QuotesReply)
    found: list[tuple[int, str] | None] = []
    for (owner, piece, rows), reply in zip(open_work, replies, strict=True):
        given = {} if reply is None else {one.number: one for one in reply.quotes}
        for number in sorted(given.keys() - range(1, len(rows) + 1)):
            desk.ledger.refuse(owner, STAGE, "unknown number", f"number {number}")
        for number, doubt in enumerate(rows, start=1):
            row = given.get(number)
            turn = piece.turns.get(row.turn) if row else None
            exact = verbatim(row.quote, turn.text) if row and turn else None
            if row and exact is not None:
                found.append((row.turn, exact))
            else:
                _refuse(desk, owner, doubt)
                found.append(None)
    return found


def _refuse(desk: Desk, owner: str, doubt: Doubtful) -> None:
    words = f"turn {doubt.turn}: {doubt.quote!r} for {doubt.statement!r}"
    desk.ledger.refuse(owner, "units", doubt.problem, words)


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
