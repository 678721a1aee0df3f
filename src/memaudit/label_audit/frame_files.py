"""A frame on disk: cells, their key, `frame.json`, and label files."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.exact import plain
from memaudit.io.atomic import write_file, write_folder
from memaudit.io.files import names_in, read_bytes, read_text, sha256
from memaudit.io.strict_json import parse_json
from memaudit.label_audit.cell_tables import (
    ANNOTATOR,
    CELL_ID,
    LABEL,
    NOTES,
    cell_data,
    cells_csv,
    cells_from,
    csv_text,
    key_csv,
    key_from,
    optional,
    required,
    table_rows,
    writable,
)
from memaudit.label_audit.cells import DrawnFrom, Frame, LabelSet, Said, gathered, label_of
from memaudit.label_audit.frame_drawing import Drawing
from memaudit.label_audit.label_studio import CONFIG, export_decisions, task_rows, tasks_text

if TYPE_CHECKING:
    from memaudit.label_audit.frame_drawing import Drawing


FORMAT, VERSION = "memaudit-frame", 1


def manifest_text(files: Mapping[str, str], cells: int, drawing: "Drawing | None") -> str:
    """The manifest of files about to be written."""
    data: dict[str, JsonValue] = {"format": FORMAT, "version": VERSION, "cells": cells}
    if drawing is not None:
        data |= drawing_data(drawing)
    data["files"] = {name: sha256(text.encode()) for name, text in sorted(files.items())}
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def drawing_data(drawing: "Drawing") -> dict[str, JsonValue]:
    """How a frame was drawn, as plain data."""
    design = drawing.design
    return {
        "seed": design.seed,
        "zero_rate": plain(design.zero_rate),
        "candidate_kinds": None if design.kinds is None else [*sorted(design.kinds)],
        "skip_exact": design.skip_exact,
        "max_cells": design.max_cells,
        "judged_only": design.judged_only,
        "packages": [{"name": name, "digest": digest} for name, digest in drawing.packages],
        "strata": [
            {"stratum": one.name, "covered": one.covered, "uncovered": one.uncovered,
             "drawn": one.drawn}
            for one in drawing.strata
        ],
        "left_out": dict(drawing.left_out),
    }  # fmt: skip


def check_hash(manifest: Path, file: Path) -> None:
    """Refuse a file of a frame that changed after the frame was drawn."""
    if not manifest.exists() or not file.exists():
        return
    data = parse_json(read_text(manifest), manifest.name)
    hashes = data.get("files") if isinstance(data, dict) else None
    if not isinstance(hashes, dict) or data.get("format") != FORMAT:
        raise MemAuditError(f"{manifest}: is no manifest of a frame")
    if data.get("version") != VERSION:
        raise MemAuditError(f"{manifest}: has a version this program does not read")
    expected = hashes.get(file.name)
    if expected is not None and expected != sha256(read_bytes(file)):
        raise MemAuditError(
            f"{file}: changed after the frame was drawn; restore it, or draw the frame again"
        )


def drawn_from(manifest: Path) -> DrawnFrom | None:
    """What a frame was drawn from; None where there is no manifest that tells."""
    if not manifest.exists():
        return None
    data = parse_json(read_text(manifest), manifest.name)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        return None  # beside a lone file of cells, somebody else's
    packages = data.get("packages")
    if not isinstance(packages, list):
        return None
    names = (one.get("name") for one in packages if isinstance(one, dict))
    return DrawnFrom(frozenset(map(str, names)), data.get("judged_only") is True)


CELLS, CELL_LINES, PUBLISHED = "cells.csv", "cells.jsonl", "annotation_cells.csv"
KEY, PASSES, MANIFEST = "key.csv", "passes.csv", "frame.json"
TASKS, TASKS_CONFIG = "label_studio.json", "label_studio.xml"
LABEL_COLUMNS = ("cell_id", "annotator_id", "label", "notes")


@contextmanager
def _one_line() -> Iterator[None]:
    """Files that cannot be read at all are told of as packages are; these are none."""
    try:
        yield
    except InvalidPackage as error:
        raise MemAuditError(str(error)) from None


@_one_line()
def read_frame(path: Path, ids_only: bool = False) -> Frame:
    """The frame of a folder, or of a file of cells with the key beside it where there is one.

    A folder's files must be as they were written; its key may be missing, as it should be where
    people label. With `ids_only`, which is enough to compare labels, cells need nothing but ids.
    """
    file = path
    if os.path.isdir(path):  # never raises, unlike Path.is_dir
        names = [name for name in (CELLS, CELL_LINES, PUBLISHED) if (path / name).exists()]
        if not names:
            raise MemAuditError(f"{path}: is no frame: it holds no {CELLS}")
        file = path / names[0]
        for name in (file.name, KEY):
            check_hash(path / MANIFEST, path / name)
    rows = task_rows(file) if file.suffix.lower() == ".json" else table_rows(file)
    cells = cells_from(rows, ids_only)
    key = file.with_name(KEY)
    keyed = key_from(table_rows(key) if os.path.lexists(key) else rows, cells)
    return Frame(cells, keyed, drawn_from(file.with_name(MANIFEST)))


def write_frame(
    frame: Frame, folder: Path, drawing: Drawing | None = None, passes: Sequence[LabelSet] = ()
) -> bool:
    """Write a frame's folder in one step; False where the very same frame is there already.

    Another frame is never overwritten: labels made for it would mean nothing. Labels that the
    packages' own passes gave go into one file beside the key.
    """
    files = {
        CELLS: cells_csv(frame.cells),
        CELL_LINES: "".join(
            json.dumps(cell_data(cell), ensure_ascii=False) + "\n" for cell in frame.cells
        ),
        TASKS: tasks_text(frame.cells),
        TASKS_CONFIG: CONFIG,
    }
    if frame.key:
        files[KEY] = key_csv(frame.cells, frame.key)
    if passes:
        files[PASSES] = csv_text(LABEL_COLUMNS, [row for one in passes for row in _rows(one)])
    files = {name: writable(text) for name, text in files.items()}
    files[MANIFEST] = manifest_text(files, len(frame.cells), drawing)
    if _is_there(folder, files):
        return False
    write_folder(folder, files, ())
    return True


def _is_there(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds these very files; anything else in its place is refused."""
    if not folder.exists():
        return False
    if not folder.is_dir():
        raise MemAuditError(f"cannot write {folder}: it is a file, a folder was expected")
    there = names_in(folder)
    if set(files) <= set(there) and all(
        read_bytes(folder / name) == text.encode() for name, text in files.items()
    ):
        return True
    if MANIFEST in there or CELLS in there:
        raise MemAuditError(f"{folder}: holds another frame; choose a new folder")
    if there:
        raise MemAuditError(f"{folder}: holds {there[0]!r} and no frame; choose a new folder")
    return False


@_one_line()
def read_label_sets(path: Path, frame: Frame | None = None) -> list[LabelSet]:
    """The labels of a CSV or JSONL file or a Label Studio export, one set an annotator.

    With a frame given, a label of a cell that it lacks is an error.
    """
    is_export = path.suffix.lower() == ".json"
    decisions = export_decisions(path) if is_export else _decisions(path)
    known = None if frame is None else {cell.id for cell in frame.cells}
    found = gathered(decisions, known)
    if not found:
        raise MemAuditError(f"{path.name}: holds no labels")
    return found


def _decisions(path: Path) -> Iterator[Said]:
    for row in table_rows(path):
        id, annotator = required(row, CELL_ID), optional(row, ANNOTATOR) or path.stem
        if LABEL[0] not in row.data:
            required(row, LABEL)
        try:
            label = label_of(row.data[LABEL[0]])
        except ValueError as error:
            raise row.wrong(f"{error} for the cell {id!r}") from None
        place = f"{row.file}:{row.line}"
        yield Said(annotator, id, label, optional(row, NOTES) or "", place)


def _rows(label_set: LabelSet) -> list[tuple[str, ...]]:
    return [
        (id, label_set.annotator, label_set.labels[id], label_set.notes.get(id, ""))
        for id in sorted(label_set.labels)
    ]


def write_labels(label_set: LabelSet, path: Path) -> None:
    """Write one annotator's labels in the order of cell ids, as CSV or JSONL by the file's name."""
    rows = _rows(label_set)
    kind = path.suffix.lower()
    if kind == ".jsonl":
        data = (dict(zip(LABEL_COLUMNS, row, strict=True)) for row in rows)
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in data)
    elif kind == ".csv":
        text = csv_text(LABEL_COLUMNS, rows)
    else:
        raise MemAuditError(f"{path}: labels are written to a .csv or .jsonl file")
    write_file(path, writable(text))
