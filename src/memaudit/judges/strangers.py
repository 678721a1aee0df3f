"""Conversations that nobody's memories are about: what the level of chance is measured against."""

import json
from functools import cache
from importlib.resources import files

from memaudit.kernel.package.package import EvidenceUnit, Experience, Package


@cache
def strangers() -> tuple[Package, ...]:
    """Units and cited turns of the shipped long set, as packages without candidates.

    They are a file of their own: reading the set would take every reader of conversations along.
    """
    file = files("memaudit").joinpath("judges", "weights", "strangers.json")
    conversations = json.loads(file.read_text("utf-8"))["conversations"]
    return tuple(
        Package(
            name=conversation["name"],
            experiences=tuple(
                Experience(id=id, text=text, index=index)
                for index, (id, text) in enumerate(conversation["turns"].items())
            ),
            candidates=(),
            units=tuple(EvidenceUnit.model_validate(unit) for unit in conversation["units"]),
        )
        for conversation in conversations
    )
