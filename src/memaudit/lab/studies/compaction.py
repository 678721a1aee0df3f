"""Compaction: a store rewritten to fit a budget, by a model or by joining extracts.

The result is a store like any other. Its texts are judged like everybody's, so what compaction
loses or invents shows in its score. Nothing here sees units, questions or labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import Field, model_validator

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore, ImportCount, Memory
from memaudit.kernel.package.cost import cost_rule
from memaudit.kernel.score.priced_store import writing_order
from memaudit.kernel.words.text import sentences
from memaudit.lab.sweeps.writers.lexical import content_words, cue_worth
from memaudit.models.prompts import StrictRow, long_reply, pass_prompt, pass_request
from memaudit.models.session import ModelSession

STAGE = "compaction"
MAX_CHARACTERS = 60_000
FEWEST_WORDS = 3
"""Shorter extracts say nothing by themselves."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """One new memory and the ids of those it was made from."""

    text: str
    sources: tuple[str, ...]


# The names and docstrings of reply types are part of every request's hash.
class CompactedRow(StrictRow):
    """One memory of a reply."""

    text: str
    sources: list[int] = Field(alias="from")


class CompactionReply(StrictRow):
    """The reply of this pass."""

    memories: list[CompactedRow]

    @model_validator(mode="after")
    def _has_some(self) -> "CompactionReply":
        if not any(row.text.strip() for row in self.memories):
            raise ValueError("no memory is left")
        return self


def by_extracts(memories: Sequence[Memory], budget: Fraction, rule: str) -> list[Compacted]:
    """The sentences that are worth most for their cost and new, joined memory by memory.

    The worth of a sentence is that of its cues, times the share of its words that no kept one has.
    """
    measure = cost_rule(rule)
    pieces = [
        (place, number, text)
        for place, memory in enumerate(memories)
        for number, text in enumerate(_sentences(memory.text))
    ]
    # Greedy, and ranked again after every sentence: what one sentence says makes the next worth
    # less.
    left, said = budget, set[str]()
    chosen: dict[int, dict[int, str]] = {}
    waiting = dict.fromkeys(pieces)
    while waiting:
        ranked = []
        for piece in waiting:
            place, number, text = piece
            before = " ".join(chosen.get(place, {}).values())
            # The cost of joining, not of the sentence alone: a rule may charge for every memory.
            cost = measure(f"{before} {text}".strip()) - (measure(before) if before else 0)
            words = content_words(text)
            new = len(words - said) / len(words) if words else 0.0
            worth = (0.5 + cue_worth(text)) * new
            if cost <= left and worth > 0:
                ranked.append((-worth / max(cost, 1), place, number, text, cost))
        if not ranked:
            break
        _, place, number, text, cost = min(ranked)
        chosen.setdefault(place, {})[number] = text
        left -= cost
        said |= content_words(text)
        del waiting[place, number, text]
    return [
        Compacted(" ".join(text for _, text in sorted(own.items())), (memories[place].id,))
        for place, own in sorted(chosen.items())
    ]


def _sentences(text: str) -> list[str]:
    """Sentences, and the lines of records: a note with fields is cut at its fields too."""
    pieces = [piece.strip() for line in text.splitlines() for piece in sentences(line)]
    return [piece for piece in pieces if len(piece.split()) >= FEWEST_WORDS]


def by_model(
    memories: Sequence[Memory],
    budget: Fraction,
    rule: str,
    session: ModelSession,
    model: str,
    owner: str,
) -> list[Compacted]:
    """What a model makes of them; new memories that no longer fit are left out, the last first.

    A memory that names no source it was shown is refused: it would be nobody's.
    """
    if sum(len(memory.text) for memory in memories) > MAX_CHARACTERS:
        raise MemAuditError(
            f"{owner}: the store has more than {MAX_CHARACTERS:,} characters; compact the memories "
            "of one conversation or user at a time"
        )
    prompt, parameters = pass_prompt(STAGE), long_reply(session.parameters)
    request = pass_request(
        prompt,
        CompactionReply,
        model,
        parameters,
        # Numbers, not ids: an id may be long, or say what a memory is about.
        memories=[
            {"memory": number, "text": memory.text}
            for number, memory in enumerate(memories, start=1)
        ],
        words=int(budget),
    )
    (reply,) = session.ask(STAGE, [(owner, request)], CompactionReply)
    if reply is None:
        raise MemAuditError(f"{owner}: {model} gave no valid reply; run the command again")
    measure = cost_rule(rule)
    left, kept = budget, list[Compacted]()
    for row in reply.memories:
        text = row.text.strip()
        sources = [
            memories[number - 1].id
            for number in sorted(set(row.sources))
            if 1 <= number <= len(memories)
        ]
        if not text or not sources:
            session.ledger.refuse(owner, STAGE, "no source" if text else "empty text", text)
        # Left out, not cut: half a sentence may say something else.
        elif measure(text) > left:
            session.ledger.refuse(owner, STAGE, "does not fit", text)
        else:
            left -= measure(text)
            kept.append(Compacted(text, tuple(sources)))
    return kept


def compacted_store(
    store: ExportedStore,
    budget: Fraction,
    rule: str,
    name: str,
    model: str | None = None,
    session: ModelSession | None = None,
) -> ExportedStore:
    """A store rewritten to fit the budget, each conversation for itself.

    The times of memories are left out: a text made of several has no time of its own. The order is
    that of their first sources.
    """
    memories: list[Memory] = []
    for example, own in store.active_by_example.items():
        ordered = writing_order(own)
        owner = f"{store.name} on {example}" if example else store.name
        if model is None:
            made = by_extracts(ordered, budget, rule)
        else:
            assert session is not None  # who asks a model has one
            made = by_model(ordered, budget, rule, session, model, owner)
        place = {memory.id: at for at, memory in enumerate(ordered)}
        made.sort(key=lambda memory: min(place[id] for id in memory.sources))
        for number, memory in enumerate(made, start=1):
            sources = [turn for id in memory.sources for turn in ordered[place[id]].sources]
            memories.append(
                Memory(
                    id=f"{example}/{number}" if example else str(number),
                    text=memory.text,
                    example=example,
                    sources=tuple(dict.fromkeys(sources)),
                    metadata={"made_from": list(memory.sources)},
                )
            )
    how = "by joining extracts" if model is None else f"by {model}, {pass_prompt(STAGE).label}"
    origin = store.origin.model_copy(
        update={
            "format": "compacted",
            "view": None,
            "configuration": {
                **store.origin.configuration,
                "compacted_from": store.name,
                "compacted_how": how,
                "compacted_to": f"{budget} {rule}",
            },
        }
    )
    return store.model_copy(
        update={
            "name": name,
            "origin": origin,
            "memories": tuple(memories),
            "documents": (),
            "count": ImportCount(read=len(memories), kept=len(memories)),
        }
    )
