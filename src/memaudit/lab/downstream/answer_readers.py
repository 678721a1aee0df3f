"""What a reader takes and gives, and the readers by name: two without a model, and any chat model.

A model gets the question and the texts of the retrieved memories, numbered: no ids, units or
answer. It is asked live, or from the cache.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import sentences, terms
from memaudit.lab.downstream.question import PackageQuestion, StoredMemory
from memaudit.models.prompts import Quotable, StrictRow, load_prompt
from memaudit.models.request import FailureKind, Request
from memaudit.models.session import ModelSession


class ReplyState(StrEnum):
    """The kind of a reply."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    EMPTY = "empty_answer"
    """It claims to answer, and the answer is blank."""
    UNPARSEABLE = "unparseable_reply"
    REFUSED = "refused"
    NO_REPLY = "no_reply"
    """The server failed, so there is nothing to grade."""


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A question with what was retrieved for it, best first."""

    owner: str
    """The package, for the ledger of a model's replies."""
    question: PackageQuestion
    memories: tuple[StoredMemory, ...]


@dataclass(frozen=True, slots=True)
class ReaderReply:
    """The reply of a reader."""

    state: ReplyState
    answer: str = ""
    used: tuple[str, ...] = ()
    """Ids of the memories that the reader names as its sources."""
    notes: tuple[str, ...] = ()
    knows: bool = False
    """The reader looked at the hidden part, so its answer is right by construction."""


class AnswerReader(Protocol):
    """Answers questions from memories."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str:
        """How it answers, in one line."""
        ...

    @property
    def peeks(self) -> bool:
        """Whether it looks at more than texts."""
        ...

    @property
    def asks_a_model(self) -> bool:
        """Whether it is better asked everything at once: one estimate, one batch."""
        ...

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        """One reply per task, in order."""
        ...


class EvidenceOnly:
    """Gives the gold answer if the retrieved memories cover all that it needs, else abstains."""

    name = "evidence-only"
    about = "right where the retrieved memories cover every unit the answer needs, else abstains"
    peeks = True
    asks_a_model = False

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        return [self._answer(task) for task in tasks]

    @staticmethod
    def _answer(task: ReadingTask) -> ReaderReply:
        question = task.question
        used = tuple(
            memory.id
            for memory in task.memories
            if any(memory.covers.get(unit) for unit in question.supports)
        )
        if question.abstention:
            return ReaderReply(ReplyState.ABSTAINED, used=used)
        supported = question.supports and all(
            _covered(task.memories, unit) >= question.needs[unit] for unit in question.supports
        )
        if not supported:
            return ReaderReply(ReplyState.ABSTAINED, used=used)
        return ReaderReply(ReplyState.ANSWERED, question.gold or "", used, knows=True)


def _covered(memories: Sequence[StoredMemory], unit: str) -> Fraction:
    return sum((memory.covers.get(unit, Fraction(0)) for memory in memories), Fraction(0))


LEAST = Fraction(1, 3)
"""It abstains where the best sentence has less than this share of the question's terms."""


class Extractive:
    """Answers with one sentence, verbatim. Of equals, that of the memory ranked first."""

    name = "extractive"
    about = "the retrieved sentence with most terms of the question; abstains below a third"
    peeks = False
    asks_a_model = False

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        return [self._answer(task) for task in tasks]

    @staticmethod
    def _answer(task: ReadingTask) -> ReaderReply:
        wanted = terms(task.question.text)
        best, answer, source = Fraction(0), "", ""
        for id, sentence in _sentences(task):
            shared = Fraction(len(wanted & terms(sentence)), max(1, len(wanted)))
            if shared > best:
                best, answer, source = shared, sentence, id
        if best < LEAST:
            return ReaderReply(ReplyState.ABSTAINED)
        return ReaderReply(ReplyState.ANSWERED, answer, (source,))


def _sentences(task: ReadingTask) -> Iterator[tuple[str, str]]:
    for memory in task.memories:
        for sentence in sentences(memory.text):
            yield memory.id, sentence


READERS: dict[str, AnswerReader] = {
    reader.name: reader for reader in (Extractive(), EvidenceOnly())
}
MODEL = "model:"
KNOWN = f"{', '.join(READERS)}, {MODEL}NAME"


def named_reader(name: str, session: ModelSession | None = None) -> AnswerReader:
    """The reader of that name; a model is asked over a session."""
    if name.startswith(MODEL) and name != MODEL:
        if session is None:
            raise MemAuditError(f"reader {name!r}: no model can be asked here")
        return ModelReader(session, name.removeprefix(MODEL))
    if name not in READERS:
        raise MemAuditError(f"unknown reader {name!r}; known readers: {KNOWN}")
    return READERS[name]


# The names and docstrings of reply types are part of the keys of the cache.
class AnswerReply(StrictRow):
    """Memories used, then the answer."""

    memories: list[int]
    answer: str
    abstained: bool


STAGE = "reading"
UNKNOWN_MEMORY = "cites_unknown_memory"

_STATES = {
    FailureKind.REFUSED: ReplyState.REFUSED,
    FailureKind.INVALID: ReplyState.UNPARSEABLE,
    FailureKind.HTTP: ReplyState.NO_REPLY,
}


class ModelReader:
    """Asks a model over a session, which estimates, caches and counts."""

    peeks = False
    asks_a_model = True

    def __init__(self, session: ModelSession, model: str) -> None:
        self.name = f"{MODEL}{model}"
        self._session, self._model = session, model
        self._prompt = load_prompt("memaudit.lab.downstream", "answer-if-supported")
        self.about = f"{model}, prompt {self._prompt.label} {self._prompt.sha256[:12]}"

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        requests = [(task.owner, self._request(task)) for task in tasks]
        replies = self._session.ask(STAGE, requests, AnswerReply)
        failed = {
            trouble.key: _STATES[FailureKind(trouble.what)]
            for trouble in self._session.ledger.problems
            if trouble.stage == STAGE and trouble.failure
        }
        return [
            ReaderReply(failed[request.key]) if reply is None else _reply(reply, task.memories)
            for task, (_, request), reply in zip(tasks, requests, replies, strict=True)
        ]

    def _request(self, task: ReadingTask) -> Request:
        memories: Quotable = [
            {"memory": number, "text": memory.text}
            for number, memory in enumerate(task.memories, start=1)
        ]
        messages = self._prompt.messages(question=task.question.text, memories=memories)
        return Request.for_reply(
            AnswerReply, self._model, messages, self._prompt.template, self._session.parameters
        )


def _reply(reply: AnswerReply, memories: Sequence[StoredMemory]) -> ReaderReply:
    """The reply with ids for numbers. A memory that it was not shown is noted."""
    by_number = dict(enumerate(memories, start=1))
    used = tuple(dict.fromkeys(by_number[n].id for n in reply.memories if n in by_number))
    notes = (UNKNOWN_MEMORY,) if set(reply.memories) - by_number.keys() else ()
    if reply.abstained:
        return ReaderReply(ReplyState.ABSTAINED, reply.answer, used, notes)
    state = ReplyState.ANSWERED if reply.answer.strip() else ReplyState.EMPTY
    return ReaderReply(state, reply.answer, used, notes)
