"""A small package of five questions, and memories about it."""

from fractions import Fraction

from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.question import PackageQuestion, ServedStore, StoredMemory, questions

UNITS = {
    "old": ("stale", "Ann follows a vegetarian diet."),
    "now": ("current", "Ann follows a pescatarian diet now."),
    "ended": ("supersession", "Ann is no longer vegetarian."),
    "dog": ("fact", "Bob has a dog called Rex."),
    "open": ("abstention", "Ann has not decided where to move."),
}
QUERIES = {
    "diet": ("update", "Which diet does Ann follow now?", "pescatarian", ["now", "ended"]),
    "dog": ("fact", "What is Bob's dog called?", "Rex", ["dog"]),
    "move": ("abstention", "Where will Ann move?", None, ["open"]),
    "sister": ("fact", "What is Bob's sister called?", None, []),
    "book": ("fact", "What did Ann read?", "a novel", []),
}
PACKAGE = Package.model_validate(
    {
        "name": "ann",
        "cost_rule": "words",
        "experiences": [{"id": "e"}],
        "candidates": [],
        "units": [{"id": id, "kind": kind, "text": text} for id, (kind, text) in UNITS.items()],
        "queries": [
            {
                "id": id,
                "text": text,
                "kind": kind,
                "required": required,
                **({"answer": answer} if answer else {}),
                **({"attributes": {"abstention": True}} if id == "sister" else {}),
            }
            for id, (kind, text, answer, required) in QUERIES.items()
        ],
    }
)

ONE = Fraction(1)
ALL = tuple(StoredMemory(f"m-{id}", text, {id: ONE}) for id, (_, text) in UNITS.items())
OLD, NOW, ENDED, DOG, OPEN = ALL

ASKED: dict[str, PackageQuestion] = {question.id: question for question in questions(PACKAGE)}


def store_of(*memories: StoredMemory, kept: int | None = None, name: str = "s") -> ServedStore:
    """A store of these, of which the last `kept` are kept."""
    first = 0 if kept is None else len(memories) - kept
    ids = frozenset(memory.id for memory in memories[first:])
    return ServedStore(name, memories, ids, "everything fits" if kept is None else "cut by recency")
