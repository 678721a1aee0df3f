"""Folders: a cube or published folder by its one file, exports side by side, or memory files."""

import os
from pathlib import Path

from memaudit.adapters.source import Part, Source, open_part
from memaudit.core.errors import MemAuditError
from memaudit.datasets.irregular import whole

ALONE = ("written_stores.jsonl", "textual_memory.json")
"""Files that are the store of the folder they are in: the published layout, a MemOS cube."""

EXPORTS = (".af", ".json", ".jsonl", ".db", ".sqlite", ".sqlite3")
TEXTS = (".md", ".txt", ".xml")
MAX_FILES = 10_000
MAX_TOTAL = 256 << 20
GENERATED = "memory_filesystem.md"
"""Letta Code's own index of the folder: not a memory."""


def open_folder(folder: Path) -> Source:
    """The parts of a folder."""
    names = _names(folder)
    name = whole(folder.resolve().name) or "folder"
    if not names:
        raise MemAuditError(f"{name}: is an empty folder (a store was expected)")
    top = [one for one in names if "/" not in one]
    if alone := [one for one in ALONE if one in top]:
        wanted = alone[:1]
    elif any(one.endswith(TEXTS) for one in names):
        return _texts(folder, name, names)
    else:
        wanted = [one for one in top if one.endswith(EXPORTS)]
    if not wanted:
        raise MemAuditError(f"{name}: holds no export and no memory file (found {names[0]!r})")
    left_out = {whole(one): "another file of the folder" for one in names if one not in wanted}
    parts = tuple(open_part(folder / one, whole(one)) for one in wanted)
    return Source(name, parts, left_out=left_out)


def _texts(folder: Path, name: str, names: list[str]) -> Source:
    """Every memory file below, by its path; hidden ones, links and other kinds are left out."""
    parts: list[Part] = []
    left_out: dict[str, str] = {}
    total = 0
    for one in names:
        path = folder / one
        if path.is_symlink():
            left_out[whole(one)] = "symbolic link"
        elif one.rpartition("/")[2] == GENERATED:
            left_out[whole(one)] = "generated index"
        elif not one.endswith(TEXTS):
            left_out[whole(one)] = "not a memory file"
        else:
            total += path.stat().st_size
            if total > MAX_TOTAL:
                raise MemAuditError(f"{name}: its files hold more than {MAX_TOTAL} bytes")
            parts.append(open_part(path, whole(one), as_text=True))
    return Source(name, tuple(parts), folder=True, left_out=left_out)


def _refuse(error: OSError) -> None:
    """A folder inside that cannot be listed: without it the store would be read in part."""
    raise error


def _names(folder: Path) -> list[str]:
    """The paths of all files below, sorted; hidden folders (.git) and files are not entered."""
    found: list[str] = []
    try:
        for place, folders, files in os.walk(folder, onerror=_refuse, followlinks=False):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            links = [one for one in folders if os.path.islink(os.path.join(place, one))]
            below = os.path.relpath(place, folder)
            found += [
                (Path(below) / file).as_posix()
                for file in [*sorted(files), *links]
                if not file.startswith(".")
            ]
            if len(found) > MAX_FILES:
                raise MemAuditError(f"{folder.name}: holds more than {MAX_FILES} files")
    except OSError as error:
        name = whole(os.path.relpath(error.filename or folder, folder.parent))
        raise MemAuditError(f"{name}: cannot be read: {error.strerror or error}") from None
    return sorted(found)
