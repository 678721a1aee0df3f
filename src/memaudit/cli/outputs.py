"""Files a command may write: new ones, and those that hold what it writes."""

from pathlib import Path
from typing import Literal

from memaudit.core.errors import MemAuditError

Kind = Literal["package", "certificate", "store", "subset", "page"]

_MARKS: dict[Kind, bytes] = {
    "package": b'"memaudit-package"',
    "certificate": b'"memaudit-certificate"',
    "store": b'"memaudit-store"',
    "subset": b'"memaudit-subset"',
    "page": b"<!doctype html",
}
_HEAD = 4096


def may_write(path: Path, kind: Kind) -> None:
    """Refuse to write over a file that holds anything else: it may be somebody's only copy."""
    if not path.is_file():
        return  # new, or a folder: whoever writes folders looks into them
    with path.open("rb") as file:
        head = file.read(_HEAD).lower()
    if head and _MARKS[kind] not in head:
        raise MemAuditError(f"{path}: is there already and is no {kind}; choose another file")
