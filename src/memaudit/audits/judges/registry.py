"""Judges by name, as they are written on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.audits.judges.labels import Labels
from memaudit.audits.judges.lexical import Lexical
from memaudit.audits.judges.pointer import Pointer
from memaudit.audits.judges.protocol import Judge
from memaudit.audits.judges.published import PublishedCalls
from memaudit.core.errors import MemAuditError

if TYPE_CHECKING:
    from memaudit.natural.passes.desk import Desk

KNOWN = "lexical, pointer, labels:FILE, calls:FILE, model:NAME"


def named_judge(name: str, memories: Path | None = None, desk: "Desk | None" = None) -> Judge:
    """The judge of that name; labels may need a file that says what their ids stand for.

    A model is asked over a desk.
    """
    kind, _, file = name.partition(":")
    if kind == "labels" and file:
        return Labels(Path(file), memories)
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and file:
        return PublishedCalls(Path(file))
    if kind == "model" and file:
        if desk is None:
            raise MemAuditError(f"judge {name!r}: this command asks no model; memaudit judge does")
        # What asks models is loaded only where one is asked.
        from memaudit.audits.judges.model import ModelJudge

        return ModelJudge(desk, file)
    if name == "lexical":
        return Lexical()
    if name == "pointer":
        return Pointer()
    raise MemAuditError(f"unknown judge {name!r}; known judges: {KNOWN}")
