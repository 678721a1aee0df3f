"""A small package of five questions, and memories about it."""

from fractions import Fraction

from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.question import PackageQuestion, ServedStore, StoredMemory, questions

PACKAGE = Package.model_validate(
    {
        "name": "ann",
        "cost_rule": "words",
        "experiences": [{"id": "e"}],
        "candidates": [],
        "units": [
            {"id": "old", "kind": "stale", "text": "Ann follows a vegetarian diet."},
            {"id": "now", "kind": "current", "text": "Ann follows a pescatarian diet now."},
            {"id": "ended", "kind": "supersession", "text": "Ann is no longer vegetarian."},
            {"id": "dog", "kind": "fact", "text": "Bob has a dog called Rex."},
            {"id": "open", "kind": "abstention", "text": "Ann has not decided where to move."},
        ],
        "queries": [
            {
                "id": "diet",
                "text": "Which diet does Ann follow now?",
                "answer": "pescatarian",
                "kind": "update",
                "required": ["now", "ended"],
            },
            {
                "id": "dog",
                "text": "What is Bob's dog called?",
                "answer": "Rex",
                "kind": "fact",
                "required": ["dog"],
            },
            {
                "id": "move",
                "text": "Where will Ann move?",
                "kind": "abstention",
                "required": ["open"],
            },
            {
                "id": "sister",
                "text": "What is Bob's sister called?",
                "kind": "fact",
                "attributes": {"abstention": True},
            },
            {"id": "book", "text": "What did Ann read?", "answer": "a novel", "kind": "fact"},
        ],
    }
)

ONE = Fraction(1)
OLD = StoredMemory("m-old", "Ann follows a vegetarian diet.", {"old": ONE})
NOW = StoredMemory("m-now", "Ann follows a pescatarian diet now.", {"now": ONE})
ENDED = StoredMemory("m-ended", "Ann is no longer vegetarian.", {"ended": ONE})
DOG = StoredMemory("m-dog", "Bob has a dog called Rex.", {"dog": ONE})
OPEN = StoredMemory("m-open", "Ann has not decided where to move.", {"open": ONE})
ALL = (OLD, NOW, ENDED, DOG, OPEN)

ASKED: dict[str, PackageQuestion] = {question.id: question for question in questions(PACKAGE)}


def store_of(*memories: StoredMemory, kept: int | None = None, name: str = "s") -> ServedStore:
    """A store of these, of which the last `kept` are kept."""
    first = 0 if kept is None else len(memories) - kept
    ids = frozenset(memory.id for memory in memories[first:])
    return ServedStore(name, memories, ids, "everything fits" if kept is None else "cut by recency")
