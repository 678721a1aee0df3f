"""The reader's prompts: a file each, and the type of the reply it asks for."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Protocol

from memaudit.core.errors import MemAuditError
from memaudit.models.prompt import Prompt, StrictRow, parse_prompt


class Read(Protocol):
    """What every reply has, whatever prompt asked for it."""

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
        """What it claims to be words of a memory."""
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
        return tuple(one.memory for one in self.evidence)

    @property
    def quoted(self) -> tuple[tuple[int, str], ...]:
        return tuple((one.memory, one.quote) for one in self.evidence)


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
    whole = files("memaudit.downstream").joinpath("prompts", f"{name}.md").read_text("utf-8")
    return parse_prompt(whole, f"{name}.md")
