"""Rows of runs: how many there are, and those about one package, without parsing all of them."""

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.experiments.sweep import ROWS
from memaudit.io.journal import is_whole
from memaudit.web.explorer.library.look import regular


def rows_written(folder: Path) -> int:
    """How many rows a run has so far."""
    path = folder / ROWS
    if not path.exists():
        return 0
    try:
        with regular(path).open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError as error:
        raise MemAuditError(f"cannot read {path}: {error.strerror or error}") from None


def rows_with(folder: Path, digest: str) -> Iterator[dict[str, Any]]:
    """The whole rows of a run whose package has this digest, in the order of the file."""
    needle = f'"digest":"{digest}"'.encode()
    try:
        with regular(folder / ROWS).open("rb") as file:
            if not file.seek(0, 2):
                return
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                place = data.find(needle)
                while place >= 0:
                    start, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place) + 1
                    line = data[start : end or len(data)]
                    if is_whole(line):
                        row = json.loads(line)
                        if row.get("digest") == digest:
                            yield row
                    place = data.find(needle, end) if end else -1
    except OSError as error:
        raise MemAuditError(f"cannot read {folder / ROWS}: {error.strerror or error}") from None
