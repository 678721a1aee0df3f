"""The labels that lie beside a frame: files of labels, and what people saved while labelling."""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import Frame, FrameCell, LabelSet
from memaudit.label_audit.frame_files import CELL_LINES, CELLS, KEY, PUBLISHED, read_label_sets
from memaudit.web.annotate.decisions import Decisions
from memaudit.web.annotate.desk import DATABASE, frame_digest

NO_LABELS = frozenset({CELLS, CELL_LINES, PUBLISHED, KEY})
SUFFIXES = (".csv", ".jsonl")
PATIENCE = 1.0


@dataclass(frozen=True, slots=True)
class FrameLabels:
    """Label sets with the files they are from; `unfinished` people are still labelling; what is no
    file of labels of this frame, with the reason."""

    sets: tuple[LabelSet, ...]
    files: tuple[tuple[str, str, int], ...]
    """Annotator, file and number of labels, one a set."""
    unfinished: tuple[tuple[str, int], ...]
    """Annotator and the number of cells labelled so far."""
    left_out: tuple[tuple[str, str], ...]
    is_unsure: bool = False
    """Whether there is a database that cannot be read: somebody may be labelling."""


def label_files(folder: Path) -> list[Path]:
    """Files that may hold labels."""
    with suppress(OSError):
        return sorted(
            path for path in folder.iterdir()
            if (path.suffix.lower() in SUFFIXES and path.name not in NO_LABELS)
            or path.name in (DATABASE, f"{DATABASE}-wal")
        )  # fmt: skip
    return []


def labels_stamp(folder: Path) -> tuple[int, ...]:
    """Changes when a label does."""
    found: list[int] = []
    for path in label_files(folder):
        with suppress(OSError):
            status = path.stat()
            found += (zlib.crc32(os.fsencode(path.name)), status.st_mtime_ns, status.st_size)
    return tuple(found)


def frame_labels(folder: Path, frame: Frame) -> FrameLabels:
    """Every label set of the folder; one that a file holds is not taken from the database again."""
    sets: list[LabelSet] = []
    files: list[tuple[str, str, int]] = []
    left_out: list[tuple[str, str]] = []
    unfinished: list[tuple[str, int]] = []
    for path in label_files(folder):
        if path.name.startswith(DATABASE):
            continue
        try:
            found = read_label_sets(path, frame)
        except MemAuditError as error:
            left_out.append((path.name, str(error)))
            continue
        sets += found
        files += ((one.annotator, path.name, len(one.labels)) for one in found)
    known = {one.annotator for one in sets}
    is_unsure = False
    try:
        for one in _saved(folder / DATABASE, frame):
            if len(one.labels) < len(frame.cells):
                unfinished.append((one.annotator, len(one.labels)))
            elif one.annotator in known:
                left_out.append((DATABASE, f"{one.annotator!r} is in a file as well"))
            else:
                sets.append(one)
                files.append((one.annotator, DATABASE, len(one.labels)))
    except MemAuditError as error:
        left_out.append((DATABASE, str(error)))
        is_unsure = True
    return FrameLabels(tuple(sets), tuple(files), tuple(unfinished), tuple(left_out), is_unsure)


def _saved(database: Path, frame: Frame) -> Iterator[LabelSet]:
    """What annotators saved; a copy is read, for opening a database may write to it."""
    if not database.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / DATABASE
        try:
            shutil.copyfile(database, copy)
            with suppress(FileNotFoundError):  # everything is in the file itself
                shutil.copyfile(f"{database}-wal", f"{copy}-wal")
        except OSError as error:
            raise MemAuditError(f"cannot be read: {error.strerror or error}") from None
        try:
            yield from _decided(copy, frame.cells)
        except MemAuditError as error:
            raise MemAuditError(str(error).replace(str(copy), DATABASE)) from None


def _decided(copy: Path, cells: Sequence[FrameCell]) -> Iterator[LabelSet]:
    saved = Decisions(copy, frame_digest(cells), len(cells), must_exist=True, patience=PATIENCE)
    try:
        yield from [saved.label_set(name) for name in saved.annotators()]
    finally:
        saved.close()
