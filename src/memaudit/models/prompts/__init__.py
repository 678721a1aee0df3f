"""The prompts of the model passes: one Markdown file per pass, with an id and a version."""

from dataclasses import replace

from pydantic import BaseModel

from memaudit.models.prompt import Prompt, Quotable, load_prompt
from memaudit.models.request import ModelParameters, Request

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")
"""The prompts of a build."""

OTHER_PROMPTS = ("salience", "query_salience", "compaction", "support", "memory_pairs")
"""Asked about finished stores and packages, not in a build."""

LONG_REPLY = 8192
"""Tokens for a reply with up to 40 units, quotes and parts included."""


def pass_prompt(name: str) -> Prompt:
    return load_prompt("memaudit.models", name)


def long_reply(parameters: ModelParameters) -> ModelParameters:
    """The parameters with room for a long reply."""
    return replace(parameters, max_tokens=max(parameters.max_tokens, LONG_REPLY))


def pass_request(
    prompt: Prompt,
    reply: type[BaseModel],
    model: str,
    parameters: ModelParameters,
    **blocks: Quotable,
) -> Request:
    """A request of a pass, with its data in named blocks."""
    messages = prompt.messages(**blocks)
    return Request.for_reply(reply, model, messages, prompt.template, parameters)
