"""What a server turned out to understand, learned from its refusals and remembered a model."""

import threading
from dataclasses import dataclass

from memaudit.models.transport import CallFailed
from memaudit.models.wire import Format

_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar")
_REFUSED = (400, 404, 415, 422, 501)


@dataclass(frozen=True, slots=True)
class Ability:
    """One way to ask a model."""

    format: Format = Format.JSON_SCHEMA
    token_field: str = "max_tokens"


class Abilities:
    """The best way known for each model, shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._best: dict[str, Ability] = {}
        self._proven: set[tuple[str, Ability]] = set()

    def best(self, model: str) -> Ability:
        """Where to start."""
        with self._lock:
            return self._best.get(model, Ability())

    def worked(self, model: str, ability: Ability) -> None:
        """Start here next time, unless something better is known to work."""
        with self._lock:
            if not any(known == model for known, _ in self._proven):
                self._best[model] = ability
            self._proven.add((model, ability))

    def next_after(self, model: str, ability: Ability, error: CallFailed) -> Ability | None:
        """Another way worth trying after a refusal, or None where the refusal is about the request.

        A refusal that does not say what it is about counts against the format only as long as the
        format has not worked once: afterwards it is a prompt too long, or the like.
        """
        if error.status not in _REFUSED:
            return None
        text = f"{error.message} {error.code}".lower()
        if "max_completion_tokens" in text and ability.token_field == "max_tokens":
            return Ability(ability.format, "max_completion_tokens")
        if ability.format is Format.TEXT:
            return None
        with self._lock:
            proven = (model, ability) in self._proven
        named = any(word in text for word in _FORMAT_WORDS)
        if named or (error.status in (400, 422) and not proven):
            return Ability(Format(ability.format + 1), ability.token_field)
        return None
