"""Salience: how important each memory of a store is, with or without the questions in sight.

The write-time pass sees the store in order of writing and no question. The query-aware pass sees
the questions too, which no memory system does when it writes: its scores are always shown apart.

A request holds memories in order of writing, up to 40 of them and 24,000 characters, and the last
ones written before them. Equal requests are answered from the cache.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import model_validator

from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.prompts import pass_prompt, pass_request
from memaudit.models.request import ModelParameters, Request
from memaudit.models.session import ModelSession

MAX_MEMORIES, MAX_CHARACTERS = 40, 24_000
MAX_EARLIER = 20
"""Memories before those of a request that it shows."""

HIGHEST = 10
STAGE, QUERY_STAGE = "salience", "query_salience"


# The names and docstrings of reply types are part of every request's hash.
class SalienceRow(StrictRow):
    """The score of one memory."""

    memory: int
    salience: int
    reason: str


class SalienceReply(StrictRow):
    """The reply of this pass."""

    scores: list[SalienceRow]

    @model_validator(mode="after")
    def _once_each(self) -> "SalienceReply":
        if len({row.memory for row in self.scores}) < len(self.scores):
            raise ValueError("a memory appears twice")
        return self


@dataclass(frozen=True, slots=True)
class SalienceChunk:
    """Places of a request's memories in the order of writing, and those shown before them."""

    places: tuple[int, ...]
    earlier: tuple[int, ...]


def chunks(texts: Sequence[str], places: Sequence[int]) -> Iterator[SalienceChunk]:
    """The memories at these places, in order; a text that is too long has a request of its own."""
    together: list[int] = []
    for place in places:
        length = sum(len(texts[at]) for at in (*together, place))
        if together and (len(together) == MAX_MEMORIES or length > MAX_CHARACTERS):
            yield _chunk(texts, together)
            together = []
        together.append(place)
    if together:
        yield _chunk(texts, together)


def _chunk(texts: Sequence[str], places: Sequence[int]) -> SalienceChunk:
    earlier: list[int] = []
    left = MAX_CHARACTERS
    for place in reversed(range(max(0, places[0] - MAX_EARLIER), places[0])):
        left -= len(texts[place])
        if left < 0:
            break
        earlier.insert(0, place)
    return SalienceChunk(tuple(places), tuple(earlier))


def salience_request(
    chunk: SalienceChunk,
    texts: Sequence[str],
    questions: Sequence[str],
    model: str,
    parameters: ModelParameters,
    second: bool = False,
) -> Request:
    blocks: dict[str, Quotable] = {
        "memories": [
            {"memory": number, "text": texts[place]}
            for number, place in enumerate(chunk.places, start=1)
        ]
    }
    if chunk.earlier:
        blocks["earlier"] = [texts[place] for place in chunk.earlier]
    if questions:
        blocks["questions"] = list(questions)
    if second:
        blocks["asked_before"] = "yes"
    prompt = pass_prompt(QUERY_STAGE if questions else STAGE)
    return pass_request(prompt, SalienceReply, model, parameters, **blocks)


def find_salience(
    texts: Sequence[str],
    session: ModelSession,
    model: str,
    owner: str,
    questions: Sequence[str] = (),
) -> list[Fraction | None]:
    """A score from 0 to 1 for each text, in order of writing; None where there was no answer.

    Memories without a score are asked about once more.
    """
    scores: list[Fraction | None] = [None] * len(texts)
    stage = QUERY_STAGE if questions else STAGE
    for second in (False, True):
        open_places = [place for place, score in enumerate(scores) if score is None]
        work = list(chunks(texts, open_places))
        requests = [
            (owner, salience_request(chunk, texts, questions, model, session.parameters, second))
            for chunk in work
        ]
        replies = session.ask(f"{stage} again" if second else stage, requests, SalienceReply)
        for chunk, reply in zip(work, replies, strict=True):
            for row in [] if reply is None else reply.scores:
                words = f"memory {row.memory}: {row.salience}"
                if not 1 <= row.memory <= len(chunk.places):
                    session.ledger.refuse(owner, stage, "score nobody asked for", words)
                    continue
                if not 0 <= row.salience <= HIGHEST:
                    session.ledger.refuse(owner, stage, f"score not from 0 to {HIGHEST}", words)
                    continue
                scores[chunk.places[row.memory - 1]] = Fraction(row.salience, HIGHEST)
    for text, score in zip(texts, scores, strict=True):
        if score is None:
            session.ledger.refuse(owner, stage, "memory without a score", text)
    return scores
