"""Passes over a finished store, as a model reads it: are its memories said, and which are alike?

Support is the opposite direction of coverage: whether the turns of a conversation say what a memory
says. A request holds up to 15 memories in order of writing and the turns that are nearest to each
of them, in the order of the conversation. It has no units, no questions, and nothing about the
system that wrote the memories.

Two memories of one store are the same, in conflict, or neither.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import model_validator

from memaudit.kernel.package.package import Experience
from memaudit.models.prompts import Quotable, StrictRow
from memaudit.models.session import ModelSession

MAX_MEMORIES, MAX_CHARACTERS = 15, 24_000
STAGE = "support"

Verdict = Literal["supported", "partly", "not"]


# The names and docstrings of reply types are part of every request's hash.
class SupportRow(StrictRow):
    """The verdict on one memory."""

    memory: int
    support: Verdict
    turn: int | None
    reason: str


class SupportReply(StrictRow):
    """The reply of this pass."""

    verdicts: list[SupportRow]

    @model_validator(mode="after")
    def _once_each(self) -> "SupportReply":
        if len({row.memory for row in self.verdicts}) < len(self.verdicts):
            raise ValueError("a memory appears twice")
        return self


@dataclass(frozen=True, slots=True)
class MemoryToCheck:
    """A memory, and the places of the turns that are nearest to it."""

    text: str
    near: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """What a model says of one memory; `turn` is a place among the turns."""

    verdict: Verdict
    turn: int | None
    reason: str


def find_support(
    memories: Sequence[MemoryToCheck],
    turns: Sequence[Experience],
    session: ModelSession,
    model: str,
    owner: str,
) -> list[Support | None]:
    """A verdict on each memory; None where there was no answer. Those are asked about once more."""
    answers: list[Support | None] = [None] * len(memories)
    for again in (False, True):
        left = [place for place, answer in enumerate(answers) if answer is None]
        work = list(_chunks(memories, turns, left))
        blocks = [(owner, _support_blocks(memories, turns, *chunk)) for chunk in work]
        replies = session.ask_pass(STAGE, blocks, SupportReply, model, again=again)
        for (places, shown), reply in zip(work, replies, strict=True):
            for row in [] if reply is None else reply.verdicts:
                if not 1 <= row.memory <= len(places):
                    words = f"memory {row.memory}: {row.support}"
                    session.ledger.refuse(owner, STAGE, "verdict nobody asked for", words)
                    continue
                is_shown = row.turn is not None and 1 <= row.turn <= len(shown)
                turn = shown[row.turn - 1] if is_shown and row.turn is not None else None
                answers[places[row.memory - 1]] = Support(row.support, turn, row.reason)
    for memory, answer in zip(memories, answers, strict=True):
        if answer is None:
            session.ledger.refuse(owner, STAGE, "memory without a verdict", memory.text)
    return answers


def _chunks(
    memories: Sequence[MemoryToCheck], turns: Sequence[Experience], places: Sequence[int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Places of memories that are asked about together, and of the turns shown with them."""
    together: list[int] = []
    shown: set[int] = set()
    for place in places:
        wanted = shown | set(memories[place].near)
        length = sum(len(turns[at].text) for at in wanted) + sum(
            len(memories[at].text) for at in (*together, place)
        )
        if together and (len(together) == MAX_MEMORIES or length > MAX_CHARACTERS):
            yield together, sorted(shown)
            together, wanted = [], set(memories[place].near)
        together.append(place)
        shown = wanted
    if together:
        yield together, sorted(shown)


def _support_blocks(
    memories: Sequence[MemoryToCheck],
    turns: Sequence[Experience],
    places: Sequence[int],
    shown: Sequence[int],
) -> dict[str, Quotable]:
    return {
        "turns": [
            {
                "turn": number,
                "time": turns[at].timestamp or "",
                "speaker": turns[at].speaker or "",
                "text": turns[at].text,
            }
            for number, at in enumerate(shown, start=1)
        ],
        "memories": [
            {"memory": number, "text": memories[at].text}
            for number, at in enumerate(places, start=1)
        ],
    }


MAX_PAIRS = 30
PAIRS_STAGE = "memory_pairs"

PairVerdict = Literal["same", "conflict", "other"]
TextPair = tuple[str, str]


# The names and docstrings of reply types are part of every request's hash.
class PairRow(StrictRow):
    """The verdict on one pair."""

    pair: int
    verdict: PairVerdict
    reason: str


class PairReply(StrictRow):
    """The reply of this pass."""

    verdicts: list[PairRow]

    @model_validator(mode="after")
    def _once_each(self) -> "PairReply":
        if len({row.pair for row in self.verdicts}) < len(self.verdicts):
            raise ValueError("a pair appears twice")
        return self


def find_pair_verdicts(
    pairs: Sequence[TextPair], session: ModelSession, model: str, owner: str
) -> list[PairVerdict | None]:
    """A verdict on each pair; None where there was no answer. Those are asked about once more."""
    verdicts: list[PairVerdict | None] = [None] * len(pairs)
    for again in (False, True):
        left = [place for place, verdict in enumerate(verdicts) if verdict is None]
        work = list(_pair_chunks(pairs, left))
        blocks = [(owner, {"pairs": _pair_rows(pairs, places)}) for places in work]
        replies = session.ask_pass(PAIRS_STAGE, blocks, PairReply, model, again=again)
        for places, reply in zip(work, replies, strict=True):
            for row in [] if reply is None else reply.verdicts:
                if 1 <= row.pair <= len(places):
                    verdicts[places[row.pair - 1]] = row.verdict
                else:
                    words = f"pair {row.pair}: {row.verdict}"
                    session.ledger.refuse(owner, PAIRS_STAGE, "verdict nobody asked for", words)
    for (first, _), verdict in zip(pairs, verdicts, strict=True):
        if verdict is None:
            session.ledger.refuse(owner, PAIRS_STAGE, "pair without a verdict", first)
    return verdicts


def _pair_rows(pairs: Sequence[TextPair], places: Sequence[int]) -> Quotable:
    return [
        {"pair": number, "first": pairs[at][0], "second": pairs[at][1]}
        for number, at in enumerate(places, start=1)
    ]


def _pair_chunks(pairs: Sequence[TextPair], places: Sequence[int]) -> Iterator[list[int]]:
    together: list[int] = []
    length = 0
    for place in places:
        own = sum(map(len, pairs[place]))
        if together and (len(together) == MAX_PAIRS or length + own > MAX_CHARACTERS):
            yield together
            together, length = [], 0
        together.append(place)
        length += own
    if together:
        yield together
