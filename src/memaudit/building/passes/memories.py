"""Pass a: candidate memories from the source alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memaudit.building.passes.source import SourceText, pieces
from memaudit.kernel.words.text import one_line
from memaudit.models.prompts import StrictRow
from memaudit.models.session import ModelSession

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
) -> dict[str, ExtractedMemories]:
    """Memories for each source, piece by piece. Sees sources and nothing else."""
    work = [(owner, piece) for owner, source in sources.items() for piece in pieces(source)]
    blocks = [(owner, {"source": piece.as_data()}) for owner, piece in work]
    replies = session.ask_pass(STAGE, blocks, MemoriesReply, model, long=True)
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


_ByTurnAndText = dict[tuple[int, str], ExtractedMemory]


def _take(
    memories: _ByTurnAndText,
    row: MemoryRow,
    piece: SourceText,
    owner: str,
    session: ModelSession,
) -> None:
    """Keep a memory that cites turns it was shown, once."""
    text = row.text.strip()
    # A memory can be written as soon as its last turn was said, and never before.
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
