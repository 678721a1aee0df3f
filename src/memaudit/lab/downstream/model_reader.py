"""Any chat model as the reader: live, from a batch queue, or from the cache.

It gets the question and the texts of the retrieved memories, numbered: no ids, units or answer.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.words.text import contains
from memaudit.lab.downstream.answer_readers import ReaderReply, ReadingTask, ReplyState
from memaudit.lab.downstream.served_store import StoredMemory
from memaudit.models.prompts import Prompt, Quotable, StrictRow, load_prompt
from memaudit.models.request import FailureKind, Request
from memaudit.models.session import ModelSession


class ParsedAnswer(Protocol):
    """What every parsed reply has, whatever the prompt."""

    @property
    def answer(self) -> str: ...

    @property
    def abstained(self) -> bool: ...

    @property
    def cited(self) -> tuple[int, ...]:
        """Numbers of the memories it is taken from."""
        ...

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        """Memory numbers and what it claims to quote from them."""
        ...


class AnswerReply(StrictRow):
    """Memories used, then the answer."""

    memories: list[int]
    answer: str
    abstained: bool

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(self.memories)

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        return ()


class CopiedReply(AnswerReply):
    """The same, with an answer that is copied."""

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        return () if self.abstained else tuple((number, self.answer) for number in self.memories)


class Evidence(StrictRow):
    """A passage and where it stands."""

    memory: int
    quote: str


class EvidenceReply(StrictRow):
    """The passages, then the answer."""

    evidence: list[Evidence]
    answer: str
    abstained: bool

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(passage.memory for passage in self.evidence)

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        return tuple((passage.memory, passage.quote) for passage in self.evidence)


ReplyType = type[AnswerReply] | type[EvidenceReply]

PROMPTS: Mapping[str, ReplyType] = {
    "answer-if-supported": AnswerReply,
    "evidence-first": EvidenceReply,
    "extractive": CopiedReply,
}
DEFAULT_PROMPT = "answer-if-supported"


@cache
def reader_prompt(name: str) -> Prompt:
    """The prompt of that name."""
    if name not in PROMPTS:
        raise MemAuditError(f"unknown prompt {name!r}; known prompts: {', '.join(PROMPTS)}")
    return load_prompt("memaudit.lab.downstream", name)


STAGE = "reading"
UNKNOWN_MEMORY, NOT_VERBATIM = "cites_unknown_memory", "quote_not_verbatim"

_STATES = {
    FailureKind.REFUSED: ReplyState.REFUSED,
    FailureKind.INVALID: ReplyState.UNPARSEABLE,
    FailureKind.HTTP: ReplyState.NO_REPLY,
}


class ModelReader:
    """Asks a model over a session, which estimates, caches and counts."""

    peeks = False
    asks_a_model = True

    def __init__(self, session: ModelSession, model: str, prompt: str = DEFAULT_PROMPT) -> None:
        self.name = f"model:{model}"
        self._session, self._model = session, model
        self._prompt, self._reply_type = reader_prompt(prompt), PROMPTS[prompt]
        self.about = f"{model}, prompt {self._prompt.label} {self._prompt.sha256[:12]}"

    def read(self, tasks: Sequence[ReadingTask]) -> list[ReaderReply]:
        requests = [(task.owner, self._request(task)) for task in tasks]
        replies: Sequence[ParsedAnswer | None] = self._session.ask(
            STAGE, requests, self._reply_type
        )
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
            self._reply_type, self._model, messages, self._prompt.template, self._session.parameters
        )


def _reply(reply: ParsedAnswer, memories: Sequence[StoredMemory]) -> ReaderReply:
    """The reply with ids for numbers. What it cites or quotes wrongly is noted."""
    by_number = dict(enumerate(memories, start=1))
    used = tuple(dict.fromkeys(by_number[n].id for n in reply.cited if n in by_number))
    notes = [UNKNOWN_MEMORY] if set(reply.cited) - by_number.keys() else []
    if any(
        not contains(by_number[number].text, quote)
        for number, quote in reply.quoted
        if number in by_number
    ):
        notes.append(NOT_VERBATIM)
    if reply.abstained:
        return ReaderReply(ReplyState.ABSTAINED, reply.answer, used, tuple(notes))
    state = ReplyState.ANSWERED if reply.answer.strip() else ReplyState.EMPTY
    return ReaderReply(state, reply.answer, used, tuple(notes))
