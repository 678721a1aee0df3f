"""Any chat model as the reader: live, from a batch queue, or from the cache.

It gets the question and the texts of the retrieved memories, numbered: no ids, no units, no answer.
"""

from collections.abc import Sequence

from memaudit.core.text import contains
from memaudit.downstream.memory import StoredMemory
from memaudit.downstream.readers.prompts import DEFAULT_PROMPT, PROMPTS, Read, reader_prompt
from memaudit.downstream.readers.protocol import Asked, Reply, State
from memaudit.models.client import FailureKind
from memaudit.models.prompt import Quotable
from memaudit.models.request import Request
from memaudit.natural.passes.model_session import Desk

STAGE = "reading"
UNKNOWN_MEMORY, NOT_VERBATIM = "cites_unknown_memory", "quote_not_verbatim"

_STATES = {
    FailureKind.REFUSED: State.REFUSED,
    FailureKind.INVALID: State.UNPARSEABLE,
    FailureKind.HTTP: State.NO_REPLY,
}


class ModelReader:
    """Asks a model over a desk, which estimates, caches and counts."""

    peeks = False
    asks_a_model = True

    def __init__(self, desk: Desk, model: str, prompt: str = DEFAULT_PROMPT) -> None:
        self.name = f"model:{model}"
        self._desk, self._model = desk, model
        self._prompt, self._reply_type = reader_prompt(prompt), PROMPTS[prompt]
        self.about = f"{model}, prompt {self._prompt.label} {self._prompt.sha256[:12]}"

    def read(self, asked: Sequence[Asked]) -> list[Reply]:
        requests = [(one.owner, self._request(one)) for one in asked]
        found: Sequence[Read | None] = self._desk.ask(STAGE, requests, self._reply_type)
        failed = {
            trouble.key: _STATES[FailureKind(trouble.what)]
            for trouble in self._desk.ledger.troubles
            if trouble.stage == STAGE and trouble.failure
        }
        return [
            Reply(failed[request.key]) if reply is None else _reply(reply, one.memories)
            for one, (_, request), reply in zip(asked, requests, found, strict=True)
        ]

    def _request(self, asked: Asked) -> Request:
        memories: Quotable = [
            {"memory": number, "text": memory.text}
            for number, memory in enumerate(asked.memories, start=1)
        ]
        messages = self._prompt.messages(question=asked.question.text, memories=memories)
        return Request.for_reply(
            self._reply_type, self._model, messages, self._prompt.template, self._desk.parameters
        )


def _reply(reply: Read, memories: Sequence[StoredMemory]) -> Reply:
    """The reply with ids for numbers; what it cites or quotes wrongly is noted, not believed."""
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
        return Reply(State.ABSTAINED, reply.answer, used, tuple(notes))
    state = State.ANSWERED if reply.answer.strip() else State.EMPTY
    return Reply(state, reply.answer, used, tuple(notes))
