"""Judges by name, as they are written on the command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memaudit.adapters.store import ExportedStore
from memaudit.core.errors import MemAuditError
from memaudit.scoring.judges.lexical import Lexical
from memaudit.scoring.judges.pointer import Pointer
from memaudit.scoring.judges.protocol import Judge

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession


KNOWN = "lexical, pointer, labels:FILE, calls:FILE, model:NAME"


def named_judge(
    name: str, memories: Path | None = None, session: "ModelSession | None" = None
) -> Judge:
    """The judge of that name; labels may need a file that says what their ids stand for.

    A model is asked over a session.
    """
    kind, _, file = name.partition(":")
    if kind == "labels" and file:
        from memaudit.scoring.judges.labels import Labels

        return Labels(Path(file), memories)
    if memories is not None:
        raise MemAuditError("a file of labelled memories goes with --judge labels:FILE only")
    if kind == "calls" and file:
        from memaudit.scoring.judges.published import PublishedCalls

        return PublishedCalls(Path(file))
    if kind == "model" and file:
        if session is None:
            raise MemAuditError(
                f"judge {name!r}: nothing here asks a model; memaudit score, gate, judge and "
                "sensitivity do"
            )
        # What asks models is loaded only where one is asked.
        from memaudit.scoring.judges.model import ModelJudge

        return ModelJudge(session, file)
    if name == "lexical":
        return Lexical()
    if name == "pointer":
        return Pointer()
    raise MemAuditError(f"unknown judge {name!r}; known judges: {KNOWN}")


def named_judges(
    names: Sequence[str], memories: Path | None = None, session: "ModelSession | None" = None
) -> list[Judge]:
    """Several judges; the file of labelled memories goes to those that are labels."""
    if memories is not None and not any(name.startswith("labels:") for name in names):
        raise MemAuditError("a file of labelled memories goes with a judge labels:FILE only")
    return [
        named_judge(name, memories if name.startswith("labels:") else None, session)
        for name in names
    ]


def refuse_equal_judges(judges: Sequence[Judge]) -> None:
    """Judges that are compared are told apart by name."""
    called = [judge.name for judge in judges]
    for name in called:
        if called.count(name) > 1:
            raise MemAuditError(f"two judges are called {name!r}; name each once, or rename a file")


def refuse_shared_ids(
    names: Sequence[str], memories: Path | None, stores: Sequence[ExportedStore]
) -> None:
    """A judge that goes by ids alone cannot tell two stores apart that share one."""
    by_id = [name for name in names if _goes_by_id(name, memories)]
    seen: set[str] = set()
    for store in stores:
        ids = {memory.id for memory in store.active}
        if by_id and (shared := sorted(ids & seen)):
            raise MemAuditError(
                f"two stores have a memory {shared[0]!r}, and {by_id[0].partition(':')[0]} name "
                "memories by id: score one store at a time, or give memaudit score a --judge for "
                "each store"
            )
        seen |= ids


def _goes_by_id(name: str, memories: Path | None) -> bool:
    return name.startswith("calls:") or (name.startswith("labels:") and memories is None)
