"""Which files a command may overwrite: those of the kind that it writes."""

from pathlib import Path

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.files import open_regular, refuse_to_write

_MARKS: dict[str, tuple[bytes, ...]] = {
    "package": (b'"memaudit-package"',),
    "certificate": (b'"memaudit-certificate"',),
    "frontier": (b'"memaudit-frontier"',),
    "store": (b'"memaudit-store"',),
    "subset": (b'"memaudit-subset"',),
    "page": (b"<!doctype html",),
    "plan": (b'"memaudit-plan"',),
    "SARIF": (b"sarif-2.1.0",),
    "chat": (b'{"conversation": "',),
    "judge": (b'"memaudit-judge"',),
    "cache export": (b'{"calls":', b'{"at":"'),
    "bench report": (b'"memaudit-bench"',),
    "JSON Schema": (b'"$schema"',),
    "picture": (b"\x89png", b"<svg", b"%pdf"),
    "data card": (b'"memaudit":',),
    "record of a capture": (b'{"kind":"record"',),
    "table of a board": (b"budget,store,",),
}
"""What is in the first bytes of such a file, in lower case."""

_HEAD = 4096


def may_write(path: Path, kind: str) -> None:
    """Refuse to overwrite a file of another kind than one of the table: it may be the only copy."""
    if path.is_dir() and not path.is_symlink():
        return  # functions that write folders check their content
    refuse_to_write(path)
    if not path.exists():
        return
    with open_regular(path, str(path)) as file:
        head = file.read(_HEAD).lower()
    if head and not any(mark in head for mark in _MARKS[kind]):
        raise MemAuditError(f"{path}: already exists and is not a {kind}; choose another file")


def refuse_existing(path: Path) -> None:
    """Refuse to overwrite anything."""
    refuse_to_write(path)
    if path.exists():
        raise MemAuditError(f"{path}: already exists; choose another file")
