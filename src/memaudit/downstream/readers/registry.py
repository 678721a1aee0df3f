"""Readers by name, as they are written on the command line."""

from typing import TYPE_CHECKING

from memaudit.core.errors import MemAuditError
from memaudit.downstream.readers.offline import EvidenceOnly, Extractive
from memaudit.downstream.readers.protocol import Reader

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession

READERS: dict[str, Reader] = {reader.name: reader for reader in (Extractive(), EvidenceOnly())}
MODEL = "model:"
KNOWN = f"{', '.join(READERS)}, {MODEL}NAME or {MODEL}NAME#PROMPT"


def named_reader(name: str, session: "ModelSession | None" = None) -> Reader:
    """The reader of that name; a model is asked over a session, with the prompt after `#`."""
    if name.startswith(MODEL) and name != MODEL:
        if session is None:
            raise MemAuditError(f"reader {name!r}: no model can be asked here")
        # What asks models is loaded only where one is asked.
        from memaudit.downstream.readers.model import DEFAULT_PROMPT, ModelReader

        model, _, prompt = name.removeprefix(MODEL).partition("#")
        return ModelReader(session, model, prompt or DEFAULT_PROMPT)
    if name not in READERS:
        raise MemAuditError(f"unknown reader {name!r}; known readers: {KNOWN}")
    return READERS[name]
