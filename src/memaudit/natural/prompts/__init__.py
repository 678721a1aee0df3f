"""The prompts of the model passes: one Markdown file per pass, with an id and a version."""

from pydantic import BaseModel

from memaudit.models.prompt import Prompt, Quotable, load_prompt
from memaudit.models.request import ModelParameters, Request

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")


def pass_prompt(name: str) -> Prompt:
    return load_prompt("memaudit.natural", name)


def pass_request(
    name: str, reply: type[BaseModel], model: str, parameters: ModelParameters, **blocks: Quotable
) -> Request:
    """A request of a pass, with its data in named blocks."""
    prompt = pass_prompt(name)
    messages = prompt.messages(**blocks)
    return Request.for_reply(reply, model, messages, prompt.template, parameters)
