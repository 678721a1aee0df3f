"""A small part of a dataset, chosen the same way on every machine."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregular import Loaded
from memaudit.datasets.shape import Conversation, Question

Chosen = tuple[str, str]
"""A conversation's id and a question's."""

STRATA: dict[str, Callable[[Conversation, Question], str]] = {
    "kind": lambda conversation, question: question.kind,  # noqa: ARG005
    "conversation": lambda conversation, question: conversation.id,  # noqa: ARG005
}
"""What a subset can be balanced by."""


@dataclass(frozen=True, slots=True)
class Subset:
    """Which questions of which file; `strata` maps a stratum to its size and how many are taken."""

    dataset_sha256: str
    dataset_format: str
    by: str
    seed: int
    strata: Mapping[str, tuple[int, int]]
    questions: tuple[Chosen, ...]

    @property
    def content(self) -> dict[str, object]:
        """The manifest without its hash."""
        return {
            "dataset_sha256": self.dataset_sha256,
            "dataset_format": self.dataset_format,
            "by": self.by,
            "seed": self.seed,
            "size": len(self.questions),
            "strata": {
                name: {"of": of, "taken": taken}
                for name, (of, taken) in sorted(self.strata.items())
            },
            "questions": [
                {"conversation": conversation, "question": question}
                for conversation, question in self.questions
            ],
        }

    @property
    def sha256(self) -> str:
        """The hash of the content: names the subset in results."""
        text = json.dumps(self.content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def shares(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many to take of each stratum: largest remainder, ties by name."""
    total = sum(sizes.values())
    exact = {name: Fraction(size * count, total) for name, count in sizes.items()}
    taken = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in by_rest[: size - sum(taken.values())]:
        taken[name] += 1
    return taken


def rank(seed: int, chosen: Chosen) -> str:
    """Where a question comes in its stratum: a hash, so the file's order does not matter."""
    return hashlib.sha256(json.dumps([seed, *chosen]).encode()).hexdigest()


def choose(
    conversations: Iterable[Loaded], size: int, seed: int, by: str, sha256: str, format: str
) -> Subset:
    """A stratified subset of `size` questions."""
    if by not in STRATA:
        raise MemAuditError(f"cannot balance by {by!r}; choose {' or '.join(STRATA)}")
    strata: dict[str, list[Chosen]] = defaultdict(list)
    for loaded in conversations:
        for question in loaded.conversation.questions:
            stratum = STRATA[by](loaded.conversation, question)
            strata[stratum].append((loaded.conversation.id, question.id))
    sizes = {name: len(members) for name, members in strata.items()}
    total = sum(sizes.values())
    if not 1 <= size <= total:
        raise MemAuditError(
            f"cannot take {size} of {total} questions; give a size from 1 to {total}"
        )
    taken = shares(sizes, size)
    picked = [
        one
        for name, members in strata.items()
        for one in sorted(members, key=lambda one: rank(seed, one))[: taken[name]]
    ]
    counts = {name: (sizes[name], taken[name]) for name in sizes}
    return Subset(sha256, format, by, seed, counts, tuple(sorted(picked)))
