"""Judges by name, as they are written on the command line."""

from pathlib import Path

from memaudit.audits.judges.labels import Labels
from memaudit.audits.judges.lexical import Lexical
from memaudit.audits.judges.pointer import Pointer
from memaudit.audits.judges.protocol import Judge
from memaudit.audits.judges.published import PublishedCalls
from memaudit.core.errors import MemAuditError

KNOWN = "lexical, pointer, labels:FILE, calls:FILE"


def named_judge(name: str, memories: Path | None = None) -> Judge:
    """The judge of that name; labels may need a file that says what their ids stand for."""
    kind, _, file = name.partition(":")
    if kind == "labels" and file:
        return Labels(Path(file), memories)
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and file:
        return PublishedCalls(Path(file))
    if name == "lexical":
        return Lexical()
    if name == "pointer":
        return Pointer()
    raise MemAuditError(f"unknown judge {name!r}; known judges: {KNOWN}")
