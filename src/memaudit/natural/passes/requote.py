"""The one second asking about quotes that are not in their turns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, model_validator

from memaudit.models.request import Request
from memaudit.natural.passes.desk import Desk
from memaudit.natural.passes.prompt import prompt
from memaudit.natural.passes.quotes import verbatim
from memaudit.natural.passes.source import SourceText

STAGE = "quotes"


class QuoteRow(BaseModel):
    """A new quote for a statement."""

    model_config = ConfigDict(extra="forbid")

    number: int
    turn: int
    quote: str = Field(min_length=1, max_length=2000)


class QuotesReply(BaseModel):
    """The reply of the second asking."""

    model_config = ConfigDict(extra="forbid")

    quotes: list[QuoteRow] = Field(max_length=300)

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
) -> Iterator[tuple[int, str] | None]:
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
    for (owner, piece, rows), reply in zip(open_work, replies, strict=True):
        given = {} if reply is None else {one.number: one for one in reply.quotes}
        for number in sorted(given.keys() - range(1, len(rows) + 1)):
            desk.ledger.refuse(owner, STAGE, "unknown number", f"number {number}")
        for number, doubt in enumerate(rows, start=1):
            row = given.get(number)
            turn = piece.turns.get(row.turn) if row else None
            exact = verbatim(row.quote, turn.text) if row and turn else None
            if row and exact is not None:
                yield row.turn, exact
            else:
                _refuse(desk, owner, doubt)
                yield None


def _refuse(desk: Desk, owner: str, doubt: Doubtful) -> None:
    words = f"turn {doubt.turn}: {doubt.quote!r} for {doubt.statement!r}"
    desk.ledger.refuse(owner, "units", doubt.problem, words)


def _listed(rows: Sequence[Doubtful]) -> list[dict[str, str | int]]:
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
