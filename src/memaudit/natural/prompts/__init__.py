"""The prompts of the model passes: one Markdown file per pass, with an id and a version.

The files here are the current version. Those in `version_1` stay as they are, so that old caches
and builds can be replayed.
"""

import re
from dataclasses import replace

from pydantic import BaseModel

from memaudit.core.errors import MemAuditError
from memaudit.models.prompt import Prompt, Quotable, load_prompt
from memaudit.models.request import ModelParameters, Request

PROMPTS = ("memories", "units", "quotes", "requirements", "adjudication", "coverage")
"""The prompts of a build."""

OTHER_PROMPTS = ("salience", "query_salience", "causes", "compaction", "support", "memory_pairs")
"""Asked about finished stores and packages, not in a build. They have one version so far."""

LATEST = 2
_FOLDERS = {1: "version_1/", LATEST: ""}
"""By version: the folder of its files."""

VERSIONS = tuple(_FOLDERS)

LONG_REPLY = 8192
"""Tokens for a reply with up to 40 units, quotes and parts included."""


def check_version(version: int) -> None:
    if version not in _FOLDERS:
        known = " or ".join(map(str, _FOLDERS))
        raise MemAuditError(f"the prompts have no version {version}; choose {known}")


def pass_prompt(name: str, version: int = LATEST) -> Prompt:
    check_version(version)
    return load_prompt("memaudit.natural", f"{_FOLDERS[version]}{name}")


_JUDGE = re.compile(r"(.+):coverage/(\d+)")


def judging_model(name: str) -> tuple[str, int]:
    """The model and the version of its prompt that `NAME` or `NAME:coverage/VERSION` names."""
    if found := _JUDGE.fullmatch(name):
        check_version(int(found[2]))
        return found[1], int(found[2])
    return name, LATEST


def judged_by(model: str, version: int) -> str:
    """The same in labels and score files. Version 1 was not named in them, and still is not."""
    return model if version == 1 else f"{model}:{pass_prompt('coverage', version).label}"


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
