"""The digest that a package file declares, read from its first lines: it was checked on reading."""

import json
import re
from pathlib import Path

HEAD = 1 << 16
_LINE = re.compile(r'  "([a-z_]+)": (.*),')


def written_digest(path: Path) -> str:
    """The declared digest of a file as `write_package` lays it out; empty for any other file.

    A line that is whole JSON by itself is no part of another: the digest found is the file's own.
    """
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as file:
            first, *lines = file.read(HEAD).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    if first != "{":
        return ""
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return ""
        try:
            value = json.loads(found[2])
        except (ValueError, RecursionError):
            return ""
        if found[1] == "digest":
            return value if isinstance(value, str) else ""
    return ""
