"""Pass a: candidate memories from the source alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memaudit.core.text import one_line
from memaudit.models.prompt import StrictRow
from memaudit.models.request import ModelParameters, Request
from memaudit.models.session import ModelSession
from memaudit.natural.passes import first_replies
from memaudit.natural.passes.source import SourceText, pieces_for
from memaudit.natural.prompts import LATEST, long_reply, pass_prompt, pass_request

STAGE = "memories"

MemoryKind = Literal[
    "compound_update", "tombstone", "summary", "edge", "plan", "rule", "skill", "preference", "fact"
]
"""In the order of precedence of the prompt."""


# The names and docstrings of reply types are part of every request's hash.
class MemoryRow(StrictRow):
    """One memory of a reply."""

    turns: list[int]
    kind: MemoryKind
    text: str


class MemoriesReply(StrictRow):
    """The reply of this pass."""

    memories: list[MemoryRow]


@dataclass(frozen=True, slots=True)
class ExtractedMemory:
    """A memory that can be written as soon as its last cited turn has arrived."""

    turns: tuple[int, ...]
    kind: str
    text: str

    @property
    def turn(self) -> int:
        return self.turns[-1]


@dataclass(frozen=True, slots=True)
class ExtractedMemories:
    """The memories of a conversation; `lost` pieces of the source had no valid reply."""

    items: tuple[ExtractedMemory, ...]
    lost: int = 0


def find_memories(
    sources: Mapping[str, SourceText],
    session: ModelSession,
    model: str,
    hold: bool = False,
    prompts: int = LATEST,
) -> dict[str, ExtractedMemories]:
    """Memories for each source, piece by piece. Sees sources and nothing else."""
    work = [
        (owner, piece) for owner, source in sources.items() for piece in pieces_for(source, prompts)
    ]
    requests = [
        (owner, memories_request(piece, model, session.parameters, prompts))
        for owner, piece in work
    ]
    replies: Sequence[MemoriesReply | first_replies.MemoriesReply | None]
    if prompts > 1:
        replies = session.ask(STAGE, requests, MemoriesReply, hold)
    else:
        replies = session.ask(STAGE, requests, first_replies.MemoriesReply, hold)
    memories: dict[str, _ByTurnAndText] = {owner: {} for owner in sources}
    lost = dict.fromkeys(sources, 0)
    for (owner, piece), reply in zip(work, replies, strict=True):
        if reply is None:
            lost[owner] += 1
            continue
        for row in reply.memories:
            _take(memories[owner], row, piece, owner, session)
    return {
        owner: ExtractedMemories(tuple(memories[owner].values()), lost[owner]) for owner in sources
    }


def memories_request(
    piece: SourceText, model: str, parameters: ModelParameters, prompts: int = LATEST
) -> Request:
    prompt, source = pass_prompt(STAGE, prompts), piece.as_data()
    if prompts > 1:
        return pass_request(prompt, MemoriesReply, model, long_reply(parameters), source=source)
    return pass_request(prompt, first_replies.MemoriesReply, model, parameters, source=source)


_ByTurnAndText = dict[tuple[int, str], ExtractedMemory]


def _take(
    memories: _ByTurnAndText,
    row: MemoryRow | first_replies.MemoryRow,
    piece: SourceText,
    owner: str,
    session: ModelSession,
) -> None:
    """Keep a memory that cites turns it was shown, once."""
    text = row.text.strip()
    turns = tuple(sorted(set(row.turns)))
    if unknown := [turn for turn in turns if turn not in piece.turns]:
        session.ledger.refuse(owner, STAGE, "unknown turn", f"cites turn {unknown[0]}: {text}")
    elif not text or not turns:
        what = "no turn cited" if text else "empty text"
        session.ledger.refuse(owner, STAGE, what, f"turns {list(turns)}: {text}")
    elif (turns[-1], one_line(text)) in memories:
        session.ledger.refuse(owner, STAGE, "duplicate", f"at turn {turns[-1]}: {text}")
    else:
        memories[turns[-1], one_line(text)] = ExtractedMemory(turns, row.kind, text)
