"""Pairs of memories of one store, as a model reads them: the same, in conflict, or neither."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import model_validator

from memaudit.models.prompt import Quotable, StrictRow
from memaudit.models.prompts import pass_prompt, pass_request
from memaudit.models.session import ModelSession

MAX_PAIRS, MAX_CHARACTERS = 30, 24_000
STAGE = "memory_pairs"

Verdict = Literal["same", "conflict", "other"]
TextPair = tuple[str, str]


# The names and docstrings of reply types are part of every request's hash.
class PairRow(StrictRow):
    """The verdict on one pair."""

    pair: int
    verdict: Verdict
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
) -> list[Verdict | None]:
    """A verdict on each pair; None where there was no answer. Those are asked about once more."""
    found: list[Verdict | None] = [None] * len(pairs)
    for second in (False, True):
        left = [place for place, verdict in enumerate(found) if verdict is None]
        work = list(_chunks(pairs, left))
        requests = []
        for places in work:
            blocks: dict[str, Quotable] = {
                "pairs": [
                    {"pair": number, "first": pairs[at][0], "second": pairs[at][1]}
                    for number, at in enumerate(places, start=1)
                ]
            }
            if second:
                blocks["asked_before"] = "yes"
            prompt = pass_prompt(STAGE)
            request = pass_request(prompt, PairReply, model, session.parameters, **blocks)
            requests.append((owner, request))
        replies = session.ask(f"{STAGE} again" if second else STAGE, requests, PairReply)
        for places, reply in zip(work, replies, strict=True):
            for row in [] if reply is None else reply.verdicts:
                if 1 <= row.pair <= len(places):
                    found[places[row.pair - 1]] = row.verdict
                else:
                    words = f"pair {row.pair}: {row.verdict}"
                    session.ledger.refuse(owner, STAGE, "verdict nobody asked for", words)
    for (first, _), verdict in zip(pairs, found, strict=True):
        if verdict is None:
            session.ledger.refuse(owner, STAGE, "pair without a verdict", first)
    return found


def _chunks(pairs: Sequence[TextPair], places: Sequence[int]) -> Iterator[list[int]]:
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
