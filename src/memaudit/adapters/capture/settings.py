"""What a capture was asked to do with a system; everything but the key is written down."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from memaudit.core.errors import MemAuditError

PATIENCE = 900.0
"""Seconds one message may take: the SDKs below retry for minutes on their own."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Model, embedder and options of one capture."""

    model: str
    base_url: str
    embedder: str | None = None
    options: dict[str, JsonValue] = field(default_factory=dict)
    python: str | None = None
    """The interpreter of the system's environment; that of MemAudit where none is given."""
    view: str | None = None
    patience: float = PATIENCE

    def identity(self) -> dict[str, JsonValue]:
        """What must stay the same for a capture to go on; an address may change."""
        return {"model": self.model, "embedder": self.embedder, "options": self.options}


def parse_options(given: Sequence[str]) -> dict[str, JsonValue]:
    """`name=value` pairs; a value is JSON where it reads as JSON, else text."""
    options: dict[str, JsonValue] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name:
            raise MemAuditError(f"--set {one!r} is no setting; write NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options
