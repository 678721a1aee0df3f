"""Pass a: candidate memories from the source alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memaudit.core.text import one_line
from memaudit.models.prompt import StrictRow
from memaudit.models.request import Request
from memaudit.models.session import ModelSession
from memaudit.natural.passes.source import SourceText, pieces
from memaudit.natural.prompts import pass_prompt

STAGE = "memories"

MemoryKind = Literal[
    "fact", "preference", "event", "summary", "edge", "tombstone", "compound_update"
]


class MemoryRow(StrictRow):
    """One memory of a reply."""

    turns: list[int]
    kind: MemoryKind
    text: str


class MemoriesReply(StrictRow):
    """The reply of this pass."""

    memories: list[MemoryRow]


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory that could be written once its last cited turn was there."""

    turns: tuple[int, ...]
    kind: str
    text: str

    @property
    def turn(self) -> int:
        """The latest turn it draws on."""
        return self.turns[-1]


@dataclass(frozen=True, slots=True)
class Memories:
    """The memories of a conversation; `lost` pieces of the source brought no valid reply."""

    found: tuple[FoundMemory, ...]
    lost: int = 0


def find_memories(
    sources: Mapping[str, SourceText], session: ModelSession, model: str, hold: bool = False
) -> dict[str, Memories]:
    """Memories for each source, piece by piece; sees sources and nothing else."""
    used = pass_prompt(STAGE)
    work = [(owner, piece) for owner, source in sources.items() for piece in pieces(source)]
    requests = [
        (
            owner,
            Request.for_reply(
                MemoriesReply, model, used.messages(source=piece.as_data()), used.template,
                session.parameters,
            ),
        )
        for owner, piece in work
    ]  # fmt: skip
    replies = session.ask(STAGE, requests, MemoriesReply, hold)
    found: dict[str, _Found] = {owner: {} for owner in sources}
    lost = dict.fromkeys(sources, 0)
    for (owner, piece), reply in zip(work, replies, strict=True):
        if reply is None:
            lost[owner] += 1
            continue
        for row in reply.memories:
            _take(found[owner], row, piece, owner, session)
    return {owner: Memories(tuple(found[owner].values()), lost[owner]) for owner in sources}


_Found = dict[tuple[int, str], FoundMemory]
"""By turn and text without spacing."""


def _take(
    found: _Found, row: MemoryRow, piece: SourceText, owner: str, session: ModelSession
) -> None:
    """Keep a memory that cites turns it was shown, once."""
    text = row.text.strip()
    turns = tuple(sorted(set(row.turns)))
    if unknown := [turn for turn in turns if turn not in piece.turns]:
        session.ledger.refuse(owner, STAGE, "unknown turn", f"cites turn {unknown[0]}: {text}")
    elif not text or not turns:
        what = "no turn cited" if text else "empty text"
        session.ledger.refuse(owner, STAGE, what, f"turns {list(turns)}: {text}")
    elif (turns[-1], one_line(text)) in found:
        session.ledger.refuse(owner, STAGE, "duplicate", f"at turn {turns[-1]}: {text}")
    else:
        found[turns[-1], one_line(text)] = FoundMemory(turns, row.kind, text)
