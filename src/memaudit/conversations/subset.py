"""A small part of a dataset, chosen the same way on every machine."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from memaudit.conversations.conversation import Conversation, Question
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import iter_conversations
from memaudit.conversations.transcripts import dataset_hash
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.foreign_json import JsonCursor
from memaudit.kernel.io.strict_json import first_fault

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
    # What is left over goes to the strata that lost most by rounding down; the name decides ties,
    # so that no order of a file does.
    by_rest = sorted(exact, key=lambda name: (taken[name] - exact[name], name))
    for name in by_rest[: size - sum(taken.values())]:
        taken[name] += 1
    return taken


def rank(seed: int, chosen: Chosen) -> str:
    """Where a question comes in its stratum: a hash, so the file's order does not matter."""
    return hashlib.sha256(json.dumps([seed, *chosen]).encode()).hexdigest()


def choose(
    conversations: Iterable[LoadedConversation],
    size: int,
    seed: int,
    by: str,
    sha256: str,
    format: str,
) -> Subset:
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
        chosen
        for name, members in strata.items()
        for chosen in sorted(members, key=lambda chosen: rank(seed, chosen))[: taken[name]]
    ]
    counts = {name: (sizes[name], taken[name]) for name in sizes}
    return Subset(sha256, format, by, seed, counts, tuple(sorted(picked)))


FORMAT, VERSION = "memaudit-subset", 1


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class _Stratum(_Strict):
    of: int
    taken: int


class _Question(_Strict):
    conversation: str
    question: str


class _Manifest(_Strict):
    dataset_sha256: str
    dataset_format: str
    by: str
    seed: int
    strata: dict[str, _Stratum]
    questions: list[_Question]


def subset_text(subset: Subset) -> str:
    head = {"format": FORMAT, "version": VERSION}
    data = {**head, **subset.content, "sha256": subset.sha256}
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def read_subset(path: Path) -> Subset:
    """The subset of a manifest; one that was edited is refused."""
    with open_regular(path) as file:
        cursor = JsonCursor(file, path.name)
        data = cursor.value() if cursor.peek() else None
        cursor.done()
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise MemAuditError(
            f"{path.name}: is not a subset manifest (memaudit package subset writes one)"
        )
    if data.get("version") != VERSION:
        raise MemAuditError(f"{path.name}: has an unknown version; this memaudit reads {VERSION}")
    try:
        manifest = _Manifest.model_validate(data)
    except ValidationError as error:
        raise MemAuditError(f"{path.name}: {first_fault(error)}") from None
    subset = Subset(
        manifest.dataset_sha256,
        manifest.dataset_format,
        manifest.by,
        manifest.seed,
        {name: (stratum.of, stratum.taken) for name, stratum in manifest.strata.items()},
        tuple((row.conversation, row.question) for row in manifest.questions),
    )
    # The hash names the subset in results, so two subsets must not share one.
    if subset.sha256 != data.get("sha256") or subset.content["size"] != data.get("size"):
        raise MemAuditError(
            f"{path.name}: does not match its hash: it was edited (create it again)"
        )
    return subset


def apply_subset(subset: Subset, path: Path) -> Iterator[LoadedConversation]:
    """The dataset's conversations with the chosen questions only, those without any left out.

    The irregularities of a conversation stay with it, also those of questions not chosen.
    """
    digest = dataset_hash(path)
    if digest != subset.dataset_sha256:
        raise MemAuditError(
            f"{path.name}: is not the file the subset was made from: its SHA-256 begins "
            f"{digest[:16]}, the subset's {subset.dataset_sha256[:16]}"
        )
    return _cut_down(subset, path)


def _cut_down(subset: Subset, path: Path) -> Iterator[LoadedConversation]:
    missing = set(subset.questions)
    for loaded in iter_conversations(path, subset.dataset_format):
        conversation = loaded.conversation
        ids = {question.id: (conversation.id, question.id) for question in conversation.questions}
        questions = tuple(q for q in conversation.questions if ids[q.id] in missing)
        missing -= {ids[question.id] for question in questions}
        if questions:
            yield replace(loaded, conversation=replace(conversation, questions=questions))
    if missing:
        owner, id = min(missing)
        raise MemAuditError(
            f"{path.name}: has no question {id!r} in {owner!r}, which the subset names"
        )
