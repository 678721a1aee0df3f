"""The prompts of the model passes: one Markdown file per pass, with an id and a version.

The files here are the current version. Those in `version_1` stay as they are, so that old caches
and builds can be replayed.
"""

from pydantic import BaseModel

from memaudit.core.errors import MemAuditError
from memaudit.models.prompt import Prompt, Quotable, load_prompt
from memaudit.models.request import ModelParameters, Request

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")

LATEST = 2
_FOLDERS = {1: "version_1/", LATEST: ""}
"""By version: the folder of its files."""


def check_version(version: int) -> None:
    if version not in _FOLDERS:
        known = " or ".join(map(str, _FOLDERS))
        raise MemAuditError(f"the prompts have no version {version}; choose {known}")


def pass_prompt(name: str, version: int = LATEST) -> Prompt:
    check_version(version)
    return load_prompt("memaudit.natural", f"{_FOLDERS[version]}{name}")


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
