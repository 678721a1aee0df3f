"""Pass b: evidence units from the source alone, each with a quote that stands in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memaudit.models.request import Request
from memaudit.natural.passes.desk import Desk
from memaudit.natural.passes.prompt import prompt
from memaudit.natural.passes.quotes import verbatim
from memaudit.natural.passes.reply import StrictRow
from memaudit.natural.passes.requote import Doubtful, requote
from memaudit.natural.passes.source import SourceText, pieces
from memaudit.natural.sentences import one_line

STAGE = "units"

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


def find_units(sources: Mapping[str, SourceText], desk: Desk, model: str) -> dict[str, Units]:
    """Units for each source, piece by piece; sees sources and nothing else.

    A unit whose quote is not in its turn is asked about once more, then refused and counted.
    """
    used = prompt(STAGE)
    work = [(owner, piece) for owner, source in sources.items() for piece in pieces(source)]
    requests = [
        (
            owner,
            Request.for_reply(
                UnitsReply, model, used.messages(source=piece.as_data()), used.template,
                desk.parameters,
            ),
        )
        for owner, piece in work
    ]  # fmt: skip
    replies = desk.ask(STAGE, requests, UnitsReply)
    lost = dict.fromkeys(sources, 0)
    checked: list[list[FoundUnit | Doubtful]] = []
    for (owner, piece), reply in zip(work, replies, strict=True):
        lost[owner] += reply is None
        checked.append([] if reply is None else [_check(row, piece) for row in reply.units])
    doubts = [[one for one in rows if isinstance(one, Doubtful)] for rows in checked]
    again = iter(requote(work, doubts, desk, model))
    found: dict[str, dict[str, FoundUnit]] = {owner: {} for owner in sources}
    for (owner, _), rows in zip(work, checked, strict=True):
        for row in rows:
            unit = _second(row, next(again)) if isinstance(row, Doubtful) else row
            if unit is not None:
                _keep(found[owner], unit, owner, desk)
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


def _keep(found: dict[str, FoundUnit], unit: FoundUnit, owner: str, desk: Desk) -> None:
    """Keep a statement once."""
    if not unit.statement:
        desk.ledger.refuse(owner, STAGE, "empty statement", f"turn {unit.turn}: {unit.quote}")
    elif one_line(unit.statement) in found:
        desk.ledger.refuse(owner, STAGE, "duplicate", f"turn {unit.turn}: {unit.statement}")
    else:
        found[one_line(unit.statement)] = unit
