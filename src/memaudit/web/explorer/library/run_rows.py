"""Rows of runs about one package, found by its digest without parsing all the others."""

import json
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memaudit.core.errors import MemAuditError
from memaudit.experiments.sweep import ROWS
from memaudit.io.journal import is_whole
from memaudit.web.explorer.library.look import regular


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
